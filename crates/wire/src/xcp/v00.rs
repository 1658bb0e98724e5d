use ratewire_units::{Bytes, Duration, Throughput};

use super::rate::{delta_from_wire, delta_to_wire};
use super::{Draft, Format, HEADER_LEN, XcpHeader, XcpView};

const PS_PER_MS: u64 = 1_000_000_000;

/// The header of draft -00, which carries the sender's throughput where later drafts carry the time
/// between its packets.
///
/// [`XcpHeader`] can be sent and read in this layout too, given the packet size. This struct is for
/// programs that use -00 alone, and is exact: `emit` writes the bytes that it was read from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct XcpHeaderV00 {
    /// IANA number of the next header (6 for TCP).
    pub protocol: u8,
    /// Standard or minimal.
    pub format: Format,
    /// The sender's round-trip time; zero = unknown. On the wire whole ms, rounded up, up to
    /// 2^32 - 1 ms (49.7 days).
    pub rtt: Duration,
    /// The sender's throughput; zero = unknown. On the wire whole B/ms, rounded up, from 0 up to
    /// 2^32 - 1 B/ms (34.36 Tbit/s), in steps of 8 kbit/s.
    pub throughput: Throughput,
    /// The receiver's copy of the Delta_Throughput that arrived there; whole B/s on the wire.
    pub reverse_feedback: Throughput,
    /// The change of throughput wished for, then allotted; whole B/s on the wire.
    pub delta_throughput: Throughput,
}

impl XcpHeaderV00 {
    /// The header under `view`; `None` if it is of another draft.
    pub fn from_view<T: AsRef<[u8]>>(view: &XcpView<T>) -> Option<XcpHeaderV00> {
        Some(XcpHeaderV00 {
            protocol: view.protocol(),
            format: view.format(),
            rtt: view.rtt(),
            throughput: view.throughput()?,
            reverse_feedback: view.reverse_feedback(),
            delta_throughput: view.delta_throughput(),
        })
    }

    /// Writes the header into `buf`, rounding and saturating as its fields say.
    pub fn emit(&self, buf: &mut [u8; HEADER_LEN]) {
        write(
            buf,
            (self.format, self.protocol),
            rtt_to_wire(self.rtt),
            throughput_to_wire(self.throughput),
            (self.delta_throughput, self.reverse_feedback),
        );
    }
}

impl XcpHeader {
    pub(super) fn emit_v00(&self, packet_size: Bytes, buf: &mut [u8; HEADER_LEN]) {
        write(
            buf,
            (self.format, self.protocol),
            rtt_to_wire(self.rtt),
            x_to_wire(self.x, packet_size),
            (self.delta_throughput, self.reverse_feedback),
        );
    }

    pub(super) fn quantise_v00(&self, packet_size: Bytes) -> XcpHeader {
        XcpHeader {
            rtt: rtt_from_wire(rtt_to_wire(self.rtt)),
            x: x_from_wire(x_to_wire(self.x, packet_size), packet_size),
            reverse_feedback: delta_from_wire(delta_to_wire(self.reverse_feedback)),
            delta_throughput: delta_from_wire(delta_to_wire(self.delta_throughput)),
            ..*self
        }
    }
}

fn write(
    buf: &mut [u8; HEADER_LEN],
    (format, protocol): (Format, u8),
    rtt_ms: u32,
    bytes_per_ms: u32,
    (delta, reverse): (Throughput, Throughput),
) {
    let at = Draft::V00.layout();
    buf[..4].copy_from_slice(&Draft::V00.word0(format, protocol));
    buf[at.rtt..][..4].copy_from_slice(&rtt_ms.to_be_bytes());
    buf[at.pace..][..4].copy_from_slice(&bytes_per_ms.to_be_bytes());
    buf[at.delta_throughput..][..4].copy_from_slice(&delta_to_wire(delta).to_be_bytes());
    buf[at.reverse_feedback..][..4].copy_from_slice(&delta_to_wire(reverse).to_be_bytes());
}

/// Whole milliseconds, rounded up, so that only zero is unknown.
fn rtt_to_wire(rtt: Duration) -> u32 {
    u32::try_from(rtt.ps().div_ceil(PS_PER_MS)).unwrap_or(u32::MAX)
}

pub(super) fn rtt_from_wire(ms: u32) -> Duration {
    Duration::from_millis(u64::from(ms))
}

/// Whole bytes per millisecond, rounded up; negative and NaN give 0.
fn throughput_to_wire(t: Throughput) -> u32 {
    let v = t.get();
    let whole = (v / 1000.0) as u32;
    if f64::from(whole) * 1000.0 < v { whole.saturating_add(1) } else { whole }
}

pub(super) fn throughput_from_wire(bytes_per_ms: u32) -> Throughput {
    Throughput::new(f64::from(bytes_per_ms) * 1000.0)
}

/// One packet per X, in whole bytes per millisecond. In integers, because a float division of exact
/// values may land a hair above a whole number and would then be rounded up by a whole unit.
fn x_to_wire(x: Duration, packet_size: Bytes) -> u32 {
    if x.is_zero() {
        return 0;
    }
    let rate = byte_ps_per_ms(packet_size).div_ceil(u128::from(x.ps()));
    u32::try_from(rate).unwrap_or(u32::MAX)
}

/// The time of one packet, rounded up so that [`x_to_wire`] rounds up to where it came from.
pub(super) fn x_from_wire(bytes_per_ms: u32, packet_size: Bytes) -> Duration {
    if bytes_per_ms == 0 {
        return Duration::ZERO;
    }
    let ps = byte_ps_per_ms(packet_size).div_ceil(u128::from(bytes_per_ms));
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

fn byte_ps_per_ms(packet_size: Bytes) -> u128 {
    u128::from(packet_size.get()) * u128::from(PS_PER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1500);

    #[test]
    fn times_round_up_to_whole_milliseconds() {
        assert_eq!(rtt_to_wire(Duration::ZERO), 0);
        assert_eq!(rtt_to_wire(Duration::from_ps(1)), 1);
        assert_eq!(rtt_to_wire(Duration::from_millis(40)), 40);
        assert_eq!(rtt_to_wire(Duration::from_millis(40) + Duration::from_ps(1)), 41);
        assert_eq!(rtt_to_wire(Duration::MAX), u32::MAX);
        assert_eq!(rtt_to_wire(rtt_from_wire(u32::MAX)), u32::MAX);
    }

    #[test]
    fn throughputs_round_up_to_whole_bytes_per_millisecond() {
        for (v, expected) in [
            (0.0, 0),
            (-5.0, 0),
            (f64::NAN, 0),
            (1e-9, 1),
            (1_250_000.0, 1250),
            (1_250_000.1, 1251),
            (4_294_967_295_000.0, u32::MAX),
            (f64::INFINITY, u32::MAX),
        ] {
            assert_eq!(throughput_to_wire(Throughput::new(v)), expected, "{v}");
        }
    }

    #[test]
    fn largest_throughput_is_34_terabits_in_steps_of_8_kilobits() {
        let largest = throughput_from_wire(u32::MAX);
        assert_eq!(largest.get(), 4_294_967_295_000.0);
        assert!((largest.bps() / 1e12 - 34.36).abs() < 0.001, "neither 32 Tb/s nor 34 Gb/s");
        assert_eq!(throughput_from_wire(1).bps(), 8000.0);
    }

    #[test]
    fn x_and_throughput_are_one_packet_apart() {
        assert_eq!(x_to_wire(Duration::from_micros(1200), PACKET), 1250);
        assert_eq!(x_from_wire(1250, PACKET), Duration::from_micros(1200));
        assert_eq!(x_to_wire(Duration::ZERO, PACKET), 0);
        assert_eq!(x_from_wire(0, PACKET), Duration::ZERO);
        assert_eq!(x_to_wire(Duration::MAX, PACKET), 1, "slow is not unknown");
        assert_eq!(x_to_wire(Duration::from_ps(1), PACKET), u32::MAX);
        assert_eq!(x_from_wire(u32::MAX, PACKET), Duration::from_ps(350));
        assert_eq!(x_from_wire(1, Bytes::MAX), Duration::MAX);
    }

    #[test]
    fn without_a_packet_size_neither_is_known() {
        assert_eq!(x_to_wire(Duration::from_millis(1), Bytes::ZERO), 0);
        assert_eq!(x_from_wire(1250, Bytes::ZERO), Duration::ZERO);
    }
}
