//! Options say what reads them.

use ratewire_laws::options::{OptionSpec, Part};
use ratewire_laws::{
    AnyLaw, FlowContext, LawInfo, LinkContext, MAX_HEADER, Sending, fuzzing, list,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

const PACKET: Bytes = Bytes::new(1500);

/// What an option can make a difference to.
#[derive(Debug, PartialEq)]
struct Parts {
    source: String,
    sink: String,
    port: String,
    /// The first packet's header.
    header: Vec<u8>,
}

/// The parts of a law as they are made.
fn parts(law: &str, options: &[(&str, &str)]) -> Option<Parts> {
    let law = AnyLaw::new(law, options).ok()?;
    let flow = FlowContext {
        mss: Bytes::new(1460),
        packet: PACKET,
        line_rate: Rate::from_mbps(100),
        back_pressured: false,
    };
    let link = LinkContext { rate: Rate::from_mbps(10), delay: Duration::from_millis(1), id: 1 };
    let source = law.source(&flow);
    let header = source.clone().on_send(&Sending {
        now: Time::ZERO,
        packet: PACKET,
        in_flight: PACKET,
        receive_window: Bytes::MAX,
        srtt: Duration::from_millis(100),
        rto: Duration::from_secs(1),
        limited: false,
    });
    let mut bytes = [0; MAX_HEADER];
    let len = law.encode(&header, PACKET, &mut bytes);
    Some(Parts {
        source: format!("{source:?} {}", law.header_len()),
        sink: format!("{:?}", law.sink(&flow)),
        port: format!("{:?}", law.port(&link)),
        header: bytes[..len].to_vec(),
    })
}

/// Which parts read an option.
fn readers(info: &LawInfo, option: &OptionSpec) -> Option<Part> {
    let reads = |part: fn(Parts) -> String| {
        fuzzing::makes_a_difference(option, |options| parts(info.name, options).map(part))
    };
    // Only a port that measures its capacity probes.
    let has_port = (info.name, option.name) == ("xcp", "probe") || reads(|parts| parts.port);
    match (reads(|parts| parts.source), reads(|parts| parts.sink), has_port) {
        (true, false, false) => Some(Part::Sender),
        (false, true, false) => Some(Part::Sink),
        (false, false, true) => Some(Part::Port),
        (true, false, true) => Some(Part::Both),
        (false, false, false) if reads(|parts| format!("{:?}", parts.header)) => Some(Part::Header),
        _ => None,
    }
}

#[test]
fn options_are_read_by_the_parts_they_say() {
    let mut wrong = Vec::new();
    for info in list() {
        for option in info.options {
            // Only with soft flow control does a sink read these.
            let said = Some(option.part).filter(|_| !option.name.starts_with("soft_"));
            let read = readers(info, option);
            if read != said {
                wrong.push((info.name, option.name, said, read));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
