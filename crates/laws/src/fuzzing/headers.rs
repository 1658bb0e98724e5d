//! Headers and their bytes.

use ratewire_units::{Bytes, Duration, Time};

use crate::law::{Draw, FlowContext, MAX_HEADER, Sending};
use crate::registry::{AnyLaw, Header};

/// Reads `data` as a header of the law, and as bits to flip in one that the law has written.
pub(super) fn read(law: &AnyLaw, data: &[u8]) {
    const PACKET: Bytes = Bytes::new(1500);
    arrives(law, data, PACKET);
    let mut bytes = [0; MAX_HEADER];
    let len = law.encode(&first_header(law, PACKET), PACKET, &mut bytes);
    for (byte, flip) in bytes[..len].iter_mut().zip(data) {
        *byte ^= flip;
    }
    arrives(law, &bytes[..len], PACKET);
}

/// Header of the first packet of the law's sender.
fn first_header(law: &AnyLaw, packet: Bytes) -> Header {
    let flow = FlowContext {
        mss: packet,
        packet,
        line_rate: ratewire_units::Rate::from_mbps(100),
        back_pressured: false,
        draw: Draw::new(0),
    };
    law.source(&flow).on_send(&Sending {
        now: Time::ZERO,
        packet,
        in_flight: packet,
        receive_window: Bytes::MAX,
        srtt: Duration::from_millis(100),
        rto: Duration::from_secs(1),
        limited: false,
    })
}

/// Checks bytes that may be a header. If they are one, its written form reads back, and a shorter
/// form does not.
fn arrives(law: &AnyLaw, bytes: &[u8], packet: Bytes) {
    let Ok(header) = law.decode(bytes, packet) else { return };
    let name = law.info().name;
    for figure in law.fields(&header) {
        assert!(!figure.value.is_nan(), "{name}: {figure}");
    }
    travels(law, &header, packet);
    let len = law.encode(&header, packet, &mut [0; MAX_HEADER]);
    for short in 0..len {
        assert!(law.decode(&bytes[..short], packet).is_err(), "{name}: {short} bytes are a header");
    }
}

/// Checks that a header reads back from its bytes as `quantise` predicts, and that no further
/// rounding changes it.
pub(super) fn travels(law: &AnyLaw, header: &Header, packet: Bytes) {
    let name = law.info().name;
    let mut bytes = [0; MAX_HEADER];
    let len = law.encode(header, packet, &mut bytes);
    if len == 0 {
        return;
    }
    assert!(len as u64 <= law.header_len().get(), "{name}: {len} bytes of a header");
    let arrived = law.quantise(*header, packet);
    assert_eq!(law.decode(&bytes[..len], packet).as_ref(), Ok(&arrived), "{name}");
    if law.promises().rounds_once {
        assert_eq!(law.quantise(arrived, packet), arrived, "{name}: rounded twice");
    }
}
