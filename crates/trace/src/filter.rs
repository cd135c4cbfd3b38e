//! Filter expressions for segments: `host 10.0.0.1 and not port 22`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::TraceError;
use crate::packet::Segment;

/// A condition on a segment's endpoints or interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// One end has this address.
    Host(IpAddr),
    /// One end is in this network: address and prefix length in bits.
    Net(IpAddr, u8),
    /// One end has this port.
    Port(u16),
    /// It was captured on the interface with this number in the file, or with this index in its cooked header.
    Interface(u32),
    /// Both conditions hold.
    And(Box<Filter>, Box<Filter>),
    /// At least one condition holds.
    Or(Box<Filter>, Box<Filter>),
    /// The condition does not hold.
    Not(Box<Filter>),
}

/// Maximum nesting depth of conditions.
const DEPTH: u32 = 64;

const HELP: &str = "write `host ADDRESS`, `net ADDRESS/BITS`, `port NUMBER` or `interface NUMBER`, \
                    joined by `and`, `or`, `not` and parentheses";

impl Filter {
    /// Parses a filter expression.
    ///
    /// # Errors
    /// If the expression is invalid; the message gives the place and the valid syntax.
    pub fn parse(text: &str) -> Result<Filter, TraceError> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        if words.is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let mut parser = Parser { words: &words, at: 0 };
        let filter = parser.either(0)?;
        match parser.next() {
            None => Ok(filter),
            Some(word) => Err(wrong(format!("`{word}` is not expected here"))),
        }
    }

    /// Returns whether the filter accepts a segment.
    pub fn wants(&self, segment: &Segment<'_>) -> bool {
        let ends = || segment.key.endpoints();
        match self {
            Filter::Host(address) => ends().iter().any(|end| end.0 == *address),
            Filter::Net(address, bits) => ends().iter().any(|end| is_in(end.0, *address, *bits)),
            Filter::Port(port) => ends().iter().any(|end| end.1 == *port),
            Filter::Interface(number) => segment.interface == *number || segment.device == *number,
            Filter::And(a, b) => a.wants(segment) && b.wants(segment),
            Filter::Or(a, b) => a.wants(segment) || b.wants(segment),
            Filter::Not(a) => !a.wants(segment),
        }
    }
}

impl Filter {
    /// Returns an error if the filter names an interface that is neither one of the first `count` of the file nor one of
    /// `devices`, the indices in cooked headers.
    ///
    /// # Errors
    /// The interface that is missing, and those of the capture.
    pub fn check_interfaces(&self, count: usize, devices: &[u32]) -> Result<(), TraceError> {
        match self {
            Filter::And(a, b) | Filter::Or(a, b) => {
                a.check_interfaces(count, devices).and_then(|()| b.check_interfaces(count, devices))
            }
            Filter::Not(a) => a.check_interfaces(count, devices),
            Filter::Interface(number) if *number as usize >= count && !devices.contains(number) => {
                let known: Vec<String> =
                    (0..count as u32).chain(devices.iter().copied()).map(|n| n.to_string()).collect();
                let known = if known.is_empty() { "no interface".to_owned() } else { known.join(", ") };
                Err(TraceError::Filter(format!("`interface {number}` is not in the capture, which has {known}")))
            }
            _ => Ok(()),
        }
    }
}

fn wrong(what: String) -> TraceError {
    TraceError::Filter(format!("{what}; {HELP}"))
}

/// Parses a network. Bits of the address behind the prefix must be zero, except with a prefix of no bits: `net
/// 192.0.2.0/0` is all of IPv4.
fn network(text: &str) -> Result<Filter, TraceError> {
    let none = || wrong(format!("`net {text}` is not a network"));
    let (address, bits) = text.split_once('/').ok_or_else(none)?;
    let address: IpAddr = address.parse().map_err(|_| none())?;
    let (version, width) = if address.is_ipv4() { (4, 32) } else { (6, 128) };
    let Some(bits) = bits.parse::<u8>().ok().filter(|&bits| bits <= width) else {
        return Err(wrong(format!("`net {text}`: a prefix of IPv{version} has 0 to {width} bits")));
    };
    let network = masked(address, bits);
    if bits > 0 && network != address {
        return Err(wrong(format!("`net {text}` has bits behind its prefix; the network is `{network}/{bits}`")));
    }
    Ok(Filter::Net(address, bits))
}

/// Returns the address with all bits behind the first `bits` zero.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(a) => Ipv4Addr::from_bits(a.to_bits() & u32::MAX.checked_shl(32 - bits).unwrap_or(0)).into(),
        IpAddr::V6(a) => Ipv6Addr::from_bits(a.to_bits() & u128::MAX.checked_shl(128 - bits).unwrap_or(0)).into(),
    }
}

fn is_in(address: IpAddr, net: IpAddr, bits: u8) -> bool {
    let (a, b, width) = match (address, net) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(u32::from(a)), u128::from(u32::from(b)), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a), u128::from(b), 128),
        _ => return false,
    };
    (a ^ b).checked_shr(width - u32::from(bits).min(width)).unwrap_or(0) == 0
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn follows(&mut self, word: &str) -> bool {
        let follows = self.words.get(self.at).is_some_and(|next| *next == word);
        self.at += usize::from(follows);
        follows
    }

    fn either(&mut self, depth: u32) -> Result<Filter, TraceError> {
        let mut left = self.both(depth)?;
        while self.follows("or") {
            left = Filter::Or(Box::new(left), Box::new(self.both(depth)?));
        }
        Ok(left)
    }

    fn both(&mut self, depth: u32) -> Result<Filter, TraceError> {
        let mut left = self.one(depth)?;
        while self.follows("and") {
            left = Filter::And(Box::new(left), Box::new(self.one(depth)?));
        }
        Ok(left)
    }

    fn one(&mut self, depth: u32) -> Result<Filter, TraceError> {
        if depth > DEPTH {
            return Err(wrong("it is nested too deeply".into()));
        }
        let Some(word) = self.next() else { return Err(wrong("something is missing at its end".into())) };
        match word {
            "not" => Ok(Filter::Not(Box::new(self.one(depth + 1)?))),
            "(" => {
                let inner = self.either(depth + 1)?;
                if self.follows(")") { Ok(inner) } else { Err(wrong("a `)` is missing".into())) }
            }
            "host" => self.value(word, "an address", Filter::Host),
            "port" => self.value(word, "a port from 0 to 65535", Filter::Port),
            "interface" => self.value(word, "the number of an interface", Filter::Interface),
            "net" => network(self.next().unwrap_or_default()),
            word => Err(wrong(format!("`{word}` is not a condition"))),
        }
    }

    fn value<T: std::str::FromStr>(
        &mut self,
        word: &str,
        what: &str,
        make: impl FnOnce(T) -> Filter,
    ) -> Result<Filter, TraceError> {
        let text = self.next().unwrap_or_default();
        text.parse().map(make).map_err(|_| wrong(format!("`{word}` needs {what}, and `{text}` is none")))
    }
}
