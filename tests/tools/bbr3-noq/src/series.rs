//! States over time, and readings of them.

/// Interval of points in seconds.
pub const EVERY_S: f64 = 0.005;

/// Readings of the steady state begin here.
pub const WARMUP_S: f64 = 5.0;

/// Names and values.
pub type Readings = Vec<(&'static str, f64)>;

/// State at a time.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Seconds since the start.
    pub time: f64,
    /// As `bbr_state`: 1 Startup, 2 Drain, 3 DOWN, 4 CRUISE, 5 REFILL, 6 UP, 7 ProbeRTT.
    pub phase: usize,
    /// BBR.max_bw in bit/s.
    pub max_bw: f64,
    /// BBR.min_rtt in seconds.
    pub min_rtt: f64,
    /// BBR.inflight_longterm is not infinite.
    pub bounded: bool,
    /// The window in bytes.
    pub window: f64,
}

/// The points of each state in turn, without the last, which is cut off.
fn stays(points: &[Point]) -> Vec<&[Point]> {
    let mut stays: Vec<&[Point]> = points.chunk_by(|a, b| a.phase == b.phase).collect();
    stays.pop();
    stays
}

/// The mean; NaN of none.
fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Mean time between starts of a state.
fn interval(stays: &[&[Point]], phase: usize) -> f64 {
    let starts: Vec<f64> = stays.iter().filter(|stay| stay[0].phase == phase).map(|stay| stay[0].time).collect();
    mean(starts.windows(2).map(|pair| pair[1] - pair[0]))
}

/// Seconds that Startup takes.
pub fn startup(points: &[Point]) -> f64 {
    points.iter().find(|point| point.phase != 1).map_or(f64::NAN, |point| point.time)
}

/// Seconds from `since` until `holds`.
pub fn until(points: &[Point], since: f64, holds: impl Fn(&Point) -> bool) -> f64 {
    points.iter().find(|point| point.time >= since && holds(point)).map_or(f64::NAN, |point| point.time - since)
}

/// Names and values of a run's readings. `rate` is the greatest rate of the path in the units of max_bw, and `packet` a full packet in
/// those of the window.
pub fn readings(points: &[Point], rate: f64, packet: f64) -> Readings {
    let stays = stays(points);
    let of = |phase| stays.iter().filter(move |stay| stay[0].phase == phase);
    // A state ends with the first point of the next.
    let duration = |phase| mean(of(phase).map(|stay| stay[stay.len() - 1].time + EVERY_S - stay[0].time));
    let late = || points.iter().filter(|point| point.time >= WARMUP_S);
    let kept = |stay: &&[Point]| stay[stay.len() - 1].max_bw / stay[0].max_bw;
    let least = |stay: &&[Point]| stay.iter().map(|point| point.window).fold(f64::INFINITY, f64::min);
    let bounded = points.iter().find(|point| point.phase != 1).is_some_and(|point| point.bounded);
    vec![
        ("Startup, s", startup(points)),
        ("Startups ended by loss or marks, share", f64::from(u8::from(bounded))),
        ("Drain, s", duration(2)),
        ("from UP to UP, s", interval(&stays, 6)),
        ("a DOWN, s", duration(3)),
        ("a CRUISE, s", duration(4)),
        ("a REFILL, s", duration(5)),
        ("an UP, s", duration(6)),
        ("first ProbeRTT at, s", of(7).next().map_or(f64::NAN, |stay| stay[0].time)),
        ("from ProbeRTT to ProbeRTT, s", interval(&stays, 7)),
        ("a ProbeRTT, s", duration(7)),
        ("its least window, packets", mean(of(7).map(|stay| least(stay) / packet))),
        ("max_bw, of the path's", mean(late().map(|point| point.max_bw)) / rate),
        ("change of max_bw in a CRUISE, %", 100.0 * (mean(of(4).map(kept)) - 1.0)),
        ("min_rtt, ms", 1e3 * mean(late().map(|point| point.min_rtt))),
    ]
}
