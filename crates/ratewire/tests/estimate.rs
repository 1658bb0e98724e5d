//! What memory a run is said to need, beside what it holds in the end.

use ratewire::Experiment;

fn estimated(law: &str, traffic: &str, queue: &str) -> u64 {
    let text = format!(
        "duration = \"100 s\"\nlaw = \"{law}\"\n[topology]\nkind = \"dumbbell\"\npairs = 1\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", queue = \"{queue}\" }}\n\
         access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n{traffic}"
    );
    let experiment = Experiment::parse("t.toml", &text).expect("a scenario");
    experiment.plan().expect("a plan").jobs[0].memory_estimate().get()
}

const FLOW: &str = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n";

#[test]
fn what_the_network_cannot_carry_is_counted() {
    // An excess of 990 Mbit/s for 100 s: 8.25 million packets.
    let fixed = estimated("fixed", FLOW, "unlimited");
    assert!((1_500_000_000..3_000_000_000).contains(&fixed), "{fixed}");
    // Packets beyond the capacity of a queue are dropped.
    let limited = estimated("fixed", FLOW, "100 packets");
    assert!(limited < 1_000_000_000, "{limited}");
    let reacting = estimated("xcp", FLOW, "unlimited");
    assert!(reacting < 10_000_000, "{reacting}");
    // 1,000 flows a second of 10 KB are 80 Mbit/s: seven of eight never complete.
    let traffic =
        "[[traffic]]\narrivals = { poisson = \"1000 /s\" }\nsizes = { fixed = \"10 KB\" }\n";
    let overload = estimated("newreno", traffic, "100 packets");
    assert!((150_000_000..200_000_000).contains(&overload), "{overload}");
    let light = estimated("newreno", &traffic.replace("1000", "100"), "100 packets");
    assert!(light < 1_000_000, "{light}");
}
