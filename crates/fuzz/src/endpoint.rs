//! An endpoint whose peer sends anything at any time.

use std::sync::Arc;

use ecnlab_base::{Dur, Time};
use ecnlab_scenario::parse_scenario;
use ecnlab_tcp::config::EcnResponse;
use ecnlab_tcp::{Config, Endpoint};
use ecnlab_wire::{
    AccEcn as AccEcnOption, Ecn, Flags, IpVersion, Quench, QuenchCause, SackBlock, SackBlocks, Segment, Seq, Timestamps,
};

use crate::bytes::Bytes;

const AROUND: &str = "format = 1\nduration = \"10 s\"\n\
    [link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = \"q\"\n\
    [queue.q]\ndiscipline = \"droptail\"\nlimit = \"10 packets\"\n\
    [flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n[tcp.default]\n";
const ISS: Seq = Seq(u32::MAX - 2_000);
const IRS: Seq = Seq(u32::MAX - 900);
/// Segments in all past which an input shows nothing new.
const MAX_SEGMENTS: usize = 200_000;

/// The TCP of these settings, if they can be.
pub fn config(settings: &str) -> Option<Arc<Config>> {
    let scenario = parse_scenario("x.toml", &format!("{AROUND}{settings}")).ok()?;
    scenario.plan(1).flows.first().map(|flow| Arc::clone(&flow.tcp_from))
}

/// Streams do not run backwards, nothing is acknowledged that was not written, and the window never closes for good.
pub fn endpoint(input: &[u8]) {
    let Some((settings, mut bytes)) = Bytes::behind_settings(input) else { return };
    let Some(config) = config(settings) else { return };
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    let is_active = bytes.u8() & 1 == 1;
    let mut end = if is_active {
        Endpoint::connect(&config, IpVersion::V4, ISS, now, &mut out)
    } else {
        Endpoint::listen(&config, IpVersion::V4, ISS)
    };
    let (mut written, mut sent) = (0, 0);
    while !bytes.is_empty() && sent < MAX_SEGMENTS {
        let (received, acked) = (end.received(), end.acked());
        act(&mut end, is_active, &mut bytes, &mut now, &mut written, &mut out);
        assert!(end.received() >= received && end.acked() >= acked, "a stream runs backwards");
        assert!(end.acked() <= written, "acknowledged before it was written");
        let sample = end.sample();
        // With ns-2's answer a window may be none; the timer opens it (crates/tcp/tests/garbage.rs).
        assert!(sample.cwnd > 0 || config.ecn_response == EcnResponse::Ns2, "{sample:?}");
        assert!(sample.flight <= written + 2, "{sample:?}");
        sent += out.len();
        out.clear();
    }
}

fn act(
    end: &mut Endpoint,
    is_active: bool,
    bytes: &mut Bytes<'_>,
    now: &mut Time,
    written: &mut u64,
    out: &mut Vec<Segment>,
) {
    let what = bytes.u8();
    if what & 0x80 != 0 {
        *now += bytes.pause();
    } else {
        *now += Dur::from_ms(1);
    }
    match what & 15 {
        0 => {
            *now = if end.deadline() == Time::NEVER { *now } else { (*now).max(end.deadline()) };
            end.on_deadline(*now, out);
        }
        1 => {
            let more = u64::from(bytes.u16());
            *written += more;
            end.write(more, *now, out);
        }
        2 => end.close(*now, out),
        3 if bytes.u8() == 0xff => end.abort(out),
        4 => handshake(is_active).iter().for_each(|segment| end.on_segment(segment, *now, out)),
        5 => {
            let cause = if bytes.u8() & 1 == 1 { QuenchCause::Marked } else { QuenchCause::Dropped };
            end.on_quench(&Quench::new(cause, near(ISS, bytes), 56), *now);
        }
        6..=9 => end.on_segment(&ack(end, bytes), *now, out),
        _ => end.on_segment(&segment(bytes), *now, out),
    }
}

/// What opens the connection, from a peer that agrees to everything.
fn handshake(is_active: bool) -> [Segment; 2] {
    let flags = if is_active { Flags::SYN | Flags::ACK | Flags::ECE } else { Flags::SYN | Flags::ECE | Flags::CWR };
    let syn = Segment {
        seq: IRS,
        ack: ISS + 1,
        flags,
        window: 60_000,
        mss: Some(1_000),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Segment::default()
    };
    let mss = None;
    [syn, Segment { seq: IRS + 1, flags: Flags::ACK, mss, window_scale: None, sack_permitted: false, ..syn }]
}

/// A plausible ACK: of some of what was sent, with blocks above it.
fn ack(end: &Endpoint, bytes: &mut Bytes<'_>) -> Segment {
    let above = |bytes: &mut Bytes<'_>| ISS + 1 + end.acked() as u32 + u32::from(bytes.u8()) * 500;
    let shape = bytes.u8();
    let mut sack = SackBlocks::NONE;
    let number = above(bytes);
    for _ in 0..shape & 3 {
        let start = above(bytes);
        sack.push(SackBlock { start, end: start + 1 + u32::from(bytes.u8()) * 100 });
    }
    let flags = if shape & 4 == 0 { Flags::ACK } else { Flags::ACK | Flags::ECE };
    let ecn = if shape & 8 == 0 { Ecn::NotEct } else { Ecn::Ce };
    let len = if shape & 16 == 0 { 0 } else { 1_000 };
    let stamps = Timestamps { value: u32::from(shape), echo: u32::from(shape >> 5) };
    Segment {
        seq: IRS + 1 + end.received() as u32,
        ack: number,
        len,
        wire_len: len + 40,
        window: if shape & 32 == 0 { 60_000 } else { bytes.u16() },
        flags,
        ecn,
        timestamps: (shape & 64 == 0).then_some(stamps),
        sack,
        ..Segment::default()
    }
}

fn near(base: Seq, bytes: &mut Bytes<'_>) -> Seq {
    match bytes.u8() {
        0..=199 => base + u32::from(bytes.u16()) % 6_000,
        200..=249 => Seq(base.0.wrapping_sub(u32::from(bytes.u16()))),
        _ => Seq(bytes.u32()),
    }
}

/// Any segment at all.
fn segment(bytes: &mut Bytes<'_>) -> Segment {
    let shape = bytes.u8();
    let mut sack = SackBlocks::NONE;
    let (seq, ack) = (near(IRS, bytes), near(ISS, bytes));
    for _ in 0..shape & 3 {
        sack.push(SackBlock { start: near(ISS, bytes), end: near(ISS, bytes) });
    }
    let len = if shape & 4 == 0 { 0 } else { u32::from(bytes.u16()) };
    let mut option = |bit: u8| (shape & bit != 0).then(|| bytes.u16());
    let (mss, scale) = (option(8), option(16));
    Segment {
        seq,
        ack,
        len,
        wire_len: len + 40,
        window: bytes.u16(),
        flags: Flags::from_bits_truncate(if shape & 64 == 0 { 0x10 } else { bytes.u16() & 0x1ff }),
        ecn: Ecn::from_bits(shape >> 5 & 3),
        mss,
        window_scale: scale.map(|scale| scale as u8),
        sack_permitted: shape & 8 != 0,
        timestamps: (shape & 32 != 0).then(|| Timestamps { value: bytes.u32(), echo: bytes.u32() }),
        sack,
        acc_ecn: acc_ecn(bytes),
    }
}

/// No AccECN option, or one with up to three counters.
fn acc_ecn(bytes: &mut Bytes<'_>) -> Option<AccEcnOption> {
    let shape = bytes.u8();
    let counters = [bytes.u32(), bytes.u32(), bytes.u32()];
    (shape & 4 != 0).then(|| AccEcnOption::new(shape & 8 != 0, &counters[..usize::from(shape & 3)]))
}
