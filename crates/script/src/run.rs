//! Plays a case to an endpoint: time passes, segments arrive, and what comes out must be what is written.

use std::collections::VecDeque;
use std::sync::Arc;

use ecnlab_base::Time;
use ecnlab_tcp::config::Headers;
use ecnlab_tcp::{Config, Endpoint};
use ecnlab_wire::{IpVersion, QUENCH_LEN, Quench, Segment, Seq};

use crate::segment::Described;
use crate::{Action, Case, Failure, Place, Step, observe, show_time};

/// The endpoint's first sequence number: so near the wrap that every script of some kilobytes crosses it.
const ISS: Seq = Seq(u32::MAX - 4_000);
/// The peer's: near the middle, where a signed comparison that is not modular goes wrong.
const IRS: Seq = Seq(i32::MAX as u32 - 2_000);
/// More timers at one instant than any right endpoint sets off.
const STUCK: u32 = 100;

/// Runs one case to its last line, with the configuration that [`crate::settings`] makes of it.
pub fn run(config: &Arc<Config>, case: &Case) -> Result<(), Failure> {
    run_beside(config, case, |_| Vec::<((), Step)>::new()).map(|_| ())
}

/// Runs one case as [`run`] does, or up to a line in whose place one of `others` would hold as well: returns that one and
/// its name. What a line claims does not change what the endpoint does, so that one run serves all of them.
pub fn run_beside<Name>(
    config: &Arc<Config>,
    case: &Case,
    others: impl Fn(&Step) -> Vec<(Name, Step)>,
) -> Result<Option<(Name, Step)>, Failure> {
    let mut player = Player::new(Arc::clone(config));
    for step in &case.steps {
        player.reach(step).map_err(|failure| player.explain(failure))?;
        if let Some(other) = others(step).into_iter().find(|(_, other)| player.holds(other)) {
            return Ok(Some(other));
        }
        player.step(step).map_err(|failure| player.explain(failure))?;
    }
    let last = case.steps.last().map(|step| step.place.clone()).unwrap_or_default();
    player.nothing_left(&last, "after the last line").map_err(|failure| player.explain(failure))?;
    Ok(None)
}

struct Player {
    config: Arc<Config>,
    endpoint: Option<Endpoint>,
    /// Sent by the endpoint and not yet claimed by a line.
    sent: VecDeque<(Time, Described)>,
    /// The last instant at which anything happened.
    now: Time,
    /// All that travelled, for the message of a failure.
    trace: Vec<String>,
}

impl Player {
    fn new(config: Arc<Config>) -> Player {
        Player { config, endpoint: None, sent: VecDeque::new(), now: Time::ZERO, trace: Vec::new() }
    }

    /// Lets time pass up to a line. At one instant a line's own event comes before a timer; what a line expects or checks sees
    /// the timer's work.
    fn reach(&mut self, step: &Step) -> Result<(), Failure> {
        let Step { at, action, place } = step;
        match action {
            Action::Expect(_) => {
                self.nothing_before(*at, place)?;
                self.pass_until(*at, place)
            }
            Action::Nothing => self.pass_until(*at, place),
            Action::Check { .. } => {
                self.pass_until(*at, place)?;
                self.nothing_before(*at, place)
            }
            _ => self.pass_before(*at, place),
        }
    }

    /// Does what a line does, or compares what it claims, at its instant.
    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        let Step { at, action, place } = step;
        match action {
            Action::Expect(expected) => self.expect(expected, *at, place),
            Action::Nothing => self.nothing_left(place, "where the script says nothing"),
            Action::Check { name, value } => self.check(name, value, place),
            _ => {
                self.nothing_left(place, "before this line")?;
                self.event(action, *at, place)
            }
        }
    }

    /// Whether what a line claims is so, at the line that has been reached.
    fn holds(&self, step: &Step) -> bool {
        match &step.action {
            Action::Expect(expected) => self
                .sent
                .front()
                .is_some_and(|(came_at, came)| *came_at == step.at && expected.differences(came).is_empty()),
            Action::Check { name, value } => {
                let is = self.endpoint.as_ref().and_then(|endpoint| observe::observe(endpoint, name).ok());
                is.is_some_and(|is| is == *value)
            }
            _ => false,
        }
    }

    fn event(&mut self, action: &Action, now: Time, place: &Place) -> Result<(), Failure> {
        let mut out = Vec::new();
        self.now = now;
        match action {
            Action::Connect => self.endpoint = Some(Endpoint::connect(&self.config, IpVersion::V4, ISS, now, &mut out)),
            Action::Listen => self.endpoint = Some(Endpoint::listen(&self.config, IpVersion::V4, ISS)),
            Action::Arrive(segment) => {
                self.trace.push(format!("{} < {segment}", show_time(now)));
                self.open(place)?.on_segment(&segment.build(IRS, ISS), now, &mut out);
            }
            Action::Quench { cause, seq } => {
                self.trace.push(format!("{} < quench {cause:?} {seq}", show_time(now)));
                self.open(place)?.on_quench(&Quench::new(*cause, ISS + *seq, QUENCH_LEN), now);
            }
            Action::Write(bytes) => self.open(place)?.write(*bytes, now, &mut out),
            Action::ReadLater => self.open(place)?.read_on_request(),
            Action::Read(bytes) => {
                self.open(place)?.read(*bytes, now, &mut out);
            }
            Action::Close => self.open(place)?.close(now, &mut out),
            Action::Withdraw => {
                self.open(place)?.withdraw(now, &mut out);
            }
            Action::Abort => self.open(place)?.abort(&mut out),
            Action::Expect(_) | Action::Nothing | Action::Check { .. } => {}
        }
        self.collect(&out, now, place)
    }

    fn open(&mut self, place: &Place) -> Result<&mut Endpoint, Failure> {
        self.endpoint.as_mut().ok_or_else(|| Failure::new(place, "no `connect` or `listen` came before this line"))
    }

    /// Takes over what the endpoint sent at `now`; its length on the wire must be that of its headers and payload.
    fn collect(&mut self, out: &[Segment], now: Time, place: &Place) -> Result<(), Failure> {
        for segment in out {
            let described = Described::of(segment, ISS, IRS);
            self.trace.push(format!("{} > {described}", show_time(now)));
            if self.config.data_headers == Headers::Real && segment.wire_len != segment.ipv4_len() {
                let message = format!("wire_len is {}, its parts make {}", segment.wire_len, segment.ipv4_len());
                return Err(Failure::new(place, message));
            }
            self.sent.push_back((now, described));
        }
        Ok(())
    }

    fn expect(&mut self, expected: &Described, at: Time, place: &Place) -> Result<(), Failure> {
        let Some((came_at, came)) = self.sent.pop_front() else {
            let deadline = self.endpoint.as_ref().map_or(Time::NEVER, Endpoint::deadline);
            let timer = if deadline == Time::NEVER { "no timer runs".into() } else { show_time(deadline) };
            return Err(Failure::new(place, "the expected segment did not come")
                .note(format!("expected  {} > {expected}", show_time(at)))
                .note(format!("next timer  {timer}")));
        };
        let mut differences = expected.differences(&came);
        if came_at != at {
            differences.push("time");
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Failure::new(place, "another segment came than the expected one")
            .note(format!("expected  {} > {expected}", show_time(at)))
            .note(format!("came      {} > {came}", show_time(came_at)))
            .note(format!("differs in {}", differences.join(", "))))
    }

    /// Lets timers up to `limit` go off; stops early at the first one that sends, so that lines claim in order.
    fn pass_until(&mut self, limit: Time, place: &Place) -> Result<(), Failure> {
        self.pass(place, |deadline| deadline <= limit)
    }

    fn pass_before(&mut self, limit: Time, place: &Place) -> Result<(), Failure> {
        self.pass(place, |deadline| deadline < limit)
    }

    fn pass(&mut self, place: &Place, due: impl Fn(Time) -> bool) -> Result<(), Failure> {
        let mut last = (Time::ZERO, 0);
        while self.sent.is_empty() {
            let Some(endpoint) = self.endpoint.as_mut() else { return Ok(()) };
            let deadline = endpoint.deadline();
            if !due(deadline) {
                return Ok(());
            }
            let now = self.now.max(deadline);
            self.now = now;
            last = if last.0 == now { (now, last.1 + 1) } else { (now, 0) };
            if last.1 > STUCK {
                return Err(Failure::new(place, format!("a timer set for {} never goes off", show_time(now))));
            }
            let mut out = Vec::new();
            endpoint.on_deadline(now, &mut out);
            self.collect(&out, now, place)?;
        }
        Ok(())
    }

    fn nothing_before(&self, at: Time, place: &Place) -> Result<(), Failure> {
        match self.sent.front() {
            Some((came_at, _)) if *came_at < at => self.nothing_left(place, "before this line"),
            _ => Ok(()),
        }
    }

    fn nothing_left(&self, place: &Place, when: &str) -> Result<(), Failure> {
        let Some((came_at, came)) = self.sent.front() else { return Ok(()) };
        Err(Failure::new(place, format!("a segment came that no line expects, {when}"))
            .note(format!("came  {} > {came}", show_time(*came_at))))
    }

    fn check(&mut self, name: &str, value: &str, place: &Place) -> Result<(), Failure> {
        let is = observe::observe(self.open(place)?, name).map_err(|e| Failure::new(place, e))?;
        if is == value {
            return Ok(());
        }
        Err(Failure::new(place, format!("`{name}` is not as written"))
            .note(format!("expected  {value}"))
            .note(format!("is        {is}")))
    }

    fn explain(&self, failure: Failure) -> Failure {
        failure.note(format!("what travelled:\n{}", self.trace.join("\n")))
    }
}
