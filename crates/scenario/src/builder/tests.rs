use ratewire_units::Bytes;

use super::*;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn what_is_built_is_what_a_file_would_say() {
    let link = Link::new(Rate::from_mbps(10), Duration::from_millis(20)).queue("50 packets");
    let built = Scenario::builder("Pairs", seconds(10), "xcp")
        .seed(7)
        .description("Two pairs, \"quoted\"")
        .dumbbell(2, link.with("discipline", "{ codel = { ecn = true } }"))
        .with("transport", "{ ecn = true }")
        .flow(Flow::new("s1", "d1").named("bulk").start(seconds(1)).stop(seconds(9)))
        .flow(Flow::new("s2", "d2").law("cubic").size(Bytes::new(1_234_567)))
        .expect(
            Expect::of("utilisation")
                .link("bottleneck")
                .during(seconds(2), seconds(8))
                .at_least(0.5),
        )
        .build()
        .unwrap();
    let written = r#"
name = "Pairs"
description = "Two pairs, \"quoted\""
duration = "10 s"
seed = 7
law = "xcp"
transport = { ecn = true }

[topology]
kind = "dumbbell"
pairs = 2
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets", discipline = { codel = { ecn = true } } }

[[flow]]
name = "bulk"
from = "s1"
to = "d1"
start = "1 s"
stop = "9 s"

[[flow]]
from = "s2"
to = "d2"
law = "cubic"
size = "1234567 B"

[[expect]]
metric = "utilisation"
link = "bottleneck"
during = "2 s .. 8 s"
min = 0.5
"#;
    let read = Scenario::parse("t.toml", written, &|_| Err(io::ErrorKind::NotFound.into()));
    let read = read.unwrap();
    let setup = |scenario: &Scenario| format!("{:?}", scenario.setup(None, None).unwrap());
    assert_eq!(setup(&built), setup(&read));
    let facts = |scenario: &Scenario| {
        let [expected] = &scenario.expectations[..] else { panic!("one expectation") };
        let bound = format!("{:?}", expected.bound);
        let (metric, target) = (expected.metric, expected.target.clone());
        let about = (scenario.name.clone(), scenario.description.clone());
        (about, metric, target, expected.during, bound)
    };
    assert_eq!(facts(&built), facts(&read));
}

#[test]
fn what_is_no_round_number_is_exact() {
    let odd = Link::new(Rate::from_bps(9_999_999), Duration::from_nanos(20_000_001));
    let built = Scenario::builder("Odd", Duration::from_nanos(1_000_000_007), "newreno")
        .host("a")
        .host("b")
        .one_way("a", "b", odd.clone().named("there"))
        .one_way("b", "a", odd)
        .flow(Flow::new("a", "b"))
        .build()
        .unwrap();
    let setup = built.setup(None, None).unwrap();
    let link = &setup.network.links[0];
    assert_eq!((&link.name[..], link.service.mean_rate().bps()), ("there", 9_999_999));
    assert_eq!(link.delay, Duration::from_nanos(20_000_001));
    assert_eq!(setup.duration, Duration::from_nanos(1_000_000_007));
}

#[test]
fn what_is_wrong_is_shown_in_the_text() {
    let builder = Scenario::builder("Wrong", seconds(1), "xpc").host("a").host("b");
    let builder = builder.cable("a", "b", Link::default()).flow(Flow::new("a", "c"));
    let wrong = builder.build().unwrap_err();
    let all: Vec<String> = wrong.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        all.iter().any(|one| one.contains("\"xpc\"") && one.contains("did you mean")),
        "{all:?}"
    );
    assert!(
        all.iter().any(|one| one.contains("(built in code)") && one.contains("\"c\"")),
        "{all:?}"
    );
}
