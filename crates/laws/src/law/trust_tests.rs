use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::trust::{Hand, Lie};
use crate::law::{Draw, FlowContext, LinkContext, PortQueue, Sending};
use crate::registry::{AnyLaw, Header, list};

const PACKET: Bytes = Bytes::new(1500);
const FLOW: FlowContext = FlowContext {
    mss: PACKET,
    packet: PACKET,
    line_rate: Rate::from_mbps(100),
    back_pressured: false,
    draw: Draw::new(0),
};

/// Headers as their sender writes them, as they leave a port that is first idle and then
/// overloaded, and as their receiver returns them.
fn headers(law: &AnyLaw) -> Vec<[Header; 3]> {
    let link = LinkContext {
        rate: Rate::from_mbps(1),
        delay: Duration::from_millis(10),
        id: 1,
        draw: Draw::new(0),
    };
    let mut source = law.source(&FLOW);
    let (Some(mut port), mut sink) = (law.port(&link), law.sink(&FLOW)) else { return Vec::new() };
    let mut seen = Vec::new();
    for i in 0..2_000u32 {
        let now = Time::ZERO + Duration::from_millis(1) * u64::from(i);
        let queue = PortQueue { bytes: PACKET * u64::from(i), packets: i };
        while port.next_timer() <= now {
            port.on_timer(port.next_timer(), queue);
        }
        let sent = source.on_send(&Sending {
            now,
            packet: PACKET,
            in_flight: PACKET,
            receive_window: Bytes::MAX,
            srtt: Duration::from_millis(100),
            rto: Duration::from_secs(1),
            limited: false,
        });
        let mut left = sent;
        port.on_arrival(now, PACKET, &mut left, queue);
        port.on_departure(now, PACKET, &mut left, queue);
        let returned = sink.as_mut().map_or(Header::None, |sink| {
            sink.on_data(now, &left);
            sink.on_ack(now)
        });
        seen.push([sent, left, returned]);
    }
    seen
}

#[test]
fn laws_name_the_lies_that_change_a_header_and_no_others() {
    let lies = [
        ("rtt", Lie { rtt: 2.0, ..Lie::default() }),
        ("throughput", Lie { throughput: 2.0, ..Lie::default() }),
        ("ignore_feedback", Lie { ignore_feedback: true, ..Lie::default() }),
        ("inflate", Lie { inflate: 2.0, ..Lie::default() }),
    ];
    for info in list() {
        let law = AnyLaw::new(info.name, &[]).unwrap();
        let headers = headers(&law);
        let changes = |lie: &Lie| {
            headers.iter().any(|[sent, _, returned]| {
                [(Hand::Sending, sent), (Hand::Returning, returned), (Hand::Reading, returned)]
                    .into_iter()
                    .any(|(hand, honest)| {
                        let mut forged = *honest;
                        law.falsify(&mut forged, lie, hand);
                        forged != *honest
                    })
            })
        };
        for (key, lie) in &lies {
            assert_eq!(changes(lie), law.lies().contains(key), "{} and {key}", info.name);
        }
        assert!(!changes(&Lie::default()), "{}", info.name);
    }
}

#[test]
fn who_can_be_policed_claims_on_every_packet_and_is_granted_something() {
    for info in list() {
        let law = AnyLaw::new(info.name, &[]).unwrap();
        let headers = headers(&law);
        let policed = law.unpoliced().is_none();
        assert_eq!(headers.iter().any(|[sent, ..]| law.claim(sent).is_some()), policed);
        for [sent, left, returned] in &headers {
            assert_eq!(law.claim(sent).is_some(), policed, "{}", info.name);
            assert_eq!(law.grant(left).is_some(), policed, "{}", info.name);
            assert_eq!((law.claim(returned), law.grant(returned)), (None, None), "{}", info.name);
        }
    }
}
