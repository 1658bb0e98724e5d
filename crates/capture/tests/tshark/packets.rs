//! Packets' headers.

use ratewire_laws::{AnyLaw, Header};
use ratewire_net::spec::LinkId;
use ratewire_net::{AckFlags, Body};
use ratewire_sim::dumbbell::{BOTTLENECK, Dumbbell};
use ratewire_sim::record::PacketSeen;
use ratewire_sim::setup::Setup;
use ratewire_transport::TransportConfig;
use ratewire_units::{Bytes, Duration, Rate};

use crate::{captured, tshark};

/// Half a second of two flows through 10 Mbit/s, with headers that have room for TCP.
fn setup(law: &str, queue: u32) -> Setup {
    let law = AnyLaw::new(law, &[]).unwrap();
    let mut dumbbell =
        Dumbbell::new(law, 2, Rate::from_bps(10_000_000), Duration::from_millis(40), queue);
    dumbbell.duration = Duration::from_millis(500);
    dumbbell.transport = TransportConfig::default();
    let mut setup = dumbbell.setup();
    let reverse = setup.network.links.iter().position(|l| l.name == "r2->r1").unwrap();
    setup.captured_links = vec![BOTTLENECK, LinkId(reverse as u32)];
    setup
}

/// Fields of every packet, and fields that TCP analysis leaves empty when nothing is lost.
const COMMON: [&str; 8] = [
    "_ws.malformed",
    "ip.checksum.status",
    "frame.interface_name",
    "frame.time_epoch",
    "frame.len",
    "ip.len",
    "tcp.len",
    "tcp.flags.syn",
];
const COMPLAINTS: [&str; 7] = [
    "tcp.analysis.lost_segment",
    "tcp.analysis.out_of_order",
    "tcp.analysis.retransmission",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "_ws.expert.group",
];

fn fields(more: &[&'static str]) -> Vec<&'static str> {
    [&COMMON, more].concat()
}

/// Checks that the common fields are those of the simulated packet. Returns its SYN flag.
fn check_common(seen: &PacketSeen, row: &[String]) -> bool {
    assert_eq!(row[0], "", "malformed: {row:?}");
    assert_eq!(row[1], "1", "IP checksum: {row:?}");
    let packet = &seen.packet;
    assert_eq!(row[2], if packet.link == BOTTLENECK { "r1->r2" } else { "r2->r1" });
    let ns = packet.at.ps() / 1000;
    assert_eq!(row[3], format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000));
    let opens = match packet.content.body {
        Body::Ack { flags, .. } => flags.contains(AckFlags::OPENS),
        body => body == Body::Open,
    };
    let selective = packet.ack.is_some_and(|ack| !ack.sack.is_empty());
    if !opens && !selective {
        let size = packet.label.size.to_string();
        assert_eq!(row[4..6], [size.clone(), size]);
    }
    opens
}

fn payload(body: &Body) -> String {
    match body {
        Body::Data { payload, .. } => payload.to_string(),
        _ => "0".into(),
    }
}

#[test]
fn xcp_headers_are_shown() {
    let setup = setup("xcp", 500);
    let (seen, file) = captured(&setup, false);
    let names = fields(&["xcp.delta_throughput", "xcp.rtt", "xcp.x", "xcp.reverse_feedback"]);
    let Some(rows) = tshark("headers", &file, &names) else { return };
    assert_eq!(rows.len(), seen.len());
    let mut known = 0;
    for (seen, row) in seen.iter().zip(&rows) {
        let opens = check_common(seen, row);
        assert_eq!(row[7] == "1", opens);
        let Header::Xcp(header) = seen.packet.content.header else {
            assert!(opens && row[8..].iter().all(String::is_empty), "{row:?}");
            continue;
        };
        let shown: Vec<f64> = row[8..].iter().map(|field| field.parse().unwrap()).collect();
        assert!((shown[0] - header.delta_throughput.get()).abs() <= 0.5, "{row:?}");
        assert!((shown[1] - header.rtt.secs()).abs() < 1e-8, "{row:?}");
        assert!((shown[2] - header.x.secs()).abs() < 1e-8, "{row:?}");
        assert!((shown[3] - header.reverse_feedback.get()).abs() <= 0.5, "{row:?}");
        assert_eq!(row[6], payload(&seen.packet.content.body), "{row:?}");
        known += u32::from(shown.iter().any(|value| *value != 0.0) && !header.rtt.is_zero());
    }
    assert!(known > 100, "only {known} packets of a known RTT");
}

#[test]
fn the_time_to_live_falls_at_each_router() {
    let mut setup = setup("newreno", 500);
    let links = setup.network.links.iter().zip((0..).map(LinkId));
    setup.captured_links = links.map(|(_, link)| link).collect();
    let (seen, file) = captured(&setup, false);
    let names = ["frame.interface_name", "ip.ttl", "ip.checksum.status"];
    let Some(rows) = tshark("ttl", &file, &names) else { return };
    assert_eq!(rows.len(), seen.len());
    // Three links there and three back, each way with two routers.
    let first = |name: &str| name.starts_with('s') || name.starts_with('d');
    let mut counts = [0; 3];
    for row in &rows {
        let ttl = match row[0].as_str() {
            "r1->r2" | "r2->r1" => 63,
            name if first(name) => 64,
            _ => 62,
        };
        assert_eq!((row[1].as_str(), row[2].as_str()), (ttl.to_string().as_str(), "1"), "{row:?}");
        counts[64 - ttl] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// The fields of a law's header: names in its documentation and names in the dissector.
type Shown = (&'static str, &'static [(&'static str, &'static str)]);

const RATES: [&str; 3] = ["rate", "RTT", "reverse_rate"];

#[rustfmt::skip]
const LAWS: [Shown; 9] = [
    ("jetmax@kernel", &[
        ("rate", "ratewire.jetmax_kernel.rate"), ("fair", "ratewire.jetmax_kernel.fair"),
        ("proposed_fair", "ratewire.jetmax_kernel.proposed_fair"), ("returned_fair", "ratewire.jetmax_kernel.returned_fair"),
    ]),
    ("rcp", &[(RATES[0], "ratewire.rcp.rate"), (RATES[1], "ratewire.rcp.rtt"), (RATES[2], "ratewire.rcp.reverse_rate")]),
    ("piqi-rcp", &[(RATES[0], "ratewire.piqi_rcp.rate"), (RATES[1], "ratewire.piqi_rcp.rtt"), (RATES[2], "ratewire.piqi_rcp.reverse_rate")]),
    ("jetmax", &[
        ("bottleneck", "ratewire.jetmax.bottleneck"), ("proposed", "ratewire.jetmax.proposed"), ("gap", "ratewire.jetmax.gap"),
        ("loss", "ratewire.jetmax.loss"), ("fair", "ratewire.jetmax.fair"), ("proposed_fair", "ratewire.jetmax.proposed_fair"),
        ("marker", "ratewire.jetmax.marker"), ("number", "ratewire.jetmax.number"),
    ]),
    ("emkc", &[("router", "ratewire.emkc.router"), ("number", "ratewire.emkc.number"), ("loss", "ratewire.emkc.loss"), ("marker", "ratewire.emkc.marker")]),
    ("maxnet", &[("price", "ratewire.maxnet.price")]),
    ("hpcc", &[
        ("nHop", "ratewire.hpcc.n_hop"), ("pathID", "ratewire.hpcc.path_id"), ("returning", "ratewire.returned"),
        ("B", "ratewire.hpcc.b"), ("TS", "ratewire.hpcc.ts"), ("txBytes", "ratewire.hpcc.tx_bytes"), ("qLen", "ratewire.hpcc.q_len"),
    ]),
    ("xcp@kernel", &[("rate", "ratewire.xcp_kernel.rate"), ("rtt", "ratewire.xcp_kernel.rtt"), ("change", "ratewire.xcp_kernel.change"), ("returned", "ratewire.xcp_kernel.returned")]),
    ("rcp@kernel", &[("rate", "ratewire.rcp_kernel.rate"), ("rtt", "ratewire.rcp_kernel.rtt"), ("returned", "ratewire.rcp_kernel.returned")]),
];

/// tshark shows the same figures of other laws' headers as the law reads from the bytes.
#[test]
fn headers_of_all_laws_are_shown() {
    for (law, shown) in LAWS {
        let setup = setup(law, 500);
        let (seen, file) = captured(&setup, false);
        let more: Vec<&str> = shown.iter().map(|(_, field)| *field).collect();
        let names = fields(&[&["ratewire.law", "tcp.dstport", "_ws.col.Info"], &more[..]].concat());
        let Some(rows) = tshark(&format!("law-{law}"), &file, &names) else { return };
        assert_eq!(rows.len(), seen.len());
        let made = &setup.laws[0];
        let mut moved = 0;
        for (seen, row) in seen.iter().zip(&rows) {
            assert_eq!(row[0], "", "malformed: {row:?}");
            let header = seen.packet.content.header;
            if header == Header::None {
                assert!(row[8].is_empty(), "{law}: {row:?}");
                continue;
            }
            // TCP begins right behind the congestion header.
            assert_eq!(
                (&*row[8], row[9].parse::<u32>().is_ok_and(|port| port >= 49152)),
                (law, true)
            );
            assert_eq!(row[6], payload(&seen.packet.content.body), "{law}: {row:?}");
            // The law of the header, the header's fields, and TCP's fields.
            let says = row[10].split_once("; ").filter(|(of_law, _)| of_law.starts_with(law));
            assert!(says.is_some_and(|(_, of_tcp)| of_tcp.contains(" Len=")), "{row:?}");
            let mut bytes = [0; ratewire_laws::MAX_HEADER];
            let size = Bytes::new(u64::from(seen.packet.label.size));
            let len = made.encode(&header, size, &mut bytes);
            let read = made.decode(&bytes[..len], size).unwrap();
            let figures = made.fields(&read);
            for ((name, field), cell) in shown.iter().zip(&row[11..]) {
                let Some(figure) = figures.iter().find(|figure| figure.name == *name) else {
                    assert!(cell.is_empty(), "{law} has no {name}: {row:?}");
                    continue;
                };
                // The first of several stamps.
                let value = match cell.split(',').next().unwrap_or_default() {
                    "True" | "1" => 1.0,
                    "False" | "0" => 0.0,
                    other => other.parse().unwrap_or_else(|_| panic!("{law} {field}: {row:?}")),
                };
                let near = (value - figure.value).abs() <= 1e-5 * figure.value.abs().max(1e-9);
                assert!(
                    value == figure.value || near,
                    "{law} {field}: {value}, not {}",
                    figure.value
                );
                moved += u32::from(value != 0.0 && value.is_finite());
            }
        }
        assert!(moved > 100, "{law}: only {moved} figures");
    }
}

#[test]
fn tcp_analysis_finds_nothing_amiss_without_loss() {
    // Behind a congestion header the Lua dissector adds the payload that was cut off.
    let cases =
        [("xcp", true), ("xcp", false), ("jetmax", false), ("cubic", true), ("cubic", false)];
    for (law, with_payload) in cases {
        let setup = setup(law, 5000);
        let (seen, file) = captured(&setup, with_payload);
        let names = fields(&[&["xcp.version", "tcp.checksum.status"], &COMPLAINTS[..]].concat());
        let name = format!("analysis-{law}-{with_payload}");
        let Some(rows) = tshark(&name, &file, &names) else { return };
        assert_eq!(rows.len(), seen.len());
        assert!(rows.len() > 300, "only {} packets", rows.len());
        for (seen, row) in seen.iter().zip(&rows) {
            let opens = check_common(seen, row);
            assert_eq!(row[6], payload(&seen.packet.content.body), "{law}: {row:?}");
            assert_eq!(row[8], if law == "xcp" && !opens { "3" } else { "" });
            // tshark verifies the checksum of whole packets (1), and of no others (2).
            let is_made_whole = law != "cubic" && !opens;
            let whole = with_payload || is_made_whole || row[6] == "0";
            assert_eq!(row[9], if whole { "1" } else { "2" }, "TCP checksum: {row:?}");
            // The expert notes each connection's opening, and nothing else.
            let (notes, rest) = row[10..].split_last().unwrap();
            assert!(rest.iter().all(String::is_empty), "{law}: {row:?}");
            assert!(notes.is_empty() || opens, "{law}: {row:?}");
        }
    }
}

#[test]
fn selective_acknowledgements_are_shown() {
    let setup = setup("cubic", 4);
    let (seen, file) = captured(&setup, false);
    let names = fields(&["tcp.options.sack.count", "tcp.ack_raw", "tcp.options.sack_le"]);
    let Some(rows) = tshark("sack", &file, &names) else { return };
    assert_eq!(rows.len(), seen.len());
    let mut selective = 0;
    for (seen, row) in seen.iter().zip(&rows) {
        check_common(seen, row);
        let Some(ack) = seen.packet.ack else { continue };
        let ranges = ack.sack.iter(ack.cumulative).count();
        assert_eq!(row[8], if ranges == 0 { String::new() } else { ranges.to_string() });
        assert_eq!(row[9], (ack.cumulative + 1).to_string());
        selective += u32::from(ranges > 0);
    }
    assert!(selective > 3, "only {selective} with ranges");
}

#[test]
fn short_simulated_headers_still_give_whole_packets() {
    let mut setup = setup("xcp", 500);
    for flow in &mut setup.flows {
        flow.transport.headers = Bytes::new(20);
        flow.transport.ack = Bytes::new(20);
    }
    let (seen, file) = captured(&setup, true);
    let names = fields(&["tcp.analysis.lost_segment", "xcp.version"]);
    let Some(rows) = tshark("short", &file, &names) else { return };
    assert_eq!(rows.len(), seen.len());
    for (seen, row) in seen.iter().zip(&rows) {
        assert_eq!((&*row[0], &*row[8]), ("", ""), "{row:?}");
        assert_eq!(row[6], payload(&seen.packet.content.body), "{row:?}");
    }
}
