//! Checks of a configuration: values that are impossible, and values that cannot be combined.

use ecnlab_base::Dur;

use crate::config::{Config, InitialSsthresh, RateLimitedGrowth, ReceiveWindow};
use crate::control_packets::{ALL, ControlPacket, EcnControl, WITH_ECHO};
use crate::invalid::{Invalid, Remedy, ensure, ensure_fit};
use crate::registry::{EcnKind, RecoveryKind, SlowStartKind};
use crate::remedies::Refusal;

/// The largest window that the maximum window scale can announce, in bytes (RFC 7323 §2.2).
const MAX_WINDOW: u64 = 65_535 << 14;

/// Least buffer of a window that grows as in Linux 7, in bytes: a page (tcp_rmem\[0\]).
const LEAST_GROWING_BUFFER: u64 = 4096;

/// Maximum of `max_doublings`: more doublings exceed any useful `max_rto`.
const MAX_DOUBLINGS: u32 = 16;

impl Config {
    /// Checks for the first impossible value.
    ///
    /// # Errors
    /// [`Invalid`] names the key and the values it may have.
    pub fn check(&self) -> Result<(), Invalid> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// All problems of this configuration with the settings that resolve them; `None` if it is valid.
    pub fn refusal(&self) -> Option<Refusal> {
        Refusal::of(self)
    }

    /// Every impossible value and combination, in the order of the checks.
    pub(crate) fn problems(&self) -> Vec<Invalid> {
        let mut checks = self.check_counts();
        checks.push(self.rules.check());
        checks.extend(self.check_slow_start());
        checks.extend(self.check_wire());
        checks.extend(self.check_timers());
        checks.push(self.congestion.check());
        checks.push(self.check_delay());
        checks.extend(self.check_feedback());
        checks.extend(self.check_control());
        checks.push(self.check_fallback());
        checks.extend(self.check_recovery());
        checks.push(self.check_rate_limited());
        checks.into_iter().filter_map(Result::err).collect()
    }

    fn check_counts(&self) -> Vec<Result<(), Invalid>> {
        let at_least_one = [
            ("ack_every", self.ack_every),
            ("initial_window", self.initial_window),
            ("syn_losses_to_one", self.syn_losses_to_one),
            ("gso_max_segs", self.gso_max_segs),
            ("max_timeouts", self.max_timeouts),
            ("max_syn_timeouts", self.max_syn_timeouts),
        ];
        at_least_one.map(|(key, value)| ensure(value >= 1, key, || "must be at least 1".into())).into()
    }

    fn check_slow_start(&self) -> [Result<(), Invalid>; 2] {
        let (law, rule) = (self.congestion.name(), self.slow_start_rule());
        let has_none = rule == SlowStartKind::Standard || self.congestion.has_slow_start();
        let standard = Remedy::set("slow_start", SlowStartKind::Standard.name());
        let threshold = self.initial_ssthresh != InitialSsthresh::Unlimited;
        let unlimited = Remedy::set("initial_ssthresh", "unlimited");
        let no_effect = threshold && has_none && rule.only_without_threshold();
        [
            ensure_fit(has_none, "slow_start", standard, || {
                format!("must be \"standard\" with congestion = \"{law}\", which has no slow start")
            }),
            ensure_fit(!no_effect, "slow_start", unlimited, || {
                format!(
                    "\"{}\" needs initial_ssthresh = \"unlimited\": it applies only until ssthresh is set",
                    rule.name()
                )
            }),
        ]
    }

    fn check_delay(&self) -> Result<(), Invalid> {
        let fits = self.timestamps || !self.congestion.needs_timestamps();
        ensure_fit(fits, "congestion.delay", Remedy::set("timestamps", true), || {
            "\"one-way\" needs timestamps = true: they carry the delays (RFC 7323)".into()
        })
    }

    fn check_wire(&self) -> [Result<(), Invalid>; 4] {
        let mss = ensure((64..=65_495).contains(&self.mss.0), "mss", || {
            format!("must be from 64 B to 65495 B, not {}", self.mss)
        });
        let most = if self.window_scaling { MAX_WINDOW } else { 65_535 };
        let buffer = ensure((1..=most).contains(&self.receive_buffer.0), "receive_buffer", || {
            format!("must be from 1 B to {most} B with window_scaling = {}", self.window_scaling)
        });
        let scalable = !self.window_scaling && (1..=MAX_WINDOW).contains(&self.receive_buffer.0);
        let remedy = scalable.then_some(Remedy::set("window_scaling", true));
        let clock =
            ensure(self.timestamp_clock >= Dur::from_us(1), "timestamp_clock", || "must be at least 1 us".into());
        let grows = self.receive_window == ReceiveWindow::Linux7;
        let least = ensure_fit(
            !grows || self.receive_buffer.0 >= LEAST_GROWING_BUFFER,
            "receive_buffer",
            Remedy::set("receive_window", "fixed"),
            || format!("must be at least {LEAST_GROWING_BUFFER} B with receive_window = \"linux-7\" (tcp_rmem[0])"),
        );
        [mss, buffer.map_err(|invalid| Invalid { remedy, ..invalid }), least, clock]
    }

    fn check_timers(&self) -> Vec<Result<(), Invalid>> {
        let ticks = self.rto_estimator.counts_ticks();
        let positive = |key, value: Dur| ensure(!value.is_zero(), key, || "must be above 0 s".into());
        let timeouts = [self.min_rto, self.initial_rto, self.initial_rto_after_syn_loss];
        let longest = Remedy::set("max_rto", timeouts.into_iter().max().unwrap_or_default().to_string());
        let mut checks = vec![
            ensure_fit(!ticks || !self.rtt_tick.is_zero(), "rtt_tick", Remedy::set("rto_estimator", "rfc6298"), || {
                "must be above 0 s with this rto_estimator, which counts in ticks".into()
            }),
            ensure(self.max_doublings <= MAX_DOUBLINGS, "max_doublings", || format!("must be at most {MAX_DOUBLINGS}")),
            positive("min_rto", self.min_rto),
        ];
        checks.extend(timeouts.map(|rto| {
            ensure_fit(self.max_rto >= rto, "max_rto", longest.clone(), || {
                format!("must not be below another timeout, {rto}")
            })
        }));
        checks.push(positive("initial_rto", self.initial_rto));
        checks.push(positive("initial_rto_after_syn_loss", self.initial_rto_after_syn_loss));
        checks
    }

    fn check_feedback(&self) -> Vec<Result<(), Invalid>> {
        let accepted = self.accepted_ecn();
        let ecn = accepted.name();
        let counting = || EcnKind::ALL.iter().filter(|ecn| ecn.counts());
        // RFC 9331 §4.2 requires the feedback of RFC 9768, the only one that requires D-SACK.
        let best = counting().find(|ecn| ecn.wants_dsack()).unwrap_or(&accepted);
        let counts = self.congestion.needs_count().map(|key| {
            ensure_fit(accepted.counts(), key, Remedy::set("ecn", best.name()), || {
                let with: Vec<_> = counting().map(|ecn| ecn.name()).collect();
                format!(
                    "needs feedback that counts marks: ecn = \"{}\", not \"{}\"",
                    with.join("\" or \""),
                    self.ecn.name()
                )
            })
        });
        let dsack = !accepted.wants_dsack() || !self.sack || self.dsack;
        let dsack = ensure_fit(dsack, "dsack", Remedy::set("dsack", true), || {
            format!("must be true with ecn = \"{ecn}\" and sack = true (RFC 9768 §3.1.1)")
        });
        counts.into_iter().chain([dsack]).collect()
    }

    /// Control packets need a scheme that reports their marks, or for which the specification of ECN++ rules otherwise.
    fn check_control(&self) -> Vec<Result<(), Invalid>> {
        const KEY: &str = "ecn_control";
        let is_generalized = |permitted: &[ControlPacket]| permitted == WITH_ECHO || permitted == ALL;
        let (ecn, permitted) = (self.accepted_ecn().name(), self.accepted_ecn().control_packets());
        let scheme = || Remedy::set(KEY, "scheme");
        let with = |fits: &dyn Fn(&[ControlPacket]) -> bool| {
            let names: Vec<_> =
                EcnKind::ALL.iter().filter(|ecn| fits(ecn.control_packets())).map(|ecn| ecn.name()).collect();
            names.join("\" or \"")
        };
        match &self.ecn_control {
            EcnControl::Scheme => Vec::new(),
            EcnControl::TryOnce => vec![ensure_fit(permitted == WITH_ECHO, KEY, scheme(), || {
                let ecn_with = with(&|permitted| permitted == WITH_ECHO);
                format!("\"try-once\" needs ecn = \"{ecn_with}\", not \"{ecn}\" (RFC 5562)")
            })],
            EcnControl::Packets(packets) if packets.is_empty() => {
                vec![ensure_fit(false, KEY, scheme(), || "must name at least one packet".into())]
            }
            EcnControl::Generalized => vec![ensure_fit(is_generalized(permitted), KEY, scheme(), || {
                format!("needs ecn = \"{}\", not \"{ecn}\"", with(&is_generalized))
            })],
            EcnControl::Packets(packets) => packets
                .iter()
                .map(|packet| {
                    ensure_fit(permitted.contains(packet), KEY, scheme(), || {
                        let ecn_with = with(&|permitted| permitted.contains(packet));
                        format!("has \"{}\", which needs ecn = \"{ecn_with}\", not \"{ecn}\"", packet.name())
                    })
                })
                .collect(),
        }
    }

    fn check_fallback(&self) -> Result<(), Invalid> {
        let falls_back = self.ecn_syn_fallback || self.ecn_fallback_memory.is_zero();
        ensure_fit(falls_back, "ecn_fallback_memory", Remedy::set("ecn_syn_fallback", true), || {
            "needs ecn_syn_fallback = true, as without it no connection falls back".into()
        })
    }

    fn check_rate_limited(&self) -> Result<(), Invalid> {
        let kept = self.rate_limited_growth == RateLimitedGrowth::Rfc7661;
        ensure_fit(!kept || !self.idle_restart, "idle_restart", Remedy::set("idle_restart", false), || {
            "must be false with rate_limited_growth = \"rfc7661\", which keeps the window of an idle sender".into()
        })
    }

    fn check_recovery(&self) -> Vec<Result<(), Invalid>> {
        let leaving = || RecoveryKind::ALL.iter().copied().filter(|scheme| scheme.leaves_window());
        let fits = !self.congestion.owns_window() || self.recovery.leaves_window();
        // Of the schemes that fit, one that uses SACK exactly if SACK is on.
        let best = leaving().find(|scheme| scheme.needs_sack() == self.sack).or(leaving().next());
        let owned = best.map(|scheme| {
            ensure_fit(fits, "recovery", Remedy::set("recovery", scheme.name()), || {
                let with: Vec<_> = leaving().map(|scheme| scheme.name()).collect();
                let law = self.congestion.name();
                format!(
                    "must be \"{}\" with congestion = \"{law}\", which sets its window by itself",
                    with.join("\" or \"")
                )
            })
        });
        let sack = ensure_fit(!self.recovery.needs_sack() || self.sack, "sack", Remedy::set("sack", true), || {
            "must be true for this recovery".into()
        });
        let own = self.recovery.check(self).into_iter().map(Err);
        owned.into_iter().chain(own).chain([sack]).collect()
    }
}

#[cfg(test)]
mod tests {
    use ecnlab_base::Bytes;

    use super::*;
    use crate::cc::Codepoint;
    use crate::cc::dctcp::Params;
    use crate::cc::ledbat;
    use crate::profile;
    use crate::registry::WindowLaw;

    #[test]
    fn impossible_values_name_their_key() {
        let refused = |change: fn(&mut Config)| {
            let mut config = profile("linux-2.0").unwrap().config.clone();
            change(&mut config);
            config.check().unwrap_err().key
        };
        assert_eq!(refused(|c| c.mss = Bytes(10)), "mss");
        assert_eq!(refused(|c| c.receive_buffer = Bytes(65_536)), "receive_buffer");
        assert_eq!(refused(|c| c.rtt_tick = Dur::ZERO), "rtt_tick");
        assert_eq!(refused(|c| c.recovery = RecoveryKind::Sack), "sack");
        assert_eq!(refused(|c| c.max_rto = Dur::from_ms(100)), "max_rto");
        assert_eq!(refused(|c| c.ack_every = 0), "ack_every");
        assert_eq!(refused(|c| c.max_doublings = 17), "max_doublings");
        assert_eq!(refused(|c| c.ecn_fallback_memory = Dur::from_s(1)), "ecn_fallback_memory");
    }

    #[test]
    fn a_window_that_is_kept_has_no_idle_restart_and_is_not_reduced_by_prr() {
        let refused = |profile: &str, idle_restart| {
            let config = crate::profile(profile).unwrap().config.clone();
            let config = Config { idle_restart, rate_limited_growth: RateLimitedGrowth::Rfc7661, ..config };
            config.check().err().map(|refused| refused.key)
        };
        assert_eq!([refused("modern", true), refused("modern", false)], [Some("idle_restart"), None]);
        assert_eq!(refused("linux-7", false), Some("rate_limited_growth"));
    }

    #[test]
    fn a_growing_window_needs_a_page_of_buffer() {
        let checked = |bytes, receive_window| {
            let config = profile("linux-7").unwrap().config.clone();
            Config { receive_buffer: Bytes(bytes), receive_window, ..config }.check().map_err(|invalid| invalid.key)
        };
        assert_eq!(checked(4_095, ReceiveWindow::Linux7), Err("receive_buffer"));
        assert_eq!(checked(4_096, ReceiveWindow::Linux7), Ok(()));
        assert_eq!(checked(1, ReceiveWindow::Fixed), Ok(()));
    }

    #[test]
    fn an_end_of_slow_start_that_holds_without_a_threshold_needs_there_to_be_none() {
        let refused = |slow_start, initial_ssthresh| {
            let config = Config { slow_start, initial_ssthresh, ..profile("modern").unwrap().config.clone() };
            config.check().err().map(|refused| refused.key)
        };
        let (peer, unlimited) = (InitialSsthresh::PeerWindow, InitialSsthresh::Unlimited);
        let all = SlowStartKind::ALL.iter().map(|&kind| (kind.name(), refused(kind, peer), refused(kind, unlimited)));
        let expected = [
            ("standard", None, None),
            ("law", None, None),
            ("hystart", None, None),
            ("hystart++", Some("slow_start"), None),
        ];
        assert_eq!(all.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_law_without_slow_start_has_no_end_of_it() {
        let refused = |slow_start| {
            let congestion = WindowLaw::Ledbat(Default::default());
            let config = Config { slow_start, congestion, ..profile("modern").unwrap().config.clone() };
            config.check().err().map(|refused| refused.to_string())
        };
        let problem = "`slow_start` must be \"standard\" with congestion = \"ledbat\", which has no slow start";
        assert_eq!(refused(SlowStartKind::Hystart), Some(problem.to_owned()));
        assert_eq!([SlowStartKind::Standard, SlowStartKind::Law].map(refused), [None, None]);
    }

    #[test]
    fn one_way_delays_need_timestamps() {
        let refused = |delay, timestamps| {
            let congestion = WindowLaw::Ledbat(ledbat::Params { delay, ..Default::default() });
            let config = Config { timestamps, congestion, ..profile("modern").unwrap().config.clone() };
            config.check().err().map(|refused| refused.key)
        };
        assert_eq!(
            [true, false].map(|stamps| refused(ledbat::Delay::OneWay, stamps)),
            [None, Some("congestion.delay")]
        );
        assert_eq!(refused(ledbat::Delay::Rtt, false), None);
    }

    #[test]
    fn a_law_that_sends_ect1_needs_feedback_that_counts() {
        let mut config = profile("modern").unwrap().config.clone();
        let params = Params { codepoint: Codepoint::Ect1, ..Params::default() };
        config.congestion = WindowLaw::Dctcp(params);
        let refused = |ecn| {
            let config = Config { ecn, ..config.clone() };
            config.check().err().map(|refused| refused.to_string())
        };
        let problem = |ecn| {
            let needs = "needs feedback that counts marks: ecn = \"dctcp\" or \"accecn\" or \"accecn-linux\"";
            Some(format!("`congestion.codepoint` {needs}, not \"{ecn}\""))
        };
        assert_eq!(refused(EcnKind::Dctcp), None);
        assert_eq!(refused(EcnKind::Rfc3168), problem("rfc3168"));
        assert_eq!(refused(EcnKind::Off), problem("off"));
    }

    #[test]
    fn a_control_packet_is_capable_only_with_feedback_that_permits_it() {
        use ControlPacket::*;
        let refused = |ecn, ecn_control| {
            let config = Config { ecn, dsack: true, ecn_control, ..profile("modern").unwrap().config.clone() };
            config.check().err().map(|refused| refused.problem)
        };
        let problem = |problem: &str| Some(problem.to_owned());
        assert_eq!(refused(EcnKind::Rfc3168, EcnControl::Packets(vec![SynAck, Fin])), None);
        assert_eq!(refused(EcnKind::AccEcn, EcnControl::Packets(vec![Syn, Ack])), None);
        let syn = problem("has \"syn\", which needs ecn = \"accecn\", not \"rfc3168\"");
        assert_eq!(refused(EcnKind::Rfc3168, EcnControl::Packets(vec![SynAck, Syn])), syn);
        let none = problem("needs ecn = \"rfc3168\" or \"accecn\", not \"dctcp\"");
        assert_eq!(refused(EcnKind::Dctcp, EcnControl::Generalized), none);
        assert_eq!(refused(EcnKind::Dctcp, EcnControl::Packets(vec![Ack, Probe, Retransmission, Fin])), None);
        let rst = problem("has \"rst\", which needs ecn = \"rfc3168\" or \"accecn\", not \"dctcp\"");
        assert_eq!(refused(EcnKind::Dctcp, EcnControl::Packets(vec![Rst])), rst);
        assert_eq!(refused(EcnKind::Off, EcnControl::Scheme), None);
        let once = problem("\"try-once\" needs ecn = \"rfc3168\", not \"accecn\" (RFC 5562)");
        assert_eq!(refused(EcnKind::AccEcn, EcnControl::TryOnce), once);
        let empty = problem("must name at least one packet");
        assert_eq!(refused(EcnKind::AccEcn, EcnControl::Packets(Vec::new())), empty);
    }

    #[test]
    fn accecn_with_sack_needs_dsack() {
        let refused = |sack, dsack| {
            let config = Config { ecn: EcnKind::AccEcn, sack, dsack, ..profile("modern").unwrap().config.clone() };
            config.check().err().map(|refused| refused.key)
        };
        let config = [(true, false), (true, true)].map(|(sack, dsack)| refused(sack, dsack));
        assert_eq!(config, [Some("dsack"), None]);
    }
}
