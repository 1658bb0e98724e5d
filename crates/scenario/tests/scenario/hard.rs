//! Hard cases, each with its result.

use ratewire_net::spec::{Limit, Service};
use ratewire_units::{Bytes, Duration, Rate};

use crate::common::{dumbbell, flow, parse_with, refused, scenario, setup, warned};

#[test]
fn zero_flows_run_and_measure_links_only() {
    let scenario = scenario(&dumbbell(""));
    assert!(scenario.setup(None, None).unwrap().flows.is_empty());
    let text = refused(&dumbbell("[[expect]]\nmetric = \"jain\"\nmin = 0.9"));
    assert!(text.contains("is of flows, and none is listed"), "{text}");
}

#[test]
fn a_flow_to_itself_is_an_error() {
    let text = refused(&dumbbell("[[flow]]\nfrom = \"s1\"\nto = \"s1\""));
    assert!(text.contains("a flow from \"s1\" to itself"), "{text}");
    let traffic = "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { fixed = \"1 KB\" }\n\
                   between = [[\"s1\", \"s1\"]]";
    assert!(refused(&dumbbell(traffic)).contains("a pair of a node with itself"));
}

#[test]
fn no_route_names_both_nodes() {
    let nodes =
        "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"";
    let head = "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"";
    let text = refused(&format!("{head}\n{nodes}"));
    assert!(text.contains("no path leads from \"a\" to \"b\""), "{text}");
}

#[test]
fn a_link_of_rate_0_or_delay_0_is_allowed() {
    let text = "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
                bottleneck = { rate = \"0 bit/s\", delay = \"0 s\" }\n";
    let setup = setup(&format!("{text}{}", flow()));
    let link = &setup.network.links[0];
    assert!(matches!(link.service, Service::Rate(Rate::ZERO)));
    assert_eq!(link.delay, Duration::ZERO);
    // A bdp at rate 0 is nothing; one packet can wait, as everywhere.
    assert_eq!(link.limit, Limit::Bytes(Bytes::new(1500)));
    // The file does not set the rate of the hosts' own links, so there is no warning about them.
    assert!(matches!(setup.network.links[2].service, Service::Rate(r) if r > Rate::ZERO));
}

#[test]
fn a_queue_smaller_than_a_packet() {
    let with = |queue: &str| {
        format!(
            "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\", queue = \"{queue}\" }}\n{}",
            flow()
        )
    };
    // A size in bytes below a packet is an error; a product below a packet is rounded up, with a
    // warning.
    assert!(refused(&with("1000 B")).contains("less than a full packet"));
    let text = warned(&with("1 bdp"));
    assert!(text.contains("comes to 250 B, less than a packet"), "{text}");
    let limit = |queue: &str| setup(&with(queue)).network.links[0].limit;
    assert_eq!(limit("1 bdp"), Limit::Bytes(Bytes::new(1500)));
    assert_eq!(limit("0 packets"), Limit::Packets(0));
    assert_eq!(limit("1500 B"), Limit::Bytes(Bytes::new(1500)));
}

#[test]
fn traces_that_are_empty_unsorted_or_have_a_gap() {
    let text = "duration = \"10 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"dumbbell\"\n\
                bottleneck = { trace = \"x\", delay = \"1 ms\" }\n";
    let refused = |trace: &str| parse_with(text, &[("x", trace)]).unwrap_err().to_string();
    assert!(refused("").contains("x: found no stamps"));
    assert!(refused("5\n3\n").contains("x:2: found 3 after 5"));
    assert!(refused("0 1\n2 1\n1 1\n").contains("times that increase"));
    // Outages are a purpose of traces.
    let scenario = parse_with(text, &[("x", "1\n2\n9000\n")]).unwrap();
    let setup = scenario.setup(None, None).unwrap();
    match &setup.network.links[0].service {
        Service::Opportunities(trace) => {
            assert_eq!(trace.at.len(), 3);
            assert_eq!(trace.period, Duration::from_secs(9));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rate_trace_becomes_changes_until_the_end() {
    let text = "duration = \"10 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"dumbbell\"\n\
                bottleneck = { trace = \"x\", delay = \"1 ms\", reverse = { rate = \"1 Mbit/s\" } }\n";
    let scenario = parse_with(text, &[("x", "0 8\n1 2\n2 2\n3 4\n")]).unwrap();
    let setup = scenario.setup(None, None).unwrap();
    // Steps at 1 and 3 s (the one at 2 s changes nothing), repeated with a period of 4 s.
    let at: Vec<f64> = setup.changes.iter().map(|(at, ..)| at.secs()).collect();
    assert_eq!(at, [1.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0]);
    let long = text.replace("\"10 s\"", "\"1000 h\"");
    let text = parse_with(&long, &[("x", "0 8\n1 2\n")]).unwrap_err().to_string();
    assert!(text.contains("more than a million times"), "{text}");
}

#[test]
fn a_size_distribution_that_does_not_end_at_1() {
    let traffic = "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { cdf = \"x\" }";
    let said =
        parse_with(&dumbbell(traffic), &[("x", "10 0.5\n20 0.9\n")]).unwrap_err().to_string();
    assert!(said.contains("x:2: found a distribution that ends at 0.9"));
}

#[test]
fn a_duration_shorter_than_an_rtt_is_a_warning() {
    let text = dumbbell(flow()).replace("\"10 s\"", "\"30 ms\"");
    let text = warned(&text);
    assert!(text.contains("shorter than a round trip of 40 ms"), "{text}");
}

#[test]
fn one_bit_and_400_gigabits_and_ten_seconds() {
    let text = "duration = \"1000 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"\n\
        [[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[node]]\nname = \"c\"\n\
        [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1 bit/s\"\ndelay = \"1 s\"\n\
        [[link]]\nbetween = [\"b\", \"c\"]\nrate = \"400 Gbit/s\"\ndelay = \"4 s\"\n\
        [[flow]]\nfrom = \"a\"\nto = \"c\"";
    let scenario = scenario(text);
    let setup = scenario.setup(None, None).unwrap();
    let limits: Vec<Limit> = setup.network.links.iter().map(|link| link.limit).collect();
    // 10 s of RTT: 400 Gbit/s hold half a terabyte; 1 bit/s holds a byte, which becomes a packet.
    assert_eq!(limits[0], Limit::Bytes(Bytes::new(1500)));
    assert_eq!(limits[2], Limit::Bytes(Bytes::new(500_000_000_000)));
    assert_eq!((scenario.bottleneck, scenario.slowest.len()), (None, 1));
}

#[test]
fn duplicate_names_are_errors() {
    let text = refused(&dumbbell(&format!(
        "[[link]]\nbetween = [\"s1\", \"r1\"]\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n{}",
        flow()
    )));
    assert!(text.contains("two links are called \"s1->r1\""), "{text}");
    let twice = format!("{0}name = \"x\"\n{0}name = \"x\"\n", flow());
    assert!(
        refused(&dumbbell(&twice)).contains("two flows or classes of traffic are called \"x\"")
    );
    // Unnamed flows between the same nodes get different names.
    let setup = setup(&dumbbell(&format!("{0}{0}", flow())));
    let names: Vec<&str> = setup.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["s1->d1", "s1->d1#2"]);
}

#[test]
fn packets_too_small_for_the_law_s_header_are_refused_at_setup() {
    let text = dumbbell(&format!("[transport]\npacket = \"60 B\"\n{}", flow()));
    let scenario = scenario(&text);
    assert!(scenario.setup(Some("cubic"), None).is_ok());
    let text = scenario.setup(Some("xcp"), None).unwrap_err().to_string();
    assert!(text.contains("leave \"s1->d1\" no payload"), "{text}");
    let text = scenario.setup(Some("xpc"), None).unwrap_err().to_string();
    assert!(text.contains("did you mean `xcp`?"));
}
