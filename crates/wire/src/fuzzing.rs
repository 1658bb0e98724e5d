//! What must hold for any bytes at all. Shared by the fuzz targets and the test that replays their
//! corpus, so that what the fuzzer found once stays found.

use ratewire_units::{Bytes, Duration, Throughput};

use crate::xcp::{Draft, Format, HEADER_LEN, XcpHeader, XcpHeaderV00, XcpView};

/// Reads `data` as a header, and as the values of one to write.
///
/// # Panics
/// When reading and writing disagree.
pub fn xcp_header(data: &[u8]) {
    read(data);
    if let Some(values) = data.first_chunk() {
        write(values);
    }
}

fn read(data: &[u8]) {
    let parsed = XcpHeader::parse(data, Bytes::new(1500));
    let view = match XcpView::new_checked(data) {
        Ok(view) => view,
        Err(error) => return assert_eq!(parsed, Err(error), "the view and parse disagree"),
    };
    let header = view.header(Bytes::new(1500));
    assert_eq!(parsed, Ok((view.draft(), header)));
    assert_eq!(view.payload(), &data[HEADER_LEN..]);

    let mut copy = [0xaa; HEADER_LEN];
    match XcpHeaderV00::from_view(&view) {
        Some(old) => old.emit(&mut copy),
        None => header.emit(view.draft(), Bytes::ZERO, &mut copy),
    }
    assert_eq!(copy, data[..HEADER_LEN], "reading and writing lost something");

    let delta = Throughput::new(-7.0);
    if let Ok(mut view) = XcpView::new_checked(&mut copy[..]) {
        view.set_delta_throughput(delta);
    }
    let changed = XcpHeader::parse(&copy, Bytes::new(1500)).map(|(_, header)| header);
    assert_eq!(changed, Ok(XcpHeader { delta_throughput: delta, ..header }));
}

fn write(values: &[u8; 36]) {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&values[at..at + 8]);
        u64::from_be_bytes(word)
    };
    let header = XcpHeader {
        protocol: values[0],
        format: if values[1] & 1 == 0 { Format::Standard } else { Format::Minimal },
        rtt: Duration::from_ps(word(2)),
        x: Duration::from_ps(word(10)),
        reverse_feedback: Throughput::new(f64::from_bits(word(18))),
        delta_throughput: Throughput::new(f64::from_bits(word(26))),
    };
    let packet_size = Bytes::new(u64::from(u16::from_be_bytes([values[34], values[35]])));
    for draft in Draft::ALL {
        let mut bytes = [0xaa; HEADER_LEN];
        header.emit(draft, packet_size, &mut bytes);
        let arrived = header.quantise(draft, packet_size);
        assert_eq!(XcpHeader::parse(&bytes, packet_size), Ok((draft, arrived)));
        assert_eq!(arrived.rtt.is_zero(), header.rtt.is_zero(), "only zero is unknown");
        if draft != Draft::V00 {
            assert_eq!(arrived.x.is_zero(), header.x.is_zero(), "only zero is unknown");
            assert_eq!(arrived.quantise(draft, packet_size), arrived, "rounded twice");
        }
    }
}
