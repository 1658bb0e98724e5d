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
//! - A part of a packet has its share of X, which is proportional to the packet, and of Delta.

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
    fn part(&self, header: &mut XcpHeader, share: f64) {
        header.x = header.x.scale(share);
        header.delta_throughput = header.delta_throughput * share;
    }
    fn join(&self, header: &mut XcpHeader, other: &XcpHeader) {
        let x = header.x + other.x;
        if x > Duration::ZERO {
            let share = other.x.ps() as f64 / x.ps() as f64;
            let rtt = header.rtt.ps() as f64 * (1.0 - share) + other.rtt.ps() as f64 * share;
            header.rtt = Duration::from_ps((rtt + 0.5) as u64);
        }
        header.x = x;
        header.delta_throughput += other.delta_throughput;
    }
    fn fed_back(&self, header: &XcpHeader) -> Throughput {
        header.reverse_feedback
    }
    fn feed_back(&self, header: &mut XcpHeader, feedback: Throughput) {
        header.reverse_feedback = feedback;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{header, law};
    use super::*;

    #[test]
    fn parts_of_a_packet_say_together_what_it_says() {
        let law = law(&[]);
        let whole = header(0.012, 0.04, 6000.0);
        let mut joined = None;
        for share in [0.5, 0.25, 0.25] {
            let mut part = whole;
            law.part(&mut part, share);
            assert_eq!(part.x, whole.x.scale(share));
            assert_eq!(part.delta_throughput, whole.delta_throughput * share);
            match &mut joined {
                None => joined = Some(part),
                Some(joined) => law.join(joined, &part),
            }
        }
        assert_eq!(joined, Some(whole));
        // Round trips count by the time that each part stands for.
        let (mut slow, fast) = (header(0.003, 0.08, 1.0), header(0.001, 0.04, 2.0));
        law.join(&mut slow, &fast);
        assert_eq!(slow, header(0.004, 0.07, 3.0));
        let (mut unknown, other) = (header(0.0, 0.0, 5.0), header(0.0, 0.0, 5.0));
        law.join(&mut unknown, &other);
        assert_eq!(unknown, header(0.0, 0.0, 10.0));
    }
}
