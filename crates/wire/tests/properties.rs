//! What must hold for every header, on values drawn at random.

use proptest::array::uniform20;
use proptest::prelude::*;
use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::fuzzing;
use ratewire_wire::xcp::{Draft, Format, HEADER_LEN, Q4_28, XcpHeader, XcpView};

fn drafts() -> impl Strategy<Value = Draft> {
    prop::sample::select(&Draft::ALL[..])
}

/// Bytes of a valid header: any fields under a correct first word.
fn valid() -> impl Strategy<Value = [u8; HEADER_LEN]> {
    (uniform20(any::<u8>()), drafts(), 1..=2_u8).prop_map(|(mut bytes, draft, format)| {
        let kind = draft.version() << 4 | format;
        let (at_kind, at_length) = if draft == Draft::V00 { (0, 2) } else { (2, 1) };
        (bytes[at_kind], bytes[at_length], bytes[3]) = (kind, 20, 0);
        bytes
    })
}

/// Any values, most of them within what a header can carry.
fn headers() -> impl Strategy<Value = XcpHeader> {
    let time = || prop_oneof![4 => 0..=16_000_000_000_000_u64, 1 => any::<u64>()];
    let delta = || prop_oneof![4 => -3e9..3e9, 1 => any::<f64>()];
    (any::<u8>(), any::<bool>(), time(), time(), delta(), delta()).prop_map(
        |(protocol, minimal, rtt, x, reverse, delta)| XcpHeader {
            protocol,
            format: if minimal { Format::Minimal } else { Format::Standard },
            rtt: Duration::from_ps(rtt),
            x: Duration::from_ps(x),
            reverse_feedback: Throughput::new(reverse),
            delta_throughput: Throughput::new(delta),
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        fuzzing::xcp_header(&bytes);
    }

    #[test]
    fn valid_bytes_survive_reading_and_writing(bytes in valid()) {
        prop_assert!(XcpView::new_checked(bytes).is_ok());
        fuzzing::xcp_header(&bytes);
    }

    #[test]
    fn quantise_is_what_arrives(header in headers(), draft in drafts(), size in 0..=65_535_u64) {
        let size = Bytes::new(size);
        let mut bytes = [0xaa; HEADER_LEN];
        header.emit(draft, size, &mut bytes);
        let arrived = header.quantise(draft, size);
        prop_assert_eq!(XcpHeader::parse(&bytes, size), Ok((draft, arrived)));
    }

    #[test]
    fn nothing_moves_by_more_than_half_a_unit(header in headers(), v03 in any::<bool>()) {
        let draft = if v03 { Draft::V03 } else { Draft::V02 };
        let arrived = header.quantise(draft, Bytes::ZERO);
        for (sent, got) in [(header.rtt, arrived.rtt), (header.x, arrived.x)] {
            let sent = sent.ps().clamp(0, Q4_28::MAX.duration().ps());
            let half_unit = if sent < 1863 { 3725 } else { 1863 };
            prop_assert!(sent.abs_diff(got.ps()) <= half_unit, "{sent} ps became {} ps", got.ps());
        }
        let (sent, got) = (header.delta_throughput.get(), arrived.delta_throughput.get());
        let sent = sent.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
        prop_assert!((sent - got).abs() <= 0.5, "{sent} B/s became {got} B/s");
    }

    #[test]
    fn every_q4_28_survives(bits in any::<u32>()) {
        let value = Q4_28::from_bits(bits);
        prop_assert_eq!(Q4_28::from_duration(value.duration()), value);
    }

    #[test]
    fn throughput_survives_x_within_the_documented_bound(
        size in 1..=65_535_u64,
        part in 0.0..1.0_f64,
    ) {
        let bound = (size as f64 * 1e9).sqrt();
        let rate = ((bound * part) as u32).to_be_bytes();
        let mut bytes = *b"\x11\x06\x14\x00\x00\x00\x00\x28????\x00\x01\xe8\x48\x00\x00\x00\x00";
        bytes[8..12].copy_from_slice(&rate);
        let (_, header) = XcpHeader::parse(&bytes, Bytes::new(size)).unwrap();
        let mut again = [0xaa; HEADER_LEN];
        header.emit(Draft::V00, Bytes::new(size), &mut again);
        prop_assert_eq!(bytes, again);
    }
}
