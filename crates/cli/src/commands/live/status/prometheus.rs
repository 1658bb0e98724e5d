//! The status in Prometheus' text format (0.0.4): each metric's description is followed by all its
//! samples.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Add;

use super::noq::NoqPort;
use super::{Attached, ConnectionStatus, Router};

/// Type of a metric.
#[derive(Clone, Copy)]
enum Kind {
    /// A value that rises and falls.
    Gauge,
    /// A value that only rises, from the time of the attachment.
    Counter,
}

/// A metric of each interface: name, type, help, and value of a port.
type OfRouter = (&'static str, Kind, &'static str, fn(&Router) -> Option<f64>);

const OF_ROUTERS: [OfRouter; 14] = [
    ("capacity_bits_per_second", Kind::Gauge, "Rate that the law shares out.", |r| {
        Some(r.capacity_bps)
    }),
    ("arriving_bits_per_second", Kind::Gauge, "Arrival rate in the law's last interval.", |r| {
        Some(r.input_bps)
    }),
    ("flows", Kind::Gauge, "Flows, as the law estimates them.", |r| Some(r.flows)),
    ("waiting_bytes", Kind::Gauge, "Backlog when the last packet arrived.", |r| {
        Some(r.waiting_bytes as f64)
    }),
    ("mean_rtt_seconds", Kind::Gauge, "Mean RTT from packets' headers, as last known.", |r| {
        r.mean_rtt_seconds
    }),
    (
        "says_bits_per_second",
        Kind::Gauge,
        "The feedback given: a rate for each flow; under XCP the change of the total.",
        |r| Some(r.says_bps),
    ),
    (
        "packets_total",
        Kind::Counter,
        "Packets at the port; one that is segmented later counts once.",
        |r| Some(r.packets as f64),
    ),
    ("bytes_total", Kind::Counter, "Bytes of the link layer.", |r| Some(r.bytes as f64)),
    ("packets_with_header_total", Kind::Counter, "Packets with a congestion header.", |r| {
        Some(r.with_header as f64)
    }),
    (
        "packets_missed_total",
        Kind::Counter,
        "Packets that arrived while other processors were in the port.",
        |r| Some(r.missed as f64),
    ),
    ("policed_flows", Kind::Gauge, "Flows that the policer watches.", |r| {
        Some(r.police.as_ref()?.flows as f64)
    }),
    (
        "policed_entries_total",
        Kind::Counter,
        "Entries that the policer made for flows; it forgets flows for others.",
        |r| Some(r.police.as_ref()?.entries as f64),
    ),
    (
        "packets_corrected_total",
        Kind::Counter,
        "Packets whose headers the policer corrected.",
        |r| Some(r.police.as_ref()?.corrected as f64),
    ),
    ("packets_dropped_total", Kind::Counter, "Packets that the policer dropped.", |r| {
        Some(r.police.as_ref()?.dropped as f64)
    }),
];

/// A metric of each port of noq: name, type, help, and value.
type OfNoq = (&'static str, Kind, &'static str, fn(&NoqPort) -> f64);

const OF_NOQ: [OfNoq; 8] = [
    ("waiting_bytes", Kind::Gauge, "Backlog of the egress.", |p| p.waiting_bytes as f64),
    ("drops_total", Kind::Counter, "Packets that the egress has dropped.", |p| p.drops as f64),
    ("pauses_sent_total", Kind::Counter, "Pauses of the upstream.", |p| p.pauses_sent as f64),
    ("pauses_obeyed_total", Kind::Counter, "Pauses that held the queue.", |p| {
        p.pauses_obeyed as f64
    }),
    ("held_seconds_total", Kind::Counter, "Time for which the queue was held.", |p| p.held_seconds),
    ("packets_held_total", Kind::Counter, "Packets that waited when a pause ended.", |p| {
        p.packets_held as f64
    }),
    ("refused_total", Kind::Counter, "Packets that are no pause of the neighbour's.", |p| {
        p.refused as f64
    }),
    (
        "standing_seconds",
        Kind::Gauge,
        "Time for which a queue that is held has sent nothing, from a second on; 0 if it sends.",
        |p| p.standing_seconds,
    ),
];

/// A metric of the open connections of each law: name, help, and value of a connection.
type OfLaw = (&'static str, &'static str, fn(&ConnectionStatus) -> f64);

// Samples are summed by law: one series for each connection would grow without limit.
const OF_LAWS: [OfLaw; 3] = [
    ("open_connections", "Open connections that use the law.", |_| 1.0),
    ("paced_bits_per_second", "Sum of the connections' pacing rates.", |c| {
        c.rate_bps.unwrap_or_default()
    }),
    ("outstanding_bytes", "Sum of the connections' outstanding bytes.", |c| {
        c.outstanding_bytes as f64
    }),
];

impl Attached {
    pub(super) fn prometheus(&self) -> String {
        let mut text = String::new();
        // These metrics always exist, so that "nothing attached" differs from a missing exporter.
        for (name, help, count) in [
            ("routers", "Interfaces with a port of a law.", self.routers.len()),
            ("noq_ports", "Interfaces with a port of noq.", self.noq.len()),
            ("hosts", "Laws that connections use.", self.hosts.len()),
        ] {
            let one = [(String::new(), count as f64)];
            metric(&mut text, &format!("ratewire_attached_{name}"), Kind::Gauge, help, one);
        }
        for (name, kind, help, value) in OF_ROUTERS {
            let samples = self
                .routers
                .iter()
                .filter_map(|r| Some((labels(&[("iface", &r.iface), ("law", r.law)]), value(r)?)));
            metric(&mut text, &format!("ratewire_router_{name}"), kind, help, samples);
        }
        for (name, kind, help, value) in OF_NOQ {
            let samples = self.noq.iter().map(|p| (labels(&[("iface", &p.iface)]), value(p)));
            metric(&mut text, &format!("ratewire_noq_{name}"), kind, help, samples);
        }
        let counts = self.hosts.iter().flat_map(|h| {
            [
                ("taking_part", h.taking_part),
                ("plain", h.plain),
                ("refused", h.refused),
                ("chose_another", h.chose_another),
                ("fell_back", h.fell_back),
            ]
            .map(|(kind, count)| (labels(&[("law", h.law), ("kind", kind)]), count as f64))
        });
        let help = "Connections by kind: taking part, plain because the other end does not, refused by the kernel; and those taking part that chose another congestion control, or fell back because their interface no longer pauses.";
        metric(&mut text, "ratewire_host_connections_total", Kind::Counter, help, counts);
        let laws = self.hosts.iter().map(|h| h.law).chain(self.connections.iter().map(|c| c.law));
        let laws: BTreeSet<_> = laws.collect();
        for (name, help, value) in OF_LAWS {
            let samples = laws.iter().map(|law| {
                let of_law = self.connections.iter().filter(|c| c.law == *law);
                // `sum` of no samples is -0.
                (labels(&[("law", law)]), of_law.map(value).fold(0.0, f64::add))
            });
            metric(&mut text, &format!("ratewire_host_{name}"), Kind::Gauge, help, samples);
        }
        let halfway = self.halfway.iter().map(|half| (labels(&[("what", &half.what)]), 1.0));
        let help = "Partial attachments of a command that was killed or is still running.";
        metric(&mut text, "ratewire_half_attached", Kind::Gauge, help, halfway);
        text
    }
}

/// Adds a metric, unless it has no samples.
fn metric(
    text: &mut String,
    name: &str,
    kind: Kind,
    help: &str,
    samples: impl IntoIterator<Item = (String, f64)>,
) {
    let mut samples = samples.into_iter().peekable();
    if samples.peek().is_none() {
        return;
    }
    let kind = match kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
    };
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = match labels.is_empty() {
            true => writeln!(text, "{name} {value}"),
            false => writeln!(text, "{name}{{{labels}}} {value}"),
        };
    }
}

fn labels(all: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
    all.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Escapes a label: names of interfaces may contain anything but blanks and slashes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Halfway, Host, Police};
    use super::*;

    fn router(iface: &str, law: &'static str, mean_rtt_seconds: Option<f64>) -> Router {
        Router {
            iface: iface.to_string(),
            law,
            capacity_bps: 98e6,
            is_measured: false,
            input_bps: 97e6,
            flows: 3.0,
            waiting_bytes: 1500,
            mean_rtt_seconds,
            says_bps: -0.5,
            packets: 10,
            bytes: 15_000,
            with_header: 9,
            missed: 1,
            options: BTreeMap::new(),
            police: (law == "xcp").then_some(Police {
                flows: 3,
                entries: 3,
                corrected: 5,
                dropped: 7,
            }),
        }
    }

    fn connection(law: &'static str, rate_bps: Option<f64>) -> ConnectionStatus {
        let end = || "[fd00::1]:80".to_string();
        let (local, remote) = (end(), end());
        let (window_bytes, outstanding_bytes) = (3000, 1500);
        ConnectionStatus {
            law,
            local,
            remote,
            rate_bps,
            window_bytes,
            outstanding_bytes,
            rtt_seconds: None,
        }
    }

    /// A metric's type, and its samples by their labels.
    #[derive(Debug, Default)]
    struct Metric {
        kind: String,
        samples: BTreeMap<String, f64>,
    }

    /// Reads the text and checks the rules of the format: HELP and TYPE come once and first,
    /// samples of a metric are in one group, and no sample comes twice.
    fn read(text: &str) -> BTreeMap<String, Metric> {
        let mut all: BTreeMap<String, Metric> = BTreeMap::new();
        let mut current = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a name and what it is");
                assert!(!help.is_empty() && !help.contains('\\'), "{line}");
                let of_kind = lines.next().and_then(|line| line.strip_prefix("# TYPE "));
                let (named, kind) = of_kind.and_then(|of| of.split_once(' ')).expect("its type");
                assert_eq!(named, name);
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
                assert!(["counter", "gauge"].contains(&kind), "{name} is a {kind}");
                let metric = Metric { kind: kind.to_string(), ..Metric::default() };
                assert!(all.insert(name.to_string(), metric).is_none(), "{name} comes twice");
                current = name.to_string();
                continue;
            }
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let (name, labels) = match series.split_once('{') {
                Some((name, rest)) => (name, rest.strip_suffix('}').expect("the labels' end")),
                None => (series, ""),
            };
            assert_eq!(name, current, "a sample is below its type: {line}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
            let value = value.parse().expect("a number");
            let samples = &mut all.get_mut(name).expect("its type").samples;
            assert!(samples.insert(labels.to_string(), value).is_none(), "twice: {line}");
        }
        assert!(all.values().all(|metric| !metric.samples.is_empty()), "{text}");
        all
    }

    #[test]
    fn each_metric_says_what_it_is_before_all_of_its_samples() {
        let attached = Attached {
            routers: vec![router("eth1", "xcp", Some(0.02)), router("a\"\\b", "jetmax", None)],
            noq: vec![NoqPort::of("left"), NoqPort::of("right")],
            hosts: vec![Host {
                law: "xcp",
                taking_part: 4,
                plain: 2,
                refused: 0,
                chose_another: 1,
                fell_back: 0,
            }],
            connections: vec![
                connection("xcp", Some(1e6)),
                connection("xcp", None),
                connection("rcp", Some(2e6)),
            ],
            halfway: vec![Halfway { what: "rw_rcp".into(), remedy: String::new() }],
        };
        let said = read(&attached.prometheus());
        assert_eq!(said.len(), 3 + OF_ROUTERS.len() + OF_NOQ.len() + 1 + OF_LAWS.len() + 1);
        let samples = |name: &str| &said[name].samples;
        assert_eq!(samples("ratewire_attached_routers")[""], 2.0);
        assert_eq!(samples("ratewire_attached_hosts")[""], 1.0);
        assert_eq!(samples("ratewire_attached_noq_ports")[""], 2.0);
        assert_eq!(samples("ratewire_noq_packets_held_total")[r#"iface="right""#], 7.0);
        assert_eq!(samples("ratewire_router_bytes_total")[r#"iface="eth1",law="xcp""#], 15_000.0);
        assert_eq!(samples("ratewire_router_flows").len(), 2);
        assert!(samples("ratewire_router_flows").contains_key(r#"iface="a\"\\b",law="jetmax""#));
        assert_eq!(samples("ratewire_router_mean_rtt_seconds").len(), 1, "JetMax knows of none");
        let of_police = BTreeMap::from([(r#"iface="eth1",law="xcp""#.to_string(), 7.0)]);
        assert_eq!(*samples("ratewire_router_packets_dropped_total"), of_police);
        assert_eq!(samples("ratewire_host_connections_total")[r#"law="xcp",kind="plain""#], 2.0);
        let chose = r#"law="xcp",kind="chose_another""#;
        assert_eq!(samples("ratewire_host_connections_total")[chose], 1.0);
        assert_eq!(samples("ratewire_host_open_connections")[r#"law="xcp""#], 2.0);
        assert_eq!(samples("ratewire_host_paced_bits_per_second")[r#"law="rcp""#], 2e6);
        assert_eq!(samples("ratewire_half_attached")[r#"what="rw_rcp""#], 1.0);
        assert_eq!(said["ratewire_host_outstanding_bytes"].kind, "gauge");
        let idle = Attached { connections: vec![], ..attached }.prometheus();
        assert!(idle.contains("ratewire_host_open_connections{law=\"xcp\"} 0\n"), "{idle}");
    }

    #[test]
    fn of_what_is_not_there_only_that_is_said() {
        let (routers, noq, hosts) = (vec![], vec![], vec![]);
        let (connections, halfway) = (vec![], vec![]);
        let said = Attached { routers, noq, hosts, connections, halfway }.prometheus();
        let said = read(&said).into_iter().map(|(name, metric)| (name, metric.samples[""]));
        let none = ["hosts", "noq_ports", "routers"]
            .map(|what| (format!("ratewire_attached_{what}"), 0.0));
        assert!(said.eq(none));
    }
}
