//! Scenarios and the setups that they become.

use std::path::Path;

use ratewire_laws::trust::Lie;
use ratewire_net::spec::{
    AnyDiscipline, Change, Contention, Limit, LinkId, Loss, PoliceSpec, Reorder, Service,
};
use ratewire_overlay::Price;
use ratewire_scenario::Scenario;
use ratewire_sim::setup::{
    Arrivals, EnsembleEdge, MemberEvent, Multipath, ProgramSpec, Setup, Sizes,
};
use ratewire_transport::{PauseAfter, Phase, Reader, ReceiveWindow, Spread, Varying, Writer};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::common::{dumbbell, flow, parse_with, refused, scenario, setup, shown};

fn file(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    Scenario::load(&folder.join(name)).unwrap_or_else(|all| panic!("{all}"))
}

fn link<'a>(setup: &'a Setup, name: &str) -> &'a ratewire_net::spec::LinkSpec {
    setup.network.links.iter().find(|link| link.name == name).expect(name)
}

#[test]
fn three_flows_join() {
    let scenario = file("xcp-joins.toml");
    assert!(scenario.warnings.is_empty(), "{}", shown(&scenario.warnings));
    assert_eq!(scenario.laws(), ["xcp"]);
    assert_eq!(scenario.bottleneck, Some(LinkId(0)));
    assert_eq!(scenario.slowest, [LinkId(0)]);
    let plan = scenario.plan(None, Some(9)).unwrap();
    let setup = &plan.setup;
    assert_eq!((setup.seed, setup.sample_interval), (9, Some(Duration::from_millis(50))));
    assert_eq!(plan.law_names, ["xcp"]);
    let starts: Vec<f64> = setup.flows.iter().map(|flow| flow.start.secs()).collect();
    assert_eq!(starts, [0.0, 10.0, 20.0]);
    assert_eq!(setup.network.links.len(), 2 + 3 * 4);
    let bottleneck = link(setup, "bottleneck");
    assert_eq!(bottleneck.limit, Limit::Bytes(Bytes::new(6_250_000)));
    assert_eq!(bottleneck.law, Some(0));
    // (50 ms / 2 - 10 ms) / 2 on each access link, at ten times the bottleneck's rate.
    let access = link(setup, "s2->r1");
    assert_eq!(access.delay, Duration::from_micros(7_500));
    assert!(matches!(access.service, Service::Rate(r) if r == Rate::from_mbps(10_000)));
    assert_eq!(access.limit, Limit::Unlimited);
    assert_eq!(setup.flows[0].transport.packet, Bytes::new(1000));
    // A variant may stand wherever a law's name may.
    let plan = scenario.plan(Some("naive-xcp"), None).unwrap();
    assert_eq!((plan.law.as_str(), plan.setup.laws[0].info().name), ("naive-xcp", "xcp"));
    assert!(scenario.evaluator(&plan).finish(&empty()).len() == 5, "one is of xcp alone");
}

fn empty() -> ratewire_sim::outcome::Outcome {
    ratewire_sim::outcome::Outcome {
        flows: Vec::new(),
        links: Vec::new(),
        packets: Default::default(),
        events: 0,
        data_packets_delivered: 0,
        ended: ratewire_units::Time::ZERO,
        delays: Default::default(),
        deadlock: None,
        overlay: None,
    }
}

#[test]
fn web_search_over_abilene() {
    let scenario = file("abilene.toml");
    assert!(scenario.warnings.is_empty(), "{}", shown(&scenario.warnings));
    assert_eq!(scenario.laws(), ["xcp", "newreno"]);
    let setup = scenario.setup(None, None).unwrap();
    let web = &setup.traffic[0];
    assert!(matches!(web.sizes, Sizes::Empirical(_)));
    let Arrivals::Poisson(rate) = web.arrivals else { panic!("{:?}", web.arrivals) };
    // Flows have 1.6 MB on average, and the busiest link carries a part of all flows.
    assert!(rate > 50.0 && rate < 5000.0, "{rate}");
    // The flows are the same under every law.
    let other = scenario.setup(Some("newreno"), None).unwrap();
    assert!(matches!(other.traffic[0].arrivals, Arrivals::Poisson(r) if r == rate));
    assert!(setup.network.nodes.iter().all(|node| node.position.is_some()));
    assert_eq!(setup.flows[0].app.writer, Writer::Sized(Bytes::new(1_000_000_000)));
}

#[test]
fn a_bus_ride() {
    let setup = file("hsdpa.toml").setup(None, None).unwrap();
    assert!(setup.changes.len() > 20);
    assert!(setup.changes.iter().all(|(_, link, _)| *link == LinkId(0)));
    assert!(
        matches!(link(&setup, "bottleneck.reverse").service, Service::Rate(r) if r.bps() == 384_000)
    );
}

/// A round trip of 4 x 2 us between hosts of one switch and 12 x 2 us at most, at 1 Gbit/s.
#[test]
fn switches_have_finite_queues_towards_hosts() {
    let tree = |more: &str| {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"2 us\" }}\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"2 us\"{more} }}\n\
             [[flow]]\nfrom = \"h*\"\nto = \"h1\"\n"
        );
        let setup = setup(&text);
        (link(&setup, "e1.1->h1").limit, link(&setup, "h2->e1.1").limit)
    };
    let bdp = Limit::Bytes(Bytes::new(3000));
    assert_eq!(tree(""), (bdp, Limit::Unlimited));
    let given = Limit::Packets(7);
    assert_eq!(tree(", queue = \"7 packets\""), (given, given));
}

#[test]
fn several_paths_may_be_of_flows_packets_or_flowlets() {
    let multipath =
        |text: &str| setup(&format!("multipath = {text}\n{}", dumbbell(flow()))).multipath;
    assert_eq!(setup(&dumbbell(flow())).multipath, Multipath::Flow);
    assert_eq!(multipath("\"flow\""), Multipath::Flow);
    assert_eq!(multipath("\"packet\""), Multipath::Packet);
    let pause = Duration::from_micros(500);
    assert_eq!(multipath("{ flowlet = \"500 us\" }"), Multipath::Flowlet(pause));
    let said = refused(&format!("multipath = \"path\"\n{}", dumbbell(flow())));
    assert!(said.contains("\"flow\", \"packet\" or { flowlet = TIME }"), "{said}");
}

#[test]
fn small_queues_are_as_the_law_says_unless_a_scenario_does() {
    let given = |text: &str| setup(&dumbbell(&format!("[transport]\n{text}\n{}", flow())));
    for (text, small) in
        [("", None), ("small_queues = true", Some(true)), ("small_queues = false", Some(false))]
    {
        assert_eq!(given(text).flows[0].transport.small_queues, small, "{text}");
    }
}

#[test]
fn all_to_all_in_a_fat_tree() {
    let setup = file("fat-tree.toml").setup(None, None).unwrap();
    let hosts = setup.network.nodes.iter().filter(|node| node.is_host).count();
    assert_eq!((hosts, setup.network.nodes.len()), (16, 36));
    assert_eq!(setup.network.links.len(), 2 * (16 + 16 + 16));
    assert_eq!(setup.traffic[0].pairs.len(), 16 * 15);
    assert_eq!(setup.flows.len(), 15);
    // The engine spreads flows over the cores.
    assert!(setup.paths.is_empty());
    // Each of the 4 * 4 hosts has its share of the load on its own link, and no link has more load.
    let Arrivals::Poisson(rate) = setup.traffic[0].arrivals else { panic!() };
    let bytes = 100_000.0 + 69.0 * 40.0;
    assert!((rate - 16.0 * 0.3 * 10e9 / 8.0 / bytes).abs() < 1.0, "{rate}");
}

#[test]
fn every_key_of_a_custom_network() {
    let scenario = file("everything.toml");
    let plan = scenario.plan(None, None).unwrap();
    let setup = &plan.setup;
    assert!(setup.exact_wire);
    let radio = link(setup, "radio");
    assert!(matches!(&radio.service, Service::Opportunities(trace) if trace.at.len() == 5));
    assert!(matches!(radio.loss, Loss::Burst { loss_bad: 0.9, .. }));
    let back = link(setup, "radio.reverse");
    assert_eq!((back.medium, back.law), (radio.medium, None));
    assert_eq!(back.loss, Loss::Random(0.01));
    let media: Vec<(&str, Contention)> =
        setup.network.mediums.iter().map(|m| (m.name.as_str(), m.contention)).collect();
    assert_eq!(media, [("radio", Contention::Backoff), ("air", Contention::Random)]);
    let stripping = link(setup, "e->c");
    assert!(stripping.strips && stripping.law.is_none());
    let reorder = Reorder { share: 0.01, delay: Duration::from_millis(5) };
    assert_eq!(stripping.reorder, Some(reorder));
    let police = PoliceSpec { suspects: 256, tolerance: 0.2 };
    assert_eq!(link(setup, "b->c").police, Some(police));
    let red = link(setup, "b->c");
    let options = [("min", "5 KB"), ("max", "15 KB"), ("ecn", "true")];
    let same = AnyDiscipline::new("red", &options, Bytes::new(1000)).unwrap();
    assert_eq!(format!("{:?}", red.discipline), format!("{same:?}"));
    // 10 Mbit/s * 100 ms * 2.
    assert_eq!((red.limit, red.overhead), (Limit::Bytes(Bytes::new(250_000)), Bytes::new(38)));
    let plain = link(setup, "c->b");
    assert!(plain.limit == Limit::Unlimited && plain.discipline.is_passive());
    assert_eq!(setup.paths.len(), 2);
    let of = |name: &str| -> Vec<&Change> {
        let is_it = |id: &LinkId| setup.network.links[id.index()].name == name;
        let of_it = setup.changes.iter().filter(|(_, id, _)| is_it(id));
        of_it.map(|(.., change)| change).collect()
    };
    assert_eq!(of("b->c").len(), 10);
    assert!(matches!(of("b->c")[1], Change::Delay(d) if *d == Duration::from_millis(30)));
    assert!(matches!(of("e->c")[1], Change::Delay(d) if d.secs() == 0.0355));
    assert!(setup.has_random_outages && of("e->c").iter().any(|c| matches!(c, Change::Up(_))));
    let names: Vec<&str> = setup.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names[..6], ["bulk.1", "bulk.2", "bursts", "video", "file", "e->c"]);
    let server = ProgramSpec {
        host: setup.flows[5].to,
        run: "iperf3 -s".into(),
        start: Some(Time::ZERO + Duration::from_secs(1)),
        flow: None,
        user: Some("alice".into()),
    };
    let fetched = ProgramSpec {
        run: "iperf3 -c e -R".into(),
        start: Some(Time::ZERO),
        flow: Some(5),
        user: Some("root".into()),
        ..server.clone()
    };
    assert_eq!(setup.programs, [server, fetched]);
    assert_eq!(names[6..10], ["a=>b", "b=>a", "b=>c", "c=>b"]);
    let overlay = setup.overlay.as_ref().unwrap();
    assert_eq!((overlay.links[2].flow, overlay.payload), (8, Bytes::new(900)));
    assert_eq!(overlay.params.price, Price::Exponential { base: 20.0 });
    assert_eq!((overlay.senders.len(), overlay.groups[0].members.len()), (3, 4));
    // The client that joins at 3 s leaves at 6 s; the member from the start leaves at 5 s.
    let changes: Vec<_> =
        overlay.changes.iter().map(|c| (c.at.secs(), c.client.0, c.joins)).collect();
    assert_eq!(changes, [(3.0, 4, true), (5.0, 0, false), (6.0, 4, false)]);
    ensembles_of(setup, &names);
    let bulk = &setup.flows[1];
    assert_eq!(bulk.start.secs(), 1.01);
    assert_eq!(bulk.stop.unwrap().secs(), 30.01);
    assert_eq!(bulk.app.reader, Reader::Slow(Duration::from_millis(1)));
    assert_eq!(bulk.transport.receive_window, ReceiveWindow::Fixed(Bytes::new(64_000)));
    // Keys that a flow does not give come from the scenario.
    assert_eq!(bulk.transport.min_rto, Duration::from_secs(1));
    let Writer::Phases(phases) = &bulk.app.writer else { panic!("{:?}", bulk.app) };
    let lasts: Vec<f64> = phases[..3].iter().map(|phase| phase.lasts.secs()).collect();
    assert_eq!((phases.len(), lasts), (4, vec![1.0, 2.0, 3.0]));
    let drawn = |burst, pause| Writer::OnOff {
        burst: Varying { mean: Bytes::new(500_000), spread: burst },
        pause: Varying { mean: Duration::from_secs(1), spread: pause },
        pause_after: PauseAfter::Acknowledged,
        count: None,
    };
    assert_eq!(phases[1].writer, drawn(Spread::Exponential, Spread::Exponential));
    assert_eq!(phases[2].writer, drawn(Spread::Pareto(1.5), Spread::Pareto(1.5)));
    let last = Phase { writer: Writer::Sized(Bytes::new(10_000)), lasts: Duration::MAX };
    assert_eq!(phases[3], last);
    let on_off = &setup.flows[2];
    assert!(matches!(
        on_off.app.writer,
        Writer::OnOff { pause_after: PauseAfter::Sent, count: Some(10), .. }
    ));
    assert_eq!(plan.law_names[on_off.law], "cubic");
    // 100 packets are 100 payloads of 1000 - 52 bytes.
    assert_eq!(setup.flows[4].app.writer, Writer::Sized(Bytes::new(94_800)));
    let lie = Lie { rtt: 0.5, throughput: 0.25, ignore_feedback: true, inflate: 2.0 };
    assert_eq!((setup.flows[0].lie, setup.flows[4].lie), (None, Some(lie)));
    assert_eq!(setup.traffic[0].pairs.len(), 2);
    assert!(matches!(&setup.traffic[2].arrivals, Arrivals::Listed(list) if list.len() == 2));
    assert_eq!(setup.traffic[0].name, "web");
    assert_eq!(setup.traffic[1].name, "traffic2");
    // A law without `weight` leaves the option out, with a warning.
    let plan = scenario.plan(Some("cubic"), None).unwrap();
    assert!(shown(&plan.warnings).contains("cubic has no option `weight`"), "{:?}", plan.warnings);
}

#[test]
fn flows_by_pattern_and_number() {
    let more = |text: &str| dumbbell(text).replace("kind", "pairs = 3\nkind");
    let pairs = |text: &str| -> Vec<String> {
        setup(&more(text)).flows.iter().map(|flow| flow.name.clone()).collect()
    };
    assert_eq!(pairs("[[flow]]\nfrom = \"s*\"\nto = \"d*\""), ["s1->d1", "s2->d2", "s3->d3"]);
    assert_eq!(pairs("[[flow]]\nfrom = \"s*\"\nto = \"d1\""), ["s1->d1", "s2->d1", "s3->d1"]);
    assert_eq!(pairs("[[flow]]\nfrom = \"d1\"\nto = \"s*\"\nname = \"x\""), ["x.1", "x.2", "x.3"]);
    let text = more("[[flow]]\nfrom = \"s*\"\nto = \"d*\"\ncount = 2\nstagger = \"10 ms\"");
    let starts: Vec<f64> = setup(&text).flows.iter().map(|f| f.start.secs() * 1e3).collect();
    assert_eq!(starts, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
}

#[test]
fn flows_with_exceptions() {
    let more = |text: &str| dumbbell(text).replace("kind", "pairs = 4\nkind");
    let pairs = |except: &str| -> Vec<String> {
        let text = more(&format!("[[flow]]\nfrom = \"s*\"\nto = \"d*\"\nexcept = {except}"));
        setup(&text).flows.iter().map(|flow| flow.name.clone()).collect()
    };
    assert_eq!(pairs("[\"s3\"]"), ["s1->d1", "s2->d2", "s4->d4"]);
    assert_eq!(pairs("[\"s1\", \"d4\"]"), ["s2->d2", "s3->d3"]);
    assert_eq!(pairs("\"*2\""), ["s1->d1", "s3->d3", "s4->d4"]);
    let traffic = "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { fixed = \"1 KB\" }\n\
        except = \"s2\"\nbetween = ";
    let pairs = |between: &str| setup(&more(&format!("{traffic}{between}"))).traffic[0].pairs.len();
    assert_eq!(pairs("\"pairs\""), 3);
    // Of eight hosts, seven send to six others.
    assert_eq!(pairs("\"all\""), 42);
    assert_eq!(pairs("[[\"s*\", \"d*\"]]"), 3);
}

#[test]
fn a_list_of_starts_gives_each_flow_its_own() {
    let starts = |text: &str| -> Vec<f64> {
        let text = format!("[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n{text}");
        let text = dumbbell(&text).replace("kind", "pairs = 3\nkind");
        setup(&text).flows.iter().map(|flow| flow.start.secs()).collect()
    };
    assert_eq!(starts("start = [\"0 s\", \"2 s\", \"500 ms\"]"), [0.0, 2.0, 0.5]);
    let text = "count = 2\nexcept = \"s2\"\nstart = [\"1 s\", \"2 s\", \"3 s\", \"4 s\"]";
    assert_eq!(starts(text), [1.0, 2.0, 3.0, 4.0]);
    let drawn = starts("start = [\"0 s\", \"2 s .. 4 s\", \"5 s\"]");
    assert_eq!((drawn[0], drawn[2]), (0.0, 5.0));
    assert!(drawn[1] > 2.0 && drawn[1] < 4.0, "{drawn:?}");
    // Not the first flow decides, but each of its own.
    let text =
        dumbbell("[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ncount = 2\nstart = [\"0 s\", \"11 s\"]");
    let warned = shown(&scenario(&text).warnings);
    assert!(
        warned.contains("\"s1->d1#2\" never starts") && !warned.contains("\"s1->d1\""),
        "{warned}"
    );
}

#[test]
fn the_effective_text_has_the_values_that_were_set() {
    let set = |values: &[(&str, &str)]| {
        let all: Vec<_> = values.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        scenario(&dumbbell(flow())).with_overrides(&all).unwrap()
    };
    let changed = set(&[("bottleneck.rate", "1M"), ("topology.bottleneck.rate", "100M")]);
    assert_eq!(changed.values(), [("topology.bottleneck.rate".into(), "100M".into())]);
    let text = changed.effective("cubic", 3);
    assert!(text.contains("rate = \"100 Mbit/s\"") && !text.contains("xcp"), "{text}");
    assert_eq!(text, set(&[("bottleneck.rate", "100M"), ("seed", "9")]).effective("cubic", 3));
    assert_ne!(text, set(&[("bottleneck.rate", "101M")]).effective("cubic", 3));
}

#[test]
fn overrides_are_checked_like_the_file() {
    let scenario = scenario(&dumbbell(flow()));
    let set =
        |path: &str, value: &str| scenario.with_overrides(&[(path.to_string(), value.to_string())]);
    let changed = set("bottleneck.rate", "100M").unwrap().setup(None, None).unwrap();
    assert!(
        matches!(changed.network.links[0].service, Service::Rate(r) if r == Rate::from_mbps(100))
    );
    // Links are chosen by name, even those that the topology made; a name means one direction.
    let changed = set("link.r1->d1.rate", "7M");
    let said = changed.unwrap_err().to_string();
    assert!(
        said.contains("no link is called \"r1->d1\"") && said.contains("did you mean"),
        "{said}"
    );
    let changed = set("link.r2->d1.rate", "7M").unwrap().setup(None, None).unwrap();
    let rate = |name: &str| {
        let link = changed.network.links.iter().find(|link| link.name == name);
        link.map(|link| link.service.mean_rate())
    };
    assert_eq!(rate("r2->d1"), Some(Rate::from_mbps(7)));
    assert_eq!(rate("d1->r2"), Some(Rate::from_mbps(100)));
    assert_eq!(set("law", "cubic").unwrap().laws(), ["cubic"]);
    assert_eq!(
        set("flow.1.start", "2 s").unwrap().setup(None, None).unwrap().flows[0].start.secs(),
        2.0
    );
    assert_eq!(
        set("topology.pairs", "4").unwrap().setup(None, None).unwrap().network.nodes.len(),
        10
    );
    assert_eq!(
        set("bottleneck.rat", "1 Mbit/s").unwrap_err().to_string(),
        "error: unknown key `rat` in `bottleneck` of [topology]\n --> set:1:1\n  |\n\
         1 | bottleneck.rat=1 Mbit/s\n  | ^^^^^^^^^^^^^^\n  = help: did you mean `rate`?\n  \
         = help: known: rate, delay, delay_trace, overhead, queue, queue_rtt, discipline, loss, trace, duplex, \
         medium, contention, law, police, reorder, reverse, pause, sockets, bursts, outages, jitter, duplicate, policer, shaper"
    );
    assert!(
        set("bottleneck.delay", "5").unwrap_err().to_string().contains("cannot be the number 5")
    );
}

#[test]
fn files_are_kept_for_overrides() {
    let text = dumbbell(flow()).replace("rate = \"10 Mbit/s\"", "trace = \"x\"");
    let scenario = parse_with(&text, &[("x", "1\n")]).unwrap();
    let files = |key: &str, value: &str| -> Vec<(String, String)> {
        let changed = scenario.with_overrides(&[(key.into(), value.into())]).unwrap();
        changed.files().map(|(name, text)| (name.into(), text.into())).collect()
    };
    assert_eq!(files("seed", "3"), [("x".to_string(), "1\n".to_string())]);
    // Only files that the scenario still names are its files.
    assert_eq!(files("bottleneck", "{ rate = '1 Mbit/s', delay = '1 ms' }"), []);
}

#[test]
fn topology_files_of_all_formats() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for (name, routers) in [
        ("topology-zoo/Abilene.graphml", 11),
        ("topology-zoo/AttMpls.graphml", 25),
        ("topology-zoo/Cogentco.graphml", 197),
        ("topohub/sndlib-geant.json", 22),
    ] {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"graph\"\nfile = \"{name}\"\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [[traffic]]\nsizes = {{ fixed = \"10 KB\" }}\nload = {{ fraction = 0.5 }}"
        );
        let loader = |name: &str| std::fs::read_to_string(data.join(name));
        let scenario = Scenario::parse("t", &text, &loader);
        let scenario = scenario.unwrap_or_else(|all| panic!("{all}"));
        let setup = scenario.setup(None, None).unwrap();
        assert_eq!(setup.network.nodes.len(), 2 * routers, "{name}");
    }
}

/// The scenario of the design document, to the letter of TOML.
#[test]
fn the_design_s_own_scenario() {
    let text = r#"
        name     = "Three flows join a 1 Gb/s bottleneck"
        duration = "30 s"
        seed     = 1
        law      = "xcp"

        [topology]
        kind       = "dumbbell"
        pairs      = 3
        bottleneck = { rate = "1 Gbit/s", delay = "23 ms", queue = "1 bdp" }
        access     = { rate = "10 Gbit/s", delay = "1 ms" }

        [[flow]]
        from = "s1"
        to = "d1"
        start = "0 s"

        [[traffic]]
        arrivals = { poisson = "5 /s" }
        sizes    = { pareto = { shape = 1.4, mean = "100 packets" } }

        [[expect]]
        metric = "utilisation"
        link = "bottleneck"
        during = "5 s .. 30 s"
        min = 0.98
        source = "experimental-evaluation slides, single bottleneck"
    "#;
    let setup = setup(text);
    assert_eq!(link(&setup, "bottleneck").limit, Limit::Bytes(Bytes::new(6_250_000)));
    // Traffic goes between the topology's own pairs; a packet's payload is 1460 bytes.
    assert_eq!(setup.traffic[0].pairs.len(), 3);
    assert!(matches!(setup.traffic[0].sizes, Sizes::Pareto { mean, .. } if mean == 146_000.0));
}

#[test]
fn a_custom_network_of_patterns() {
    let text = "duration = \"10 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"\n\
        [[node]]\nname = \"s*\"\ncount = 3\n[[node]]\nname = \"d*\"\ncount = 3\n\
        [[node]]\nname = \"r*\"\ncount = 2\nhost = false\n\
        [[link]]\nbetween = [\"s*\", \"r1\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
        [[link]]\nfrom = \"r2\"\nto = \"d*\"\nrate = \"1 Gbit/s\"\ndelay = \"2 ms\"\nname = \"last\"\n\
        [[link]]\nbetween = [\"r1\", \"r2\"]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\n\
        [[link]]\nbetween = [\"s*\", \"d*\"]\nrate = \"1 Mbit/s\"\ndelay = \"9 s\"\nname = \"side\"\n\
        [[flow]]\nfrom = \"s*\"\nto = \"d*\"\n";
    let setup = setup(text);
    let nodes = &setup.network.nodes;
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["s1", "s2", "s3", "d1", "d2", "d3", "r1", "r2"]);
    assert_eq!(nodes.iter().filter(|node| node.is_host).count(), 6);
    let shown = |link: &ratewire_net::spec::LinkSpec| {
        let end = |id: ratewire_net::spec::NodeId| names[id.index()];
        format!("{} {} {}", link.name, end(link.from), end(link.to))
    };
    let links: Vec<String> = setup.network.links.iter().map(shown).collect();
    assert_eq!(links[..3], ["s1->r1 s1 r1", "r1->s1 r1 s1", "s2->r1 s2 r1"]);
    assert_eq!(links[6..9], ["last.1 r2 d1", "last.2 r2 d2", "last.3 r2 d3"]);
    assert_eq!(links[11..13], ["side.1 s1 d1", "side.1.reverse d1 s1"]);
    assert_eq!(links.len(), 6 + 3 + 2 + 6);
    assert_eq!(setup.flows.len(), 3);
}

#[test]
fn links_of_a_topology_can_be_changed() {
    let change = "[[link]]\nname = \"*->r1\"\ndelay = \"7 ms\"\n[[link]]\nname = \"bottleneck\"\n\
                  queue = \"30 packets\"\nreverse = { rate = \"1 Mbit/s\" }";
    let setup = setup(&dumbbell(change));
    assert_eq!(link(&setup, "s1->r1").delay, Duration::from_millis(7));
    assert_eq!(link(&setup, "r1->s1").delay, Duration::ZERO);
    assert_eq!(link(&setup, "bottleneck").limit, Limit::Packets(30));
    let back = link(&setup, "bottleneck.reverse");
    assert!(matches!(back.service, Service::Rate(r) if r == Rate::from_mbps(1)));
}

#[test]
fn a_given_path_is_measured_by_its_own_delay() {
    let link = |a: &str, b: &str, ms: u64| {
        format!(
            "[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"8 Mbit/s\"\ndelay = \"{ms} ms\"\n"
        )
    };
    let nodes: String = ["a", "b", "c"].map(|n| format!("[[node]]\nname = \"{n}\"\n")).concat();
    let links = link("a", "b", 10) + &link("a", "c", 20) + &link("c", "b", 30);
    let text = format!(
        "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"\n{nodes}{links}\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\n"
    );
    let limit = |text: &str| setup(text).network.links[2].limit;
    // Nothing crosses a->c, so the longest round trip of all, 20 ms, counts. Through c it is 100
    // ms.
    assert_eq!(limit(&text), Limit::Bytes(Bytes::new(20_000)));
    let given = format!("{text}[[path]]\nnodes = [\"a\", \"c\", \"b\"]\n");
    assert_eq!(limit(&given), Limit::Bytes(Bytes::new(100_000)));
    let one_way = format!("{given}both = false\n");
    assert_eq!(limit(&one_way), Limit::Bytes(Bytes::new(60_000)));
}

/// The three ensembles of one network, whose edges come after the flows.
#[track_caller]
fn ensembles_of(setup: &Setup, names: &[&str]) {
    let shop = ["shop", "shop.out", "shop.c", "shop.c.out", "shop.e", "shop.e.out"];
    assert_eq!(names[10..16], shop);
    let shelf = ["shelf.e", "shelf.e.out", "shelf.e.c", "shelf.e.c.out"];
    assert_eq!(names[20..24], shelf, "a switch behind a switch");
    assert_eq!(names[24..], ["desk.out", "desk.c.out", "desk.e.out"]);
    let spec = &setup.ensembles;
    assert_eq!((spec.first_edge, spec.junctions.len()), (10, 4));
    assert_eq!(spec.junctions[0].peer, EnsembleEdge { inbound: Some(10), outbound: Some(11) });
    assert_eq!(spec.junctions[1].members[1], spec.junctions[2].peer);
    assert_eq!(spec.junctions[3].members[1], EnsembleEdge { inbound: None, outbound: Some(26) });
    let fails = MemberEvent::Fail { junction: 0, member: 0 };
    assert!(spec.events.contains(&(Time::ZERO + Duration::from_secs(5), fails)));
    assert!(spec.events.contains(&(Time::ZERO, MemberEvent::Hold(15))));
    // Receivers of the peer and of a member. Where a switch sends there is no writer and no
    // handshake.
    assert!(matches!(setup.flows[11].app.reader, Reader::Alternating { .. }));
    assert_eq!(setup.flows[12].transport.receive_window, ReceiveWindow::Fixed(Bytes::new(64_000)));
    assert_eq!(setup.flows[14].transport.receive_window, ReceiveWindow::Fixed(Bytes::new(200_000)));
    assert_eq!(setup.flows[12].app.writer, Writer::Constant { rate: Rate::ZERO });
    assert_eq!(setup.flows[10].app.writer, Writer::Unlimited);
}

#[test]
fn a_dumbbell_is_drawn_at_least_as_wide_as_high() {
    for pairs in [1, 2, 3, 8, 14] {
        let text = dumbbell(flow()).replace("kind =", &format!("pairs = {pairs}\nkind ="));
        let nodes = scenario(&text).setup(None, None).unwrap().network.nodes;
        let at = |name: &str| {
            let node = nodes.iter().find(|node| node.name == name);
            node.and_then(|node| node.position).expect(name)
        };
        let (first, last) = (at("s1"), at(&format!("d{pairs}")));
        assert!(last.0 - first.0 >= first.1 - last.1, "{pairs}");
        assert!(at("r2").0 - at("r1").0 >= (first.1 - last.1) / 3.0, "{pairs}");
    }
}

#[test]
fn names_with_arrows_need_no_quotes() {
    let more = "[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n[[link]]\nname = \"s2:r1\"\ndelay = \"9 ms\"\n\
        [[expect]]\nmetric = \"goodput\"\nflow = FLOW\nmin = \"1 bit/s\"\n";
    let text = dumbbell(more).replace("kind", "pairs = 3\nkind");
    for (flow, target) in [("\"s1-d1\"", "s1-d1"), ("[\"s1:d1\", \"*-d2\"]", "s1:d1, *-d2")] {
        let scenario = scenario(&text.replace("FLOW", flow));
        assert_eq!(scenario.expectations[0].target, target);
        let setup = scenario.setup(None, None).unwrap();
        assert_eq!(link(&setup, "s2->r1").delay.secs(), 0.009);
        let set = |path: &str| {
            let set = scenario.with_overrides(&[(path.to_string(), "7 ms".to_string())]).unwrap();
            link(&set.setup(None, None).unwrap(), "s2->r1").delay.secs()
        };
        assert_eq!(
            ["link.s2->r1.delay", "link.s2-r1.delay", "link.s2:r1.delay"].map(set),
            [0.007; 3]
        );
    }
}
