//! Captures of a router's links: the hosts' own packets, with the times of the links.
//!
//! Capture points are as in the simulator (`engine::capture`, docs/captures.md), but the bytes are those of the real
//! packets.

use std::collections::HashMap;
use std::io::{self, Write};

use ecnlab_aqm::DropReason;
use ecnlab_base::Time;
use ecnlab_engine::capture::{Capture, EPOCH_NS, Fate, Settings};
use ecnlab_wire::Ecn;
use ecnlab_wire::pcap::{Direction, Format, Packet, Writer};

use crate::packet;

/// Number of packets collected before they are sorted and written.
const ROOM: usize = 1 << 13;

/// Output of a capture.
pub type Out = Box<dyn Write + Send>;

/// The captures of a run and their collected packets.
#[derive(Debug)]
pub struct Taps<W: Write> {
    links: Vec<OfLink>,
    files: Vec<(Settings, Writer<W>)>,
    seen: Vec<Seen>,
    /// Numbers of packets with an undecided fate, by link and slot of the bytes.
    waiting: HashMap<(u32, u32), u64>,
    fates: HashMap<u64, Fate>,
    arrivals: u64,
}

/// (file, interface) of the captures at a link.
#[derive(Clone, Debug, Default)]
struct OfLink {
    arriving: Vec<(u32, u32)>,
    leaving: Vec<(u32, u32)>,
    delivered: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Seen {
    time: Time,
    place: (u32, u32),
    direction: Direction,
    bytes: Vec<u8>,
    original_len: u32,
    /// The fate, or the number of the arrival that determines it.
    fate: Result<Fate, u64>,
}

impl<W: Write> Taps<W> {
    /// Starts the files of captures on `links` links.
    ///
    /// # Errors
    /// Errors of the writers.
    pub fn new(captures: Vec<(Capture, Settings, W)>, links: usize) -> io::Result<Taps<W>> {
        let mut taps = Taps {
            links: vec![OfLink::default(); links],
            files: Vec::new(),
            seen: Vec::new(),
            waiting: HashMap::new(),
            fates: HashMap::new(),
            arrivals: 0,
        };
        for (file, (capture, settings, out)) in captures.into_iter().enumerate() {
            let names: Vec<String> = capture.interfaces.iter().map(|interface| interface.name.clone()).collect();
            taps.files.push((settings, Writer::new(out, settings.format, &names, settings.snap)?));
            for (i, interface) in capture.interfaces.iter().enumerate() {
                let place = (file as u32, i as u32);
                if let Some(link) = interface.out.and_then(|link| taps.links.get_mut(link)) {
                    if capture.before_queue { link.arriving.push(place) } else { link.leaving.push(place) }
                }
                if let Some(link) = interface.into.and_then(|link| taps.links.get_mut(link)) {
                    link.delivered.push(place);
                }
            }
        }
        Ok(taps)
    }

    /// Records a packet that arrives at the queue of `link`; its bytes are in slot `cargo`.
    pub fn arrives(&mut self, link: u32, cargo: u32, bytes: &[u8], at: Time) {
        let taps = &self.links[link as usize];
        if taps.arriving.is_empty() {
            return;
        }
        let number = self.arrivals;
        self.arrivals += 1;
        self.waiting.insert((link, cargo), number);
        for place in taps.arriving.clone() {
            self.note(place, Direction::Outbound, bytes, at, Err(number));
        }
    }

    /// Records a packet that leaves the queue of `link` with the codepoint `ecn`.
    pub fn leaves(&mut self, link: u32, cargo: u32, bytes: &[u8], ecn: Ecn, at: Time) {
        let marked = ecn == Ecn::Ce && bytes.get(1).is_some_and(|&tos| Ecn::from_bits(tos) != Ecn::Ce);
        let fate = if marked { Fate::Marked } else { Fate::Passed };
        self.decide(link, cargo, fate);
        for place in self.links[link as usize].leaving.clone() {
            self.note(place, Direction::Outbound, bytes, at, Ok(fate));
        }
    }

    /// Records a packet dropped by the queue of `link`.
    pub fn drops(&mut self, link: u32, cargo: u32, why: DropReason) {
        self.decide(link, cargo, Fate::Dropped(why));
    }

    /// Records a packet that has reached the far end of `link`.
    pub fn delivers(&mut self, link: u32, bytes: &[u8], at: Time) {
        for place in self.links[link as usize].delivered.clone() {
            self.note(place, Direction::Inbound, bytes, at, Ok(Fate::Passed));
        }
    }

    /// Returns whether all links should be advanced and the packets [written](Taps::flush).
    pub fn is_full(&self) -> bool {
        self.seen.len() >= ROOM + 2 * self.waiting.len()
    }

    /// Writes the collected packets up to the oldest one still in a queue, or all at the end; all links must be up to
    /// date.
    ///
    /// # Errors
    /// Errors of the writers.
    pub fn flush(&mut self, last: bool) -> io::Result<()> {
        for seen in &mut self.seen {
            if let Err(number) = seen.fate
                && let Some(&fate) = self.fates.get(&number)
            {
                seen.fate = Ok(fate);
            }
        }
        self.fates.clear();
        // Links interleave out of order; each is in order, and a stable sort preserves this.
        self.seen.sort_by_key(|seen| seen.time);
        let undecided = self.seen.iter().position(|seen| seen.fate.is_err());
        let ready = undecided.filter(|_| !last).unwrap_or(self.seen.len());
        for seen in self.seen.drain(..ready) {
            let (settings, file) = &mut self.files[seen.place.0 as usize];
            write(*settings, file, seen)?;
        }
        Ok(())
    }

    /// Writes the remaining packets and flushes the files.
    ///
    /// # Errors
    /// Errors of the writers.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush(true)?;
        self.files.into_iter().try_for_each(|(_, file)| file.finish().map(drop))
    }

    fn decide(&mut self, link: u32, cargo: u32, fate: Fate) {
        if let Some(number) = self.waiting.remove(&(link, cargo)) {
            self.fates.insert(number, fate);
        }
    }

    fn note(&mut self, place: (u32, u32), direction: Direction, bytes: &[u8], time: Time, fate: Result<Fate, u64>) {
        let snap = self.files[place.0 as usize].0.snap as usize;
        let original_len = bytes.len() as u32;
        let bytes = bytes[..bytes.len().min(snap)].to_vec();
        self.seen.push(Seen { time, place, direction, bytes, original_len, fate });
    }
}

fn write<W: Write>(settings: Settings, file: &mut Writer<W>, mut seen: Seen) -> io::Result<()> {
    let fate = seen.fate.unwrap_or(Fate::Passed);
    if settings.format == Format::Pcap && matches!(fate, Fate::Dropped(_)) {
        return Ok(()); // without a comment it would pass for a packet that went out
    }
    if fate == Fate::Marked {
        packet::mark(&mut seen.bytes);
    }
    file.packet(&Packet {
        interface: seen.place.1,
        time_ns: EPOCH_NS + seen.time.ns(),
        bytes: &seen.bytes,
        original_len: seen.original_len,
        direction: seen.direction,
        comment: fate.comment(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use ecnlab_base::Dur;
    use ecnlab_engine::capture::Interface;

    use super::*;

    /// A file that can be read when it is closed.
    #[derive(Clone, Debug, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// An IPv4 header with this codepoint and the identification `id`.
    fn ip(ecn: Ecn, id: u8) -> Vec<u8> {
        let mut bytes = vec![0x45, ecn.bits(), 0, 20, 0, id, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let sum = ecnlab_wire::Checksum::new().bytes(&bytes).value().to_be_bytes();
        bytes[10..12].copy_from_slice(&sum);
        bytes
    }

    /// (id, codepoint, comment "dropped", milliseconds) of every packet in the file.
    fn read(file: &Shared) -> Vec<(u8, u8, bool, u64)> {
        let bytes = file.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let input = ecnlab_trace::Input::new(Box::new(io::Cursor::new(bytes))).unwrap();
        let mut reader = ecnlab_trace::Reader::new(input).unwrap();
        let mut found = Vec::new();
        while let Some(record) = reader.read().unwrap() {
            found.push((record.bytes[5], record.bytes[1] & 3, record.dropped, (record.time_ns - EPOCH_NS) / 1_000_000));
        }
        found
    }

    #[test]
    fn packets_before_a_queue_wait_for_their_fate_and_keep_their_order() {
        let interfaces = vec![Interface { name: "a:link".into(), out: Some(0), into: Some(1) }];
        let capture = Capture { name: "c".into(), interfaces, before_queue: true };
        let settings = Settings { format: Format::Pcapng, snap: 128 };
        let file = Shared::default();
        let mut taps = Taps::new(vec![(capture, settings, file.clone())], 2).unwrap();
        taps.arrives(0, 7, &ip(Ecn::Ect0, 1), at(1));
        taps.arrives(0, 8, &ip(Ecn::NotEct, 2), at(2));
        taps.drops(0, 8, DropReason::Early);
        taps.arrives(0, 9, &ip(Ecn::Ect0, 3), at(4));
        taps.delivers(1, &ip(Ecn::Ce, 4), at(3));
        taps.flush(false).unwrap();
        assert_eq!(read(&file), [], "the first packet's fate is not known");
        taps.leaves(0, 7, &ip(Ecn::Ect0, 1), Ecn::Ce, at(5));
        taps.finish().unwrap();
        let expected = [(1, 3, false, 1), (2, 0, true, 2), (4, 3, false, 3), (3, 2, false, 4)];
        assert_eq!(read(&file), expected);
    }
}
