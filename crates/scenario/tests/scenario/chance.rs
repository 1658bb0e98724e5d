//! Jitter, random starts and random clocks of ports.

use std::path::Path;

use proptest::prelude::*;
use ratewire_net::spec::PortClocks;
use ratewire_scenario::Scenario;
use ratewire_sim::setup::Setup;
use ratewire_transport::Jitter;
use ratewire_units::{Duration, Time};

use crate::common::{dumbbell, flow, refused, scenario, setup, shown, warned};

/// Two flows that meet at a bottleneck, without anything random.
fn in_step(more: &str) -> String {
    format!(
        "duration = \"10 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\npairs = 2\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"20 packets\" }}\n\
         [transport]\njitter = \"none\"\n[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n{more}\n"
    )
}

fn warnings_of(scenario: &Scenario) -> String {
    let plan = scenario.plan(None, None).expect("a plan");
    shown(&scenario.vain_when_simulated(&plan))
}

#[test]
fn hosts_have_jitter_and_ports_random_clocks_unless_a_scenario_says_otherwise() {
    let usual = setup(&dumbbell(flow()));
    assert_eq!(usual.flows[0].transport.jitter, Jitter::PacketTime);
    assert_eq!(usual.network.port_clocks, PortClocks::Random);
    assert!(usual.has_chance());
    for (written, jitter) in [
        ("none", Jitter::NONE),
        ("0 s", Jitter::NONE),
        ("packet-time", Jitter::PacketTime),
        ("100 us", Jitter::UpTo(Duration::from_micros(100))),
    ] {
        let text = dumbbell(&format!("[transport]\njitter = \"{written}\"\n{}", flow()));
        assert_eq!(setup(&text).flows[0].transport.jitter, jitter, "{written}");
        let own = dumbbell(&format!("{}transport = {{ jitter = \"{written}\" }}", flow()));
        assert_eq!(setup(&own).flows[0].transport.jitter, jitter, "{written}");
    }
    let exact = dumbbell(&format!("[transport]\njitter = \"none\"\n{}", flow()));
    let exact = format!("port_clocks = \"equal\"\n{exact}");
    assert_eq!(setup(&exact).network.port_clocks, PortClocks::Equal);
    assert!(!setup(&exact).has_chance());
}

#[test]
fn a_range_needs_two_times_in_order() {
    for (range, says, help) in [
        ("100 ms .. 10 ms", "`start`: a range from 100 ms to 10 ms is empty", "the earlier time"),
        ("0 s .. 5", "`start`: ", "a range of times such as \"0 s .. 100 ms\""),
        ("1 s .. 2 sec", "`start`: ", "a range of times such as \"0 s .. 100 ms\""),
        ("..", "`start`: ", "a range of times such as \"0 s .. 100 ms\""),
    ] {
        let said = refused(&dumbbell(&format!("{}start = \"{range}\"", flow())));
        assert!(said.contains(says) && said.contains(help), "{range}: {said}");
        assert!(said.contains("--> test.toml:9:9"), "{range}: {said}");
    }
    let stops = refused(&dumbbell(&format!("{}start = \"1s..3s\"\nstop = \"2 s\"", flow())));
    assert!(stops.contains("a flow that may start at 3 s cannot stop at 2 s"), "{stops}");
    let late = warned(&dumbbell(&format!("{}start = \"8s..12s\"", flow())));
    assert!(late.contains("the flow \"s1->d1\" may not start"), "{late}");
}

#[test]
fn a_flow_in_a_range_draws_its_own_start_by_its_name() {
    let many = |more: &str| {
        let all = dumbbell(&format!(
            "{more}[[flow]]\nname = \"bulk\"\nfrom = \"s1\"\nto = \"d1\"\n\
                                     count = 3\nstagger = \"1 s\"\nstart = \"0s..100ms\""
        ));
        setup(&all)
    };
    let alone = many("");
    assert!(alone.has_random_starts && alone.has_chance());
    let starts: Vec<Time> = alone.flows.iter().map(|flow| flow.start).collect();
    let within = |(i, at): (u64, &Time)| {
        let first = Time::from_secs(i);
        (first..first + Duration::from_millis(100)).contains(at)
    };
    assert!((0..).zip(&starts).all(within), "{starts:?}");
    let offset = |i: usize| starts[i].since(Time::from_secs(i as u64));
    assert_ne!(offset(0), offset(1));
    // Another flow before them changes nothing.
    let beside = many(flow());
    let after: Vec<Time> = beside.flows[1..].iter().map(|flow| flow.start).collect();
    assert_eq!(after, starts);
    assert!(!setup(&dumbbell(flow())).has_random_starts);
}

#[test]
fn a_program_starts_with_its_flow() {
    let text = dumbbell(&format!("{}start = \"0s..5s\"\nrun = \"true\"", flow()));
    let setup: Setup = setup(&text);
    assert_eq!(setup.programs[0].start, Some(setup.flows[0].start));
    assert_ne!(setup.flows[0].start, Time::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_start_lies_in_its_range_and_depends_on_flow_and_seed_alone(
        first in 0..2_000_000_u64,
        length in 0..2_000_000_u64,
        seed in any::<u64>(),
    ) {
        let last = first + length;
        let text = |law: &str| {
            let flows = format!("{}start = \"{first} us .. {last} us\"", flow());
            dumbbell(&flows).replace("\"xcp\"", &format!("\"{law}\""))
        };
        let start = |law: &str, seed: u64| {
            let setup = scenario(&text(law)).setup(None, Some(seed)).expect("a setup");
            setup.flows[0].start
        };
        let one = start("xcp", seed);
        let at = |us: u64| Time::ZERO + Duration::from_micros(us);
        prop_assert!(one >= at(first) && one <= at(last), "{one}");
        prop_assert_eq!(one, start("cubic", seed));
        if length > 1_000 {
            prop_assert_ne!(one, start("xcp", seed.wrapping_add(1)));
        }
    }
}

#[test]
fn flows_in_step_are_reported_with_the_remedy() {
    let said = warnings_of(&scenario(&in_step("")));
    assert_eq!(
        said.trim_end(),
        "warning: \"s1->d1\" and 1 more start together, and nothing is random: at the drop-tail \
         queue of \"bottleneck\" their order alone decides who loses packets\n --> test.toml\n  = help: \
         jitter = \"packet-time\" in [transport] breaks such phase effects, and so does a range as `start`"
    );
    for (what, text) in [
        ("jitter", in_step("").replace("\"none\"", "\"packet-time\"")),
        ("a range", in_step("start = \"0s..1s\"")),
        ("other times", in_step("stagger = \"10 ms\"")),
        ("one flow", in_step("").replace("\"s*\"", "\"s1\"").replace("\"d*\"", "\"d1\"")),
        ("no losses", in_step("").replace("20 packets", "unlimited")),
        (
            "a discipline",
            in_step("").replace("\"20 packets\"", "\"1 bdp\", discipline = \"codel\""),
        ),
        ("a law that asks routers", in_step("").replace("newreno", "xcp")),
        ("other chance", in_step("[[link]]\nname = \"bottleneck\"\nloss = { random = 0.01 }")),
    ] {
        assert_eq!(warnings_of(&scenario(&text)), "", "{what}");
    }
}

/// The project's scenario of published exponents, at several seeds; without jitter, phase effects
/// give the short flow less.
#[test]
fn short_round_trips_get_what_published_exponents_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/rtt-exponents.toml");
    let scenario = Scenario::load(&path).unwrap_or_else(|all| panic!("{all}"));
    let ratio = |scenario: &Scenario, law: &str, seed: u64| {
        let plan = scenario.plan(Some(law), Some(seed)).expect("a plan");
        let mut evaluator = scenario.evaluator(&plan);
        let outcome = ratewire_sim::run(&plan.setup, &mut evaluator).expect("it runs");
        let pass = evaluator.finish(&outcome).iter().all(|finding| finding.pass);
        let [short, long] = [0, 1].map(|flow: usize| outcome.flows[flow].delivered.as_f64());
        (short / long, pass)
    };
    let none = [("transport.jitter".to_string(), "none".to_string())];
    let regular = scenario.with_overrides(&none).expect("the key");
    for law in ["newreno", "cubic"] {
        let ratios: Vec<(f64, bool)> = (1..=3).map(|seed| ratio(&scenario, law, seed)).collect();
        assert!(ratios.iter().all(|(_, pass)| *pass), "{law}: {ratios:?}");
        let (without, pass) = ratio(&regular, law, 1);
        assert!(without < 1.0 && !pass, "{law}: {without}");
    }
}
