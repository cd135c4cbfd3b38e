//! FTP in the sense of the simulation literature: one connection that always has data to send, or one file.

use ecnlab_base::{Bytes, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checked, Demand, Done, ENDLESS, Exchange, Side, Source, UnderWay};

/// A bulk transfer from `from` to `to`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Size of the file. Default: the transfer never ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

impl Checked for Params {}

/// One bulk transfer, started at the first poll.
#[derive(Clone, Debug)]
pub struct Ftp {
    size: u64,
    begun: bool,
}

impl Ftp {
    /// Creates the source from `params`.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Ftp {
        Ftp { size: params.size.map_or(ENDLESS, |b| b.0), begun: false }
    }
}

impl Source for Ftp {
    fn poll(&mut self, _now: Time, _rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if !self.begun {
            self.begun = true;
            let (opener, ends, done) = (Side::From, [0, 0], Done::Arrived);
            out.push(Demand::Exchange(Exchange { key: 0, opener, ends, request: self.size, response: 0, done }));
        }
        None
    }

    fn stop(&mut self) -> UnderWay {
        self.begun = true;
        UnderWay::Cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_sent_once() {
        let mut ftp = Ftp::new(&Params { size: Some(Bytes(20_000_000)) }, [1, 1]);
        let (mut out, mut rng) = (Vec::new(), Rng::named(1, "ftp"));
        assert_eq!(ftp.poll(Time::ZERO, &mut rng, &mut out), None);
        ftp.poll(Time::ZERO, &mut rng, &mut out);
        let (opener, ends, done) = (Side::From, [0, 0], Done::Arrived);
        assert_eq!(out, [Demand::Exchange(Exchange { key: 0, opener, ends, request: 20_000_000, response: 0, done })]);
    }
}
