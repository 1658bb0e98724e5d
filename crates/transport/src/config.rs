//! Behaviour of a flow's two ends.

use ratewire_laws::AnyLaw;
use ratewire_units::{Bytes, Duration};

/// Transport parameters of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportConfig {
    /// Network-layer size of a full data packet, all headers included (1 to 65,535).
    pub packet: Bytes,
    /// Network and transport headers of a data packet, without the congestion header.
    pub headers: Bytes,
    /// Network-layer size of an acknowledgement, without the congestion header.
    pub ack: Bytes,
    /// Whether a flow starts with an exchange of two empty packets, as TCP does.
    pub handshake: bool,
    /// Acknowledge every second packet, others after this time; `None` to acknowledge each.
    pub delayed_ack: Option<Duration>,
    /// Packets in order that are acknowledged at once although `delayed_ack` says otherwise.
    pub ack_rules: AckRules,
    /// The receiver's window.
    pub receive_window: ReceiveWindow,
    /// Shortest retransmission timeout (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Duration,
    /// Longest retransmission timeout (RFC 6298, 2.5: at least 60 s; Linux: 120 s, or less by
    /// `TCP_RTO_MAX_MS`).
    pub max_rto: Duration,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Whether to send a tail-loss probe before the retransmission timer fires, and to count a hole
    /// with fewer than three packets beyond it as lost after a quarter RTT (RFC 8985).
    pub tail_loss_probe: bool,
    /// Whether packets may be marked instead of dropped, and marks are echoed.
    pub ecn: bool,
    /// Whether packets may be marked and say that their law is scalable: ECT(1) (RFC 9331).
    pub l4s: bool,
    /// Priority class of its packets and their acknowledgements, 0 to 7.
    pub class: u8,
    /// Random time that a modelled host takes to process each packet of the sender.
    pub jitter: Jitter,
    /// Whether a modelled host holds the sender back while its own queue has enough of the flow
    /// (TCP Small Queues); `None` to do as the law's senders do.
    pub small_queues: Option<bool>,
}

/// Packets in order and without a mark that a receiver acknowledges at once, beside every second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckRules {
    /// None but the one that fills a hole (RFC 5681, 4.2).
    Rfc,
    /// As Linux 6: the first 16, and 16 after one that had arrived before or after a long pause
    /// (`TCP_MAX_QUICKACKS`); each while the buffer that Linux sizes by the flow's rate still
    /// opens the window; and each that ends what the sender sent at once (PSH, Linux 6.7).
    Linux,
}

/// How a sender finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The pipe of RFC 6675, as ns-2's Sack1 has it: three packets beyond a hole make it a loss,
    /// and the window has its new size at once.
    Sack,
    /// RACK-TLP (RFC 8985): a packet is lost once one that was sent later has arrived, and a
    /// reordering window has passed; PRR (RFC 9937) for laws with a slow-start threshold; and
    /// repairs that were not needed are undone (Eifel, DSACK, F-RTO), as Linux does.
    Rack,
}

/// Random time that a modelled host takes to process each packet of a sender, from zero to this.
///
/// It breaks phase effects (Floyd and Jacobson 1991). Real hosts have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// The time that the slowest link of the flow's path takes to send a full packet; none while
    /// the sender has a pace.
    PacketTime,
    /// A time, also for paced packets; zero for none.
    UpTo(Duration),
}

impl Jitter {
    /// No jitter: hosts take no time.
    pub const NONE: Jitter = Jitter::UpTo(Duration::ZERO);
}

/// Data that a receiver allows its sender to have outstanding: at least one full packet, whatever
/// is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// A buffer of this size; data that the application has not read takes room.
    Fixed(Bytes),
    /// Starts at `initial` and opens by each packet that advances the in-order data, up to `max`
    /// (Linux 2.6: two segments a packet).
    Auto {
        /// First window.
        initial: Bytes,
        /// Largest window.
        max: Bytes,
        /// Full payloads by which the window opens each time.
        packets_per_ack: u32,
    },
}

impl ReceiveWindow {
    /// A window of this size is no limit: a terabyte.
    pub const UNLIMITED: Bytes = Bytes::new(1 << 40);

    /// The first window.
    pub fn initial(self) -> Bytes {
        match self {
            ReceiveWindow::Fixed(size) => size,
            ReceiveWindow::Auto { initial, .. } => initial,
        }
    }
    /// This window, with room for at least one payload of `mss` bytes.
    pub(crate) fn at_least(self, mss: u64) -> ReceiveWindow {
        let mss = Bytes::new(mss);
        match self {
            ReceiveWindow::Fixed(size) => ReceiveWindow::Fixed(size.max(mss)),
            ReceiveWindow::Auto { initial, max, packets_per_ack } => {
                let initial = initial.max(mss);
                let max = if packets_per_ack == 0 { initial } else { max.max(initial) };
                ReceiveWindow::Auto { initial, max, packets_per_ack }
            }
        }
    }
    /// Buffer behind the window, which the window never exceeds.
    pub fn buffer(self) -> Bytes {
        match self {
            ReceiveWindow::Fixed(size) => size,
            ReceiveWindow::Auto { max, .. } => max,
        }
    }
}

impl TransportConfig {
    /// Whether hosts keep the queue of a law's senders small.
    pub fn keeps_small_queues(&self, law: &AnyLaw) -> bool {
        self.small_queues.unwrap_or(law.properties().small_queues)
    }
}

impl Default for TransportConfig {
    fn default() -> TransportConfig {
        TransportConfig {
            packet: Bytes::new(1500),
            headers: Bytes::new(40),
            ack: Bytes::new(40),
            handshake: true,
            delayed_ack: None,
            ack_rules: AckRules::Linux,
            receive_window: ReceiveWindow::Fixed(ReceiveWindow::UNLIMITED),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            recovery: Recovery::Rack,
            tail_loss_probe: true,
            ecn: false,
            l4s: false,
            class: 0,
            jitter: Jitter::NONE,
            small_queues: None,
        }
    }
}
