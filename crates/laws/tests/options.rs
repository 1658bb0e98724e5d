//! Options say of which part of a law they are.

use ratewire_laws::options::Kind;
use ratewire_laws::{AnyLaw, FlowContext, LinkContext, list};
use ratewire_units::{Bytes, Duration, Rate};

/// Values that are allowed, one of which is not the default.
fn values(kind: Kind) -> Vec<String> {
    match kind {
        Kind::Switch => vec!["true".into(), "false".into()],
        Kind::Number(least, most) => {
            [0.3, 0.7].map(|share| (least + share * (most.min(100.0) - least)).to_string()).into()
        }
        Kind::Time => vec!["70 ms".into(), "30 ms".into()],
        Kind::Rate(_) => vec!["7 Mbit/s".into()],
        Kind::Size(_) => vec!["7 packets".into(), "9 packets".into()],
        Kind::Word(words) => words.iter().map(ToString::to_string).collect(),
    }
}

/// The source and the sink of a law, and its port, as they are made.
fn parts(law: &str, options: &[(&str, &str)]) -> Option<(String, String)> {
    let law = AnyLaw::new(law, options).ok()?;
    let flow = FlowContext {
        mss: Bytes::new(1460),
        packet: Bytes::new(1500),
        line_rate: Rate::from_mbps(100),
        back_pressured: false,
    };
    let link = LinkContext { rate: Rate::from_mbps(10), delay: Duration::from_millis(1), id: 1 };
    let ends = format!("{:?} {:?} {}", law.source(&flow), law.sink(&flow), law.header_len());
    Some((ends, format!("{:?}", law.port(&link))))
}

#[test]
fn options_of_ports_are_those_that_change_ports_and_nothing_else() {
    for info in list() {
        let (ends, port) = parts(info.name, &[]).expect("a law without options");
        for option in info.options {
            let changed = values(option.kind).into_iter().filter_map(|value| {
                let (other_ends, other_port) = parts(info.name, &[(option.name, &value)])?;
                Some((other_ends != ends, other_port != port))
            });
            let changed: Vec<(bool, bool)> = changed.collect();
            let of_ends = changed.iter().any(|(ends, _)| *ends);
            // Only a port that measures its capacity probes.
            let what = (info.name, option.name);
            let of_port = what == ("xcp", "probe") || changed.iter().any(|(_, port)| *port);
            assert_eq!(option.is_of_ports(), of_port && !of_ends, "{what:?}");
        }
    }
}
