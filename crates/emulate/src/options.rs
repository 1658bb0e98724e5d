//! Which of a law's options count in real time.

use ratewire_laws::AnyLaw;

use crate::control::control;

/// Whether an option of a law does nothing: the kernel's senders have none of a law's, only its ports do.
pub fn ignores(law: &AnyLaw, option: &str) -> bool {
    control(law).is_some() && !of_ports(law).contains(&option)
}

/// The options that a law's ports read.
fn of_ports(law: &AnyLaw) -> &'static [&'static str] {
    match law {
        AnyLaw::Xcp(_) => &[
            "alpha",
            "beta",
            "gamma",
            "capacity",
            "measure_capacity",
            "probe",
            "initial_interval",
            "min_interval",
            "max_interval",
            "allowed_queue",
            "queue_measure",
            "rtt_zero",
        ],
        AnyLaw::Rcp(_) => &[
            "alpha",
            "beta",
            "gamma",
            "slot",
            "initial_rtt",
            "initial_rate",
            "min_packets",
            "capacity",
        ],
        AnyLaw::PiqiRcp(_) => &[
            "integral",
            "proportional",
            "gamma",
            "slot",
            "initial_rtt",
            "initial_rate",
            "min_packets",
            "capacity",
        ],
        AnyLaw::XcpKernel(_)
        | AnyLaw::RcpKernel(_)
        | AnyLaw::PiqiRcpKernel(_)
        | AnyLaw::JetmaxKernel(_) => &["capacity"],
        AnyLaw::Dctcp(_) => &["threshold"],
        // JetMax's are those of the kernel, as they are.
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::options::Kind;
    use ratewire_laws::{LinkContext, list};
    use ratewire_units::{Duration, Rate};

    use super::*;
    use crate::dialect::adapt;

    /// Values that are allowed, one of which is not the default.
    fn values(kind: Kind) -> Vec<String> {
        match kind {
            Kind::Switch => vec!["true".into(), "false".into()],
            Kind::Number(least, most) => [0.3, 0.7]
                .map(|share| (least + share * (most.min(100.0) - least)).to_string())
                .into(),
            Kind::Time => vec!["70 ms".into(), "30 ms".into()],
            Kind::Rate(_) => vec!["7 Mbit/s".into()],
            Kind::Size(_) => vec!["7 packets".into(), "9 packets".into()],
            Kind::Word(words) => words.iter().map(ToString::to_string).collect(),
        }
    }

    /// A port of the law with these options, as an emulated run has it.
    fn port(law: &str, options: &[(&str, &str)]) -> Option<String> {
        let mut laws = [AnyLaw::new(law, options).ok()?];
        adapt(&mut laws);
        let delay = Duration::from_millis(1);
        let context = LinkContext { rate: Rate::from_mbps(10), delay, id: 1 };
        Some(format!("{:?}", laws[0].port(&context)))
    }

    #[test]
    fn an_option_is_ignored_that_changes_no_port() {
        for info in list() {
            let law = AnyLaw::new(info.name, &[]).unwrap();
            if control(&law).is_none() {
                assert!(info.options.iter().all(|option| !ignores(&law, option.name)));
                continue;
            }
            for option in info.options {
                // Only a port that measures its capacity probes.
                let base: &[_] = match option.name {
                    "probe" if info.name == "xcp" => &[("measure_capacity", "true")],
                    _ => &[],
                };
                let plain = port(info.name, base);
                let changes = values(option.kind).iter().any(|value| {
                    let with = port(info.name, &[base, &[(option.name, value)]].concat());
                    with.is_some() && with != plain
                });
                let what = (info.name, option.name);
                assert_eq!(ignores(&law, option.name), !changes, "{what:?}");
            }
        }
    }
}
