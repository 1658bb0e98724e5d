//! Traces, flow lists and distributions in the forms in which others publish them.

use ratewire_net::spec::{Change, NodeId, Service};
use ratewire_sim::setup::{Arrivals, ListedArrival, Sizes};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::common::{parse_with, shown};

type Traced = (Rate, Vec<(Time, Rate)>, String);
type Listed = (Vec<ListedArrival>, Vec<String>, String);

/// The link's first rate, when it changes to what, and the warnings.
fn traced(trace: &str) -> Result<Traced, String> {
    let text = "duration = \"3 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
                bottleneck = { trace = \"t\", delay = \"10 ms\" }\n\
                access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
                [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n";
    let scenario = parse_with(text, &[("t", trace)]).map_err(|e| shown(&e.diagnostics))?;
    let plan = scenario.plan(None, None).unwrap();
    let link = plan.setup.network.links.iter().position(|l| l.name == "bottleneck").unwrap();
    let Service::Rate(first) = plan.setup.network.links[link].service else { panic!("no rate") };
    let changes = plan.setup.changes.iter().filter(|(_, on, _)| on.index() == link);
    let changes = changes.map(|(at, _, change)| match change {
        Change::Rate(rate) => (*at, *rate),
        _ => panic!("another change"),
    });
    Ok((first, changes.collect(), shown(&scenario.warnings)))
}

#[test]
fn traces_are_the_same_in_every_form() {
    let mbps = |n: f64| Rate::from_bps((n * 1e6) as u64);
    let at = |s: u64| Time::ZERO + Duration::from_secs(s);
    let wanted = (mbps(3.5), vec![(at(1), mbps(4.0)), (at(2), mbps(5.25))]);
    for (trace, told) in [
        ("0,3.5\n1,4.0\n2,5.25\n", ""),
        ("1669852800.1 3.5\n1669852801.1 4.0\n1669852802.1 5.25\n", ""),
        ("time_s,throughput_mbps\n0,3.5\n1,4e0\n2,5.25\n", ""),
        (
            "Timestamp_ms,RSRP,DL (kbit/s)\n0,-90,3500\n1000,-91,4000\n2000,-92,5250\n",
            "t:1: the column \"RSRP\" is not used",
        ),
        ("time,throughput\n0,3.5\n1,4\n2,5.25\n", "\"throughput\" names no unit: read as Mbit/s"),
    ] {
        let (first, changes, warnings) = traced(trace).unwrap();
        assert_eq!((first, changes), wanted, "{trace}");
        assert!(warnings.contains(told), "{warnings}");
        assert_eq!(warnings.is_empty(), told.is_empty(), "{warnings}");
    }
    let wrong = traced("time_s,quality\n0,1\n").unwrap_err();
    assert!(wrong.contains("t:1: found a heading that names no column for the rate"), "{wrong}");
}

const STAR: &str = "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"star\"\nhosts = 4\n\
                    link = { rate = \"1 Gbit/s\", delay = \"1 us\" }\n\
                    [[traffic]]\narrivals = { file = \"f\" }\n";

fn listed(scenario: &str, list: &str) -> Result<Listed, String> {
    let scenario = parse_with(scenario, &[("f", list)]).map_err(|e| shown(&e.diagnostics))?;
    let setup = scenario.plan(None, None).unwrap().setup;
    let Arrivals::Listed(list) = &setup.traffic[0].arrivals else { panic!("no list") };
    let name = |node: NodeId| setup.network.nodes[node.index()].name.clone();
    let ends = list.iter().map(|flow| format!("{}->{}", name(flow.from), name(flow.to)));
    Ok((list.clone(), ends.collect(), shown(&scenario.warnings)))
}

#[test]
fn flow_lists_of_hpcc_number_the_hosts_of_the_topology() {
    let list = "3\n1 0 3 100 500000 0.001\n2 0 3 101 500000 0.001\n3 0 3 102 500000 0.002\n";
    let (flows, ends, warnings) = listed(STAR, list).unwrap();
    assert_eq!(ends, ["h2->h1", "h3->h1", "h4->h1"]);
    assert_eq!(flows[2].start, Time::ZERO + Duration::from_millis(2));
    assert!(flows.iter().all(|flow| flow.size == Bytes::new(500_000)));
    let told = "f: the priority group (3) is not used, nor the destination port";
    assert!(warnings.contains(told), "{warnings}");
    let beyond = listed(STAR, "1\n4 0 3 100 500000 0.001\n").unwrap_err();
    assert!(beyond.contains("f:2: the topology has no host 4"), "{beyond}");
    assert!(beyond.contains("its 4 hosts have the numbers from 0"), "{beyond}");
    let several = "Nodes 9\nConnections 3\n1->7 start 2 size 9\n8->5 start 0 size 9\n\
                   7->1 start 1 size 9\n";
    let beyond = listed(STAR, several).unwrap_err();
    let one = "f:3: the topology has no host 7, and 2 more of the file are missing";
    assert!(beyond.contains(one), "{beyond}");
    assert_eq!(beyond.matches("the topology has no host").count(), 1, "{beyond}");
}

#[test]
fn connection_matrices_of_htsim_number_them_too() {
    let list = "Nodes 4\nConnections 2\n1->0 start 0 size 500000\n2->0 start 1e9 size 500000\n";
    let (flows, ends, warnings) = listed(STAR, list).unwrap();
    assert_eq!(ends, ["h2->h1", "h3->h1"]);
    assert_eq!(flows[1].start, Time::ZERO + Duration::from_millis(1));
    assert_eq!(warnings, "");
    let more = "Nodes 16\nConnections 1\n1->0 id 1 start 0 size 9 prio 1\n";
    let (.., warnings) = listed(STAR, more).unwrap();
    assert!(warnings.contains("\"f\" is for 16 hosts, the topology has 4"), "{warnings}");
    assert!(warnings.contains("id and prio not used"), "{warnings}");
    let trigger = "Nodes 4\nConnections 1\nTriggers 1\n1->0 id 1 trigger 1 size 9\n";
    let wrong = listed(STAR, trigger).unwrap_err();
    assert!(wrong.contains("f:4: found a flow that a trigger starts"), "{wrong}");
}

/// In a topology whose nodes are called by numbers, such as TopoHub's, these are meant.
#[test]
fn numbers_are_names_where_all_of_them_are() {
    let scenario = "duration = \"1 s\"\nlaw = \"newreno\"\n\
                    [topology]\nkind = \"custom\"\n[[node]]\nname = \"2\"\n\
                    [[node]]\nname = \"0\"\n[[node]]\nname = \"1\"\n\
                    [[link]]\nbetween = [\"2\", \"0\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [[link]]\nbetween = [\"0\", \"1\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [[traffic]]\narrivals = { file = \"f\" }\n";
    let (_, ends, warnings) = listed(scenario, "1\n0 2 9000 0\n").unwrap();
    assert_eq!(ends, ["0->2"]);
    let told = "the hosts of \"f\" are taken as names of nodes: 0 is \"0\"";
    assert!(warnings.contains(told), "{warnings}");
    assert!(warnings.contains("as a place from 0, 0 would be \"2\""), "{warnings}");
    let same = "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"custom\"\n\
                [[node]]\nname = \"0\"\n[[node]]\nname = \"1\"\n\
                [[link]]\nbetween = [\"0\", \"1\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                [[traffic]]\narrivals = { file = \"f\" }\n";
    assert_eq!(listed(same, "1\n0 1 9000 0\n").unwrap().2, "", "both readings are one");
    let from_1 = same.replace("\"1\"", "\"2\"").replace("\"0\"", "\"1\"");
    assert_eq!(listed(&from_1, "1\n1 2 9000 0\n").unwrap().2, "", "no place 2");
    let by_place = scenario.replace("name = \"2\"", "name = \"c\"").replace("[\"2\"", "[\"c\"");
    assert_eq!(listed(&by_place, "1\n0 2 9000 0\n").unwrap().1, ["c->1"]);
}

#[test]
fn sizes_may_have_a_heading() {
    let text = "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
                bottleneck = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
                access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
                [[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { cdf = \"c\" }\n";
    let scenario = parse_with(text, &[("c", "cdf,size_KB,source\n0.5,1,a\n1,2e3,b\n")]).unwrap();
    let setup = scenario.plan(None, None).unwrap().setup;
    let Sizes::Empirical(cdf) = &setup.traffic[0].sizes else { panic!("no distribution") };
    assert_eq!(cdf.points, [(1e3, 0.5), (2e6, 1.0)]);
    let warnings = shown(&scenario.warnings);
    assert!(warnings.contains("c:1: the column \"source\" is not used"), "{warnings}");
}
