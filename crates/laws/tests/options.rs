//! Options say what reads them.

use ratewire_laws::options::{OptionSpec, Part};
use ratewire_laws::{
    AnyLaw, Draw, FlowContext, LawInfo, LinkContext, MAX_HEADER, Sending, find, fuzzing, list,
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
        draw: Draw::new(0),
    };
    let link = LinkContext {
        rate: Rate::from_mbps(10),
        delay: Duration::from_millis(1),
        id: 1,
        draw: Draw::new(0),
    };
    let source = law.source(&flow);
    let header = law.source(&flow).on_send(&Sending {
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

/// Whether an option makes a difference to what `part` picks out, among the options that `counts`
/// is true of.
fn reads(
    info: &LawInfo,
    option: &OptionSpec,
    part: fn(Parts) -> String,
    counts: impl Fn(&[(&str, &str)]) -> bool,
) -> bool {
    let law = AnyLaw::new(info.name, &[]).expect("the defaults are valid");
    fuzzing::makes_a_difference(&law, option, |options| {
        parts(info.name, options).filter(|_| counts(options)).map(part)
    })
}

/// What reads an option.
fn part(info: &LawInfo, option: &OptionSpec) -> Option<Part> {
    let reads = |part| reads(info, option, part, |_| true);
    match (reads(|parts| parts.source), reads(|parts| parts.sink), reads(|parts| parts.port)) {
        (true, false, false) => Some(Part::Source),
        (false, true, false) => Some(Part::Sink),
        (false, false, true) => Some(Part::Port),
        (true, false, true) => Some(Part::Both),
        (false, true, true) => match option.part {
            Part::PortAndSink { with } if is_read_only_with(info, option, with) => {
                Some(option.part)
            }
            _ => None,
        },
        (false, false, false) if reads(|parts| format!("{:?}", parts.header)) => Some(Part::Header),
        _ => None,
    }
}

/// Whether sinks read an option only where another has a value that is not its default.
fn is_read_only_with(info: &LawInfo, option: &OptionSpec, with: (&str, &str)) -> bool {
    let other = info.options.iter().find(|spec| spec.name == with.0);
    other.is_some_and(|other| other.default != with.1)
        && !reads(info, option, |parts| parts.sink, |options| !options.contains(&with))
}

#[test]
fn options_are_read_by_the_parts_they_say() {
    let mut wrong = Vec::new();
    for info in list() {
        for option in info.options {
            let read = part(info, option);
            if read != Some(option.part) {
                wrong.push((info.name, option.name, option.part, read));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is given last counts.
#[test]
fn an_option_is_of_ports_where_no_sink_reads_it() {
    let spec = |name: &str| {
        let mut all = find("xcp").expect("a law").options.iter();
        all.find(|spec| spec.name == name).expect("an option")
    };
    let (soft, credit) = (("flow_control", "soft"), ("flow_control", "credit"));
    for (option, given, is_of_ports) in [
        ("alpha", vec![], true),
        ("alpha", vec![soft], false),
        ("alpha", vec![soft, ("gamma", "0.2"), credit], true),
        ("alpha", vec![credit, soft], false),
        ("gamma", vec![soft], true),
        ("soft_low", vec![], false),
    ] {
        assert_eq!(spec(option).is_of_ports(&given), is_of_ports, "{option} {given:?}");
    }
}
