//! Headers byte by byte, worked out by hand from the drafts: what another implementation must send
//! and read.

use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::xcp::{
    Draft, Format, HEADER_LEN, ParseError, Q4_28, XcpHeader, XcpHeaderV00, XcpView,
};

const PACKET: Bytes = Bytes::new(1500);
const V03_STANDARD: [u8; 20] =
    *b"\x06\x14\x31\x00\x00\x04\xea\x4b\x00\xa3\xd7\x0a\x00\x00\x00\x00\x00\x01\xe8\x48";
const V03_MINIMAL: [u8; 20] =
    *b"\x06\x14\x32\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xfe\x17\xb8\x00\x00\x00\x00";
const V02_STANDARD: [u8; 20] =
    *b"\x06\x14\x21\x00\x00\xa3\xd7\x0a\x00\x04\xea\x4b\x00\x01\xe8\x48\x00\x00\x00\x00";
const V00_STANDARD: [u8; 20] =
    *b"\x11\x06\x14\x00\x00\x00\x00\x28\x00\x00\x04\xe2\x00\x01\xe8\x48\x00\x00\x00\x00";

fn standard() -> XcpHeader {
    XcpHeader {
        protocol: 6,
        format: Format::Standard,
        rtt: Duration::from_millis(40),
        x: Duration::from_micros(1200),
        reverse_feedback: Throughput::ZERO,
        delta_throughput: Throughput::new(125_000.0),
    }
}

fn emitted(header: &XcpHeader, draft: Draft) -> [u8; HEADER_LEN] {
    let mut bytes = [0xaa; HEADER_LEN];
    header.emit(draft, PACKET, &mut bytes);
    bytes
}

#[test]
fn one_header_in_every_layout() {
    for (draft, bytes) in
        [(Draft::V00, V00_STANDARD), (Draft::V02, V02_STANDARD), (Draft::V03, V03_STANDARD)]
    {
        assert_eq!(emitted(&standard(), draft), bytes, "{draft:?}");
        let arrived = standard().quantise(draft, PACKET);
        assert_eq!(XcpHeader::parse(&bytes, PACKET), Ok((draft, arrived)), "{draft:?}");
    }
    let exact_in_v00 = standard().quantise(Draft::V00, PACKET);
    assert_eq!(exact_in_v00, standard());
    let v03 = standard().quantise(Draft::V03, PACKET);
    assert_eq!(v03.rtt, Q4_28::from_bits(0x00a3_d70a).duration());
    assert_eq!(v03.x, Q4_28::from_bits(0x0004_ea4b).duration());
}

#[test]
fn a_pure_acknowledgement() {
    let header = XcpHeader::minimal(6, Throughput::new(-125_000.0));
    assert_eq!(emitted(&header, Draft::V03), V03_MINIMAL);
    assert_eq!(XcpHeader::parse(&V03_MINIMAL, PACKET), Ok((Draft::V03, header)));
}

#[test]
fn draft_00_in_its_own_units() {
    let view = XcpView::new_checked(V00_STANDARD).unwrap();
    assert_eq!(view.x(), None);
    assert_eq!(view.throughput(), Some(Throughput::new(1_250_000.0)));
    let header = XcpHeaderV00::from_view(&view).unwrap();
    assert_eq!(header.rtt, Duration::from_millis(40));
    let mut bytes = [0xaa; HEADER_LEN];
    header.emit(&mut bytes);
    assert_eq!(bytes, V00_STANDARD);

    let later = XcpView::new_checked(V03_STANDARD).unwrap();
    assert_eq!(later.throughput(), None);
    assert_eq!(XcpHeaderV00::from_view(&later), None);
}

/// Draft -00 mixes ms with s and B/ms with B/s in two of its formulas (the Linux XCP thesis,
/// section 3.2). Read into units, the header leaves neither slip to make.
#[test]
fn the_unit_slips_of_draft_00_cannot_happen() {
    let mut bytes = V00_STANDARD;
    bytes[4..8].copy_from_slice(&100_u32.to_be_bytes());
    bytes[8..12].copy_from_slice(&1000_u32.to_be_bytes());
    bytes[16..20].copy_from_slice(&1_000_000_i32.to_be_bytes());
    let header = XcpHeaderV00::from_view(&XcpView::new_checked(bytes).unwrap()).unwrap();

    let window = 3000.0 + header.reverse_feedback.get() * header.rtt.secs();
    assert_eq!(window, 103_000.0, "the draft's formula gives 1e11");
    let spare = Throughput::new(1e6) - header.throughput;
    assert_eq!(spare, Throughput::ZERO, "a full link has none; the draft's formula finds 4e5 B/s");
}

#[test]
fn zero_is_unknown_and_nothing_else_becomes_zero() {
    let shortest = XcpHeader { rtt: Duration::from_ps(1), x: Duration::from_ps(1), ..standard() };
    let unknown = XcpHeader { rtt: Duration::ZERO, x: Duration::ZERO, ..standard() };
    for draft in Draft::ALL {
        let arrived = shortest.quantise(draft, PACKET);
        assert!(!arrived.rtt.is_zero() && !arrived.x.is_zero(), "{draft:?}: {arrived:?}");
        assert_eq!(unknown.quantise(draft, PACKET), unknown, "{draft:?}");
    }
}

#[test]
fn values_out_of_range_stop_at_its_ends() {
    let header = XcpHeader {
        protocol: 255,
        format: Format::Minimal,
        rtt: Duration::MAX,
        x: Duration::MAX,
        reverse_feedback: Throughput::new(f64::NEG_INFINITY),
        delta_throughput: Throughput::new(1e18),
    };
    let v03 = emitted(&header, Draft::V03);
    assert_eq!(v03[..12], *b"\xff\x14\x32\x00\xff\xff\xff\xff\xff\xff\xff\xff");
    assert_eq!(v03[12..], *b"\x80\x00\x00\x00\x7f\xff\xff\xff");
    let v00 = emitted(&header, Draft::V00);
    assert_eq!(v00[..12], *b"\x12\xff\x14\x00\xff\xff\xff\xff\x00\x00\x00\x01");
    assert_eq!(v00[12..], *b"\x7f\xff\xff\xff\x80\x00\x00\x00");
    let not_a_number = XcpHeader { delta_throughput: Throughput::new(f64::NAN), ..header };
    assert_eq!(emitted(&not_a_number, Draft::V03)[16..], [0; 4]);
}

#[test]
fn a_router_rewrites_delta_and_nothing_else() {
    for (bytes, at) in [(V03_STANDARD, 16), (V02_STANDARD, 12), (V00_STANDARD, 12)] {
        let mut packet = [bytes.as_slice(), b"data"].concat();
        let mut view = XcpView::new_checked(&mut packet[..]).unwrap();
        assert_eq!(view.delta_throughput(), Throughput::new(125_000.0));
        assert_eq!(view.payload(), b"data");
        view.set_delta_throughput(Throughput::new(-2.0));
        let mut expected = [bytes.as_slice(), b"data"].concat();
        expected[at..at + 4].copy_from_slice(&(-2_i32).to_be_bytes());
        assert_eq!(view.into_inner(), expected);
    }
}

#[test]
fn a_header_for_udp_is_not_taken_for_draft_00() {
    let mut bytes = V03_STANDARD;
    bytes[0] = 0x11;
    let (draft, header) = XcpHeader::parse(&bytes, PACKET).unwrap();
    assert_eq!((draft, header.protocol), (Draft::V03, 17));

    let mut bytes = V00_STANDARD;
    bytes[1] = 20;
    let (draft, header) = XcpHeader::parse(&bytes, PACKET).unwrap();
    assert_eq!((draft, header.protocol), (Draft::V00, 20));
}

#[test]
fn a_malformed_header_is_refused_with_its_reason() {
    let with = |mut bytes: [u8; 20], at: usize, value: u8| {
        bytes[at] = value;
        XcpHeader::parse(&bytes, PACKET).unwrap_err()
    };
    for (error, expected, text) in [
        (
            XcpHeader::parse(&V03_STANDARD[..19], PACKET).unwrap_err(),
            ParseError::TooShort { found: 19 },
            "XCP header: found 19 bytes, allowed 20 or more",
        ),
        (
            with(V03_STANDARD, 1, 40),
            ParseError::Length { found: 40 },
            "XCP Length: found 40, allowed 20",
        ),
        (
            with(V00_STANDARD, 2, 40),
            ParseError::Length { found: 40 },
            "XCP Length: found 40, allowed 20",
        ),
        (
            with(V03_STANDARD, 2, 0x41),
            ParseError::Version { found: 4, bit: 16 },
            "XCP Version: found 4 at bit 16, allowed 1 at bit 0 (draft -00), 2 at bit 16 (drafts \
             -01 and -02) or 3 at bit 16 (draft -03)",
        ),
        (
            with(V03_STANDARD, 2, 0x14),
            ParseError::Version { found: 1, bit: 16 },
            "XCP Version: found 1 at bit 16, allowed 1 at bit 0 (draft -00), 2 at bit 16 (drafts \
             -01 and -02) or 3 at bit 16 (draft -03)",
        ),
        (
            with(V00_STANDARD, 0, 0x31),
            ParseError::Version { found: 3, bit: 0 },
            "XCP Version: found 3 at bit 0, allowed 1 at bit 0 (draft -00), 2 at bit 16 (drafts \
             -01 and -02) or 3 at bit 16 (draft -03)",
        ),
        (
            with(V02_STANDARD, 2, 0x20),
            ParseError::Format { found: 0 },
            "XCP Format: found 0, allowed 1 (standard) or 2 (minimal)",
        ),
        (
            with(V00_STANDARD, 0, 0x1f),
            ParseError::Format { found: 15 },
            "XCP Format: found 15, allowed 1 (standard) or 2 (minimal)",
        ),
        (
            with(V03_STANDARD, 3, 1),
            ParseError::Unused { found: 1 },
            "XCP unused bits: found 0x01, allowed 0x00",
        ),
    ] {
        assert_eq!(error, expected);
        assert_eq!(error.to_string(), text);
    }
}
