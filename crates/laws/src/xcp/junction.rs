//! Headers at a junction: X and RTT state the flow's rate, and a packet's Delta_Throughput is its
//! part of the change.
//!
//! The Anypoint paper has the header of SIGCOMM 2002: `cwnd`, `rtt`, and the flow's whole wish. In
//! draft -03 a packet carries `X = packet * rtt / cwnd` and its part of the wish; a flow sends one
//! part in each X.
//! - Split: `cwnd_k = beta_k cwnd` is `X_k = X / beta_k`. With the share `beta_k` of the packets,
//!   `k` gets that share of the wish: Delta stays.
//! - Merge: `cwnd = sum cwnd_i` and `rtt = cwnd / sum(cwnd_i / rtt_i)` are `1/X = sum 1/X_i` and
//!   the mean of `rtt_i` by rate. The sum of packets carries the sum of wishes: Delta stays.

use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::Xcp;
use crate::junction::{Declared, Divisible, Feedback};

impl Divisible for Xcp {
    type Header = XcpHeader;

    fn feedback(&self) -> Feedback {
        Feedback::Change
    }
    fn declared(&self, header: &XcpHeader, packet: Bytes) -> Option<Declared> {
        (header.format == Format::Standard).then(|| Declared {
            rate: Throughput::over(packet, header.x),
            rtt: header.rtt,
            wish: header.delta_throughput,
        })
    }
    fn redeclare(&self, header: &mut XcpHeader, factor: f64, rtt: Duration) {
        header.x = header.x.scale(1.0 / factor);
        header.rtt = rtt;
    }
    fn fed_back(&self, header: &XcpHeader) -> Throughput {
        header.reverse_feedback
    }
    fn feed_back(&self, header: &mut XcpHeader, feedback: Throughput) {
        header.reverse_feedback = feedback;
    }
}
