//! Tunnels: finds the IP packet inside another IP packet.

use ecnlab_wire::{Extension, IpPacket, UdpHeader, protocol};

use crate::error::TraceError;
use crate::link::{Frame, ether_type, payload, u16_at};

/// IP protocols of tunnels (IANA).
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;

/// A tunnel over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// RFC 7348.
    Vxlan,
    /// RFC 8926.
    Geneve,
}

/// The tunnels over UDP that are opened: a port does not prove that a datagram is of a tunnel, so the user names them.
/// Tunnels with a protocol number of their own (IP in IP, GRE) are always opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdpTunnels(Vec<(u16, Kind)>);

impl UdpTunnels {
    /// Ports by which tunnels are recognised: the two of VXLAN (RFC 7348, and Linux's default) and that of Geneve.
    pub(crate) const PORTS: [u16; 3] = [4789, 8472, 6081];

    /// Parses a list such as `vxlan,geneve` or `vxlan:8472`, where the number is the destination port.
    ///
    /// # Errors
    /// If an entry is neither `vxlan` nor `geneve`, or its port is not from 1 to 65535.
    pub fn parse(text: &str) -> Result<UdpTunnels, TraceError> {
        text.split(',').map(|entry| one(entry.trim())).collect::<Result<_, _>>().map(UdpTunnels)
    }

    fn of_port(&self, port: u16) -> Option<Kind> {
        self.0.iter().find(|(known, _)| *known == port).map(|(_, kind)| *kind)
    }
}

fn one(entry: &str) -> Result<(u16, Kind), TraceError> {
    let (name, port) = entry.split_once(':').map_or((entry, None), |(name, port)| (name, Some(port)));
    let (kind, usual) = match name {
        "vxlan" => (Kind::Vxlan, 4789),
        "geneve" => (Kind::Geneve, 6081),
        _ => return Err(wrong(format!("`{entry}` is no tunnel over UDP"))),
    };
    let port = port.map_or(Some(usual), |port| port.parse().ok().filter(|&port| port > 0));
    port.map(|port| (port, kind)).ok_or_else(|| wrong(format!("`{entry}` has no port from 1 to 65535")))
}

fn wrong(what: String) -> TraceError {
    TraceError::Decapsulate(format!(
        "{what}; write `vxlan`, `geneve`, or both with a comma, each with `:PORT` if need be"
    ))
}

/// Returns the contents of a packet of a tunnel, the last bytes of its payload; `None` if it is not of a tunnel.
pub(crate) fn inside<'a>(ip: &IpPacket<'a>, udp: &UdpTunnels) -> Option<Frame<'a>> {
    match ip.protocol {
        IPV4 | IPV6 => Some(Frame::Ip(ip.payload)),
        GRE => gre(ip.payload),
        protocol::UDP if !udp.0.is_empty() => {
            let (header, data) = UdpHeader::parse(ip.payload).ok()?;
            udp.of_port(header.destination).map(|kind| match kind {
                Kind::Vxlan => vxlan(data),
                Kind::Geneve => geneve(data),
            })
        }
        _ => None,
    }
}

/// Returns the packet behind the authentication header of IPv4 (RFC 4302); in IPv6 it is an extension header.
pub(crate) fn behind_authentication<'a>(ip: &IpPacket<'a>) -> Option<IpPacket<'a>> {
    if ip.protocol != AUTHENTICATION {
        return None;
    }
    let (header, payload) = Extension::parse(AUTHENTICATION, ip.payload).ok()??;
    let payload_len = ip.payload_len.checked_sub((ip.payload.len() - payload.len()) as u32)?;
    Some(IpPacket { protocol: header.next_header(), payload_len, payload, ..*ip })
}

/// GRE (RFC 2784) with key and sequence number (RFC 2890); `None` for other versions.
fn gre(bytes: &[u8]) -> Option<Frame<'_>> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    let (Some(flags), Some(kind)) = (u16_at(bytes, 0), u16_at(bytes, 2)) else { return Some(Frame::Cut) };
    if flags & (7 | ROUTING) != 0 {
        return None;
    }
    /// ERSPAN (draft-foschiano-erspan §4): mirrored Ethernet frames. Type I has no sequence number and no header.
    const ERSPAN: u16 = 0x88be;
    const ERSPAN_III: u16 = 0x22eb;
    let fields = [CHECKSUM, KEY, SEQUENCE].iter().filter(|&&flag| flags & flag != 0).count();
    let Some(rest) = bytes.get(4 + 4 * fields..) else { return Some(Frame::Cut) };
    let head = match kind {
        ERSPAN if flags & SEQUENCE == 0 => 0,
        ERSPAN => 8,
        // The last bit of the header stands for a platform header.
        ERSPAN_III => 12 + 8 * usize::from(rest.get(11).is_some_and(|byte| byte & 1 == 1)),
        _ => return Some(payload(kind, rest)),
    };
    Some(rest.get(head..).map_or(Frame::Cut, |frame| payload(ether_type::ETHERNET, frame)))
}

fn vxlan(bytes: &[u8]) -> Frame<'_> {
    match bytes.get(8..) {
        // RFC 7348: a header with another first byte has no valid network identifier.
        Some(rest) if bytes[0] & 8 != 0 => payload(ether_type::ETHERNET, rest),
        Some(_) => Frame::Other(0),
        None => Frame::Cut,
    }
}

fn geneve(bytes: &[u8]) -> Frame<'_> {
    let (Some(&first), Some(kind)) = (bytes.first(), u16_at(bytes, 2)) else { return Frame::Cut };
    // RFC 8926: version, and the length of the options in words of 32 bits.
    if first >> 6 != 0 {
        return Frame::Other(0);
    }
    let rest = bytes.get(8 + 4 * usize::from(first & 0x3f)..);
    rest.map_or(Frame::Cut, |rest| payload(kind, rest))
}
