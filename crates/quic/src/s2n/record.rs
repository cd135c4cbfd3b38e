//! Readings and counts from the stack's events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use s2n_quic_core::connection::Error;
use s2n_quic_core::event::Subscriber;
use s2n_quic_core::event::api::{
    AckRangeReceived, Congestion, CongestionSource, ConnectionClosed, ConnectionInfo, ConnectionMeta, MtuUpdated,
    MtuUpdatedCause, PacketLost, PacketSent, RecoveryMetrics,
};

use super::clock;
use crate::Stats;

/// Readings of one connection. Its clones are the same record.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Mutex<Readings>>);

#[derive(Debug, Default)]
struct Readings {
    stats: Stats,
    /// An ACK has arrived. Until then the stack's RTTs are its initial RTT.
    acked: bool,
    end: Option<Error>,
}

impl Record {
    /// The readings at the last event.
    pub fn stats(&self) -> Stats {
        self.readings().stats.clone()
    }

    /// Returns and removes the reason for which the connection has ended.
    pub fn take_end(&self) -> Option<Error> {
        self.readings().end.take()
    }

    fn readings(&self) -> MutexGuard<'_, Readings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut self.readings().stats);
    }
}

impl Subscriber for Record {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {
        self.set(|stats| stats.ecn_events = Some(0));
    }

    fn on_packet_sent(&mut self, (): &mut (), _: &ConnectionMeta, _: &PacketSent) {
        self.set(|stats| stats.packets_sent += 1);
    }

    /// A lost probe for a larger MTU is not counted: it is no congestion.
    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, event: &PacketLost) {
        if !event.is_mtu_probe {
            self.set(|stats| {
                stats.packets_lost += 1;
                stats.bytes_lost += u64::from(event.bytes_lost);
            });
        }
    }

    fn on_ack_range_received(&mut self, (): &mut (), _: &ConnectionMeta, _: &AckRangeReceived) {
        self.readings().acked = true;
    }

    fn on_recovery_metrics(&mut self, (): &mut (), _: &ConnectionMeta, event: &RecoveryMetrics) {
        let mut readings = self.readings();
        readings.stats.cwnd = event.congestion_window.into();
        readings.stats.in_flight = Some(event.bytes_in_flight.into());
        if readings.acked {
            readings.stats.srtt = clock::dur(event.smoothed_rtt);
            readings.stats.rtt_min = clock::dur(event.min_rtt);
        }
    }

    fn on_congestion(&mut self, (): &mut (), _: &ConnectionMeta, event: &Congestion) {
        let marked = matches!(event.source, CongestionSource::Ecn { .. });
        self.set(|stats| {
            stats.congestion_events += 1;
            stats.ecn_events = stats.ecn_events.map(|count| count + u64::from(marked));
        });
    }

    fn on_mtu_updated(&mut self, (): &mut (), _: &ConnectionMeta, event: &MtuUpdated) {
        let black_hole = matches!(event.cause, MtuUpdatedCause::Blackhole { .. });
        self.set(|stats| {
            stats.mtu = event.mtu;
            stats.black_holes += u64::from(black_hole);
        });
    }

    fn on_connection_closed(&mut self, (): &mut (), _: &ConnectionMeta, event: &ConnectionClosed) {
        self.readings().end = Some(event.error);
    }
}
