//! Settings of an endpoint.

use ratewire_laws::AnyLaw;
use ratewire_transport::{AckRules, ReceiveWindow, TransportConfig};
use ratewire_units::{Bytes, Duration, Rate};

use crate::keys::Credentials;

/// Smallest UDP payload that every path carries (RFC 9000, 14).
pub(crate) const BASE_DATAGRAM: u64 = 1200;

/// Settings of an endpoint and of its connections.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the ends know each other.
    pub credentials: Credentials,
    /// The law by which this end sends if it is the client; the server takes the client's.
    pub law: AnyLaw,
    /// The law's name and options as the other end is told: `name key=value ...`.
    pub law_name: String,
    /// What this end takes frames to hold, at most
    /// [`LONGEST_APPLICATION`](crate::wire::LONGEST_APPLICATION) bytes, as ALPN has it for TLS.
    /// Ends that name different applications do not connect; one with an empty name connects with
    /// any.
    pub application: String,
    /// Rate that the law takes for that of this host's own link.
    pub line_rate: Rate,
    /// Bytes that arrived and were not read yet, of each connection.
    pub receive_buffer: Bytes,
    /// Bytes that were written and are not acknowledged yet, of each connection.
    pub send_buffer: Bytes,
    /// Bytes that were written and never sent, of each connection, as `TCP_NOTSENT_LOWAT` has it:
    /// a sender that stops writing sends no more than these.
    pub unsent_buffer: Bytes,
    /// Longest frame to receive.
    pub longest_frame: Bytes,
    /// Largest UDP payload that is tried on a path.
    pub largest_datagram: Bytes,
    /// Longest wait for a second packet before one is acknowledged; `None` to wait for none.
    pub delayed_ack: Option<Duration>,
    /// Longest retransmission timeout. A client that wants to know soon of a server that has begun
    /// anew takes a short one, as with `TCP_RTO_MAX_MS` of Linux: the server answers a copy.
    pub max_rto: Duration,
    /// Silence after which a connection is given up.
    pub idle_timeout: Duration,
    /// Silence after which this end asks whether the other is there; `None` to let a connection
    /// without traffic end.
    pub keep_alive: Option<Duration>,
    /// Connections of an endpoint, at most.
    pub connections: usize,
}

impl Config {
    /// XCP, which without routers that speak it falls back on losses.
    pub const USUAL_LAW: &str = "xcp";

    /// The usual settings.
    pub fn new(credentials: Credentials) -> Config {
        let law_name = Self::USUAL_LAW.to_string();
        let law = AnyLaw::new(&law_name, &[]);
        Config {
            credentials,
            law: law.unwrap_or_else(|error| unreachable!("a law in the tree: {error}")),
            law_name,
            application: String::new(),
            line_rate: Rate::from_mbps(10_000),
            receive_buffer: Bytes::new(4 << 20),
            send_buffer: Bytes::new(4 << 20),
            unsent_buffer: Bytes::new(4 << 20),
            longest_frame: Bytes::new(16 << 20),
            largest_datagram: Bytes::new(65_000),
            delayed_ack: Some(Duration::from_millis(1)),
            max_rto: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(30),
            keep_alive: Some(Duration::from_secs(10)),
            connections: 10_000,
        }
    }

    /// Settings of the transport below; `packet` is the network-layer size of a full packet.
    pub(crate) fn transport(&self, packet: Bytes) -> TransportConfig {
        TransportConfig {
            packet,
            delayed_ack: self.delayed_ack,
            ack_rules: AckRules::Rfc,
            receive_window: ReceiveWindow::Fixed(self.receive_buffer),
            max_rto: self.max_rto,
            ecn: true,
            ..TransportConfig::default()
        }
    }
}
