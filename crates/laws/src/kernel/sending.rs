//! Window, pace and repair of the kernel's senders, as in `bpf/host`.

use ratewire_units::{Bytes, Duration, Throughput};

use crate::law::{Acked, FlowContext, Signal};

/// Packets that may be outstanding before an RTT is known.
const FIRST_WINDOW: f64 = 10.0;
/// Maximum of outstanding data, in bytes of packets; `bpf/host/control.h` gives the reason.
const MOST_OUTSTANDING: f64 = (1_u32 << 28) as f64;
/// A flow sends at least a packet in this time or in a round trip, in seconds.
const SHORTEST_LEAST: f64 = 0.05;

/// Methods about losses that all sources here share.
macro_rules! repairs {
    () => {
        fn on_congestion(&mut self, noticed: &$crate::law::Congestion) {
            if self.congestion.on_signal(noticed.signal) {
                self.sender.on_loss(self.congestion.least());
            }
        }

        fn on_recovered(&mut self, _now: ratewire_units::Time) {
            self.congestion.repairing = false;
        }
    };
}
pub(super) use repairs;

/// Methods that most sources here share: `sender` states the rate, `congestion` turns it into a
/// window and a pace.
macro_rules! sends_at_its_rate {
    () => {
        super::sending::repairs!();

        fn window(&self) -> ratewire_units::Bytes {
            self.congestion.window(self.sender.rate())
        }

        fn pacing(&self) -> Option<ratewire_units::Throughput> {
            self.congestion.pacing(self.sender.rate())
        }
    };
}
pub(super) use sends_at_its_rate;

/// A rate as window and pace.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) packet: Bytes,
    mss: Bytes,
    pub(super) srtt: Duration,
    /// Payload that may be outstanding beyond the data that the rate sends in a round trip.
    pub(super) spare: Bytes,
    /// Whether a loss is being repaired.
    pub(super) repairing: bool,
}

impl Sending {
    pub(super) fn new(flow: &FlowContext) -> Sending {
        Sending {
            packet: flow.packet,
            mss: flow.mss,
            srtt: Duration::ZERO,
            spare: Bytes::ZERO,
            repairing: false,
        }
    }

    /// The first window, network-layer bytes.
    pub(super) fn first_window(&self) -> Bytes {
        Bytes::new((FIRST_WINDOW * self.packet.as_f64()) as u64)
    }
    /// The least rate.
    pub(super) fn least(&self) -> Throughput {
        let every = self.srtt.secs().max(SHORTEST_LEAST);
        Throughput::new((self.packet.as_f64() / every).max(1.0))
    }
    /// Network-layer bytes of this payload.
    pub(super) fn on_network(&self, payload: Bytes) -> Bytes {
        let packets = payload.as_f64() / self.mss.as_f64().max(1.0);
        Bytes::new((packets * self.packet.as_f64() + 0.5) as u64)
    }
    /// Handles an acknowledgement of a law that states a rate and no window. As much as is
    /// outstanding now may be sent again without another acknowledgement, so that a sender does not
    /// stand still when its rate is cut.
    pub(super) fn on_ack(&mut self, acked: &Acked) {
        self.srtt = acked.srtt;
        self.spare = acked.in_flight;
    }
    /// The window at this rate: the data that the rate sends in a round trip, two packets more, and
    /// the spare.
    pub(super) fn window(&self, rate: Throughput) -> Bytes {
        self.window_beside(rate, 2.0 + self.spare.as_f64() / self.mss.as_f64().max(1.0))
    }
    /// The window without a pace: a packet at least.
    pub(super) fn bare_window(&self, rate: Throughput) -> Bytes {
        self.window_beside(rate, 0.0).max(self.mss)
    }
    /// The window at this rate and these packets more. Rate zero stands for none yet.
    fn window_beside(&self, rate: Throughput, more: f64) -> Bytes {
        let (packet, mss) = (self.packet.as_f64().max(1.0), self.mss.as_f64());
        let packets = if rate == Throughput::ZERO {
            FIRST_WINDOW
        } else {
            libm::floor(rate.get() * self.srtt.secs() / packet) + more
        };
        Bytes::new((packets.min(MOST_OUTSTANDING / packet) * mss) as u64)
    }
    /// The pace at this rate.
    pub(super) fn pacing(&self, rate: Throughput) -> Option<Throughput> {
        (rate != Throughput::ZERO).then_some(rate)
    }
    /// Handles a signal. Returns whether it is a loss, as the kernel reports one.
    pub(super) fn on_signal(&mut self, signal: Signal) -> bool {
        match signal {
            Signal::Loss => self.repairing = true,
            // Everything is sent anew, and the routers' rate counts again.
            Signal::Timeout => (self.repairing, self.spare) = (false, Bytes::ZERO),
            Signal::Mark => {}
        }
        signal != Signal::Mark
    }
}
