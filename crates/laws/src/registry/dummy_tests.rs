//! Adding a law takes its folder, its `mod` line and its line in the registry, and nothing else.
//!
//! The law here is the file that a test of this crate also registers from outside.

#![allow(dead_code)]

#[path = "../../tests/external/toy.rs"]
mod toy;

use std::string::ToString;

use super::*;
use crate::law::{Draw, FlowContext};

// This is the whole content of `registry/mod.rs` for a crate of two laws.
registry! {
    Fixed => crate::fixed::Fixed,
    Toy => toy::Toy,
}

const PACKET: Bytes = Bytes::new(1500);
const FLOW: FlowContext = FlowContext {
    mss: PACKET,
    packet: PACKET,
    line_rate: Rate::from_mbps(80),
    back_pressured: false,
    draw: Draw::new(0),
};
const LINK: LinkContext =
    LinkContext { rate: Rate::from_mbps(8), delay: Duration::ZERO, id: 1, draw: Draw::new(0) };
const NO_QUEUE: PortQueue = PortQueue { bytes: Bytes::ZERO, packets: 0 };

#[test]
fn a_line_in_the_registry_is_enough_for_a_law() {
    let names: Vec<&str> = INFOS.iter().map(|info| info.name).collect();
    assert_eq!(names, ["fixed", "toy"]);
    let toy = |gamma: &str| {
        let law = made("toy", |specs| Options::given(specs, &[("gamma", gamma)]));
        law.expect("a law")
    };
    let wrong = toy("2").unwrap_err();
    assert!(wrong.to_string().contains("allowed is a number from 0.1 to 1"), "{wrong}");
    let law = toy("0.5").unwrap();
    assert_eq!((law.info().title, law.header_len().get()), ("Toy", 9));
    assert_eq!(law.extremes(), [[("gamma", "0.1")]]);
    assert!(law.promises().pace_within_line && law.properties().goes_by_pace);

    // Forth and back: the sender then sends at the port's offer.
    let (mut source, mut sink) = (law.source(&FLOW), law.sink(&FLOW).unwrap());
    let mut port = law.port(&LINK).unwrap();
    let mut header = source.on_send(&crate::testing::sending());
    assert!(matches!(header, Header::Toy(_)));
    port.on_arrival(Time::ZERO, PACKET, &mut header, NO_QUEUE);
    port.on_departure(Time::ZERO, PACKET, &mut header, NO_QUEUE);
    sink.on_data(Time::ZERO, &law.quantise(header, PACKET));
    let answer = sink.on_ack(Time::ZERO);
    assert!(law.returns(&answer) && !law.returns(&header));
    source.on_ack(&crate::testing::acked(), &answer);
    let offer = 0.5 * 1e6 / 20.0;
    assert_eq!(source.pacing().map(ratewire_units::Throughput::get), Some(offer));
    assert_eq!(law.fields(&answer)[0].value, offer);
}
