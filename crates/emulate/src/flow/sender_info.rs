//! What a sender knows of its connection.

use ratewire_switch_interface::endpoint::Figures;
use ratewire_units::{Bytes, Duration, Throughput};

use crate::sys::TcpInfo;

/// What a sender knows of its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderInfo {
    /// Smoothed round-trip time; zero while unknown.
    pub(crate) rtt: Duration,
    pub(crate) window: Bytes,
    pub(crate) in_flight: Bytes,
    /// The receiver's window; [`Bytes::MAX`] if unknown.
    pub(crate) receive_window: Bytes,
    pub(crate) pacing: Option<Throughput>,
    pub(crate) retransmitted: Bytes,
    /// Packets sent again, if they are counted.
    pub(crate) retransmitted_packets: u64,
    pub(crate) timeouts: u64,
}

impl SenderInfo {
    pub(super) fn of_kernel(info: &TcpInfo) -> SenderInfo {
        let packets = |count: u32| Bytes::new(u64::from(count) * u64::from(info.snd_mss));
        let has_pace = info.pacing_rate != u64::MAX && info.pacing_rate > 0;
        SenderInfo {
            rtt: Duration::from_micros(u64::from(info.rtt)),
            window: packets(info.snd_cwnd),
            in_flight: packets(info.unacked),
            receive_window: Bytes::new(u64::from(info.snd_wnd)),
            pacing: has_pace.then(|| Throughput::new(info.pacing_rate as f64)),
            retransmitted: Bytes::new(info.bytes_retrans),
            retransmitted_packets: u64::from(info.total_retrans),
            timeouts: 0,
        }
    }

    pub(super) fn of_acp(figures: &Figures) -> SenderInfo {
        SenderInfo {
            rtt: figures.srtt,
            window: figures.window,
            in_flight: figures.in_flight,
            receive_window: Bytes::MAX,
            pacing: None,
            retransmitted: figures.retransmitted,
            retransmitted_packets: figures.retransmitted_packets,
            timeouts: figures.timeouts,
        }
    }
}
