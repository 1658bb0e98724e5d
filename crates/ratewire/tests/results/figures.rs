//! What is said of a run agrees with itself and with the run.

use ratewire::Experiment;
use ratewire::report::{FlowSummary, Run};
use ratewire::units::Duration;

fn experiment(text: &str) -> Experiment {
    Experiment::parse("test.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn run_of(experiment: &Experiment) -> ratewire::Run {
    let results = experiment.run().unwrap_or_else(|wrong| panic!("{wrong}"));
    results.runs()[0].clone()
}

fn run(text: &str) -> Run {
    run_of(&experiment(text)).into_report()
}

/// A peer, a switch and three members.
fn ensemble(more: &str) -> String {
    let mut text =
        "duration = \"10 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"\n".to_string();
    for node in ["c", "a1", "a2", "a3"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    text += "[[node]]\nname = \"q\"\nhost = false\n";
    for (node, rate) in [("c", 20), ("a1", 2), ("a2", 30), ("a3", 30)] {
        text += &format!(
            "[[link]]\nbetween = [\"q\", \"{node}\"]\nrate = \"{rate} Mbit/s\"\ndelay = \"3 ms\"\n"
        );
    }
    text + "[[ensemble]]\nname = \"kv\"\npeer = \"c\"\nswitch = \"q\"\nmembers = [\"a*\"]\n" + more
}

/// The explanation of a flow's rate at a time.
fn why(text: &str, flow: &str, at: Duration) -> String {
    let run = run_of(&experiment(text).why(format!("{flow}@{at}")));
    run.why().expect("an answer").to_string()
}

/// Two hosts fill a switch that pauses them; nothing else slows them down.
#[test]
fn a_pause_is_explained_with_its_link_and_threshold() {
    let mut text = "duration = \"1 s\"\nlaw = \"noq\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
        link = { rate = \"1 Gbit/s\", delay = \"1 us\", queue = \"50 packets\", sockets = \"in-turn\", \
        pause = { xoff = \"30 KB\" } }\n[transport]\nreceive_window = \"1 GB\"\n"
        .to_string();
    for from in ["h1", "h2"] {
        text += &format!("[[flow]]\nfrom = \"{from}\"\nto = \"h3\"\n");
    }
    let said = why(&text, "h1->h3", Duration::from_millis(500));
    assert!(said.contains("Bound by pause of h1->r1, told by the buffer of r1"), "{said}");
    assert!(said.contains("xoff = 30.0 KB"), "{said}");
    assert!(said.contains("of that: the buffer of r1 held more than 30 KB"), "{said}");
    // Waiting and pause times are microseconds to milliseconds.
    assert!(said.contains("paused = ") && said.contains("waited = "), "{said}");
    // A single host is limited only by the rate of its own link.
    let alone = text.replace("[[flow]]\nfrom = \"h2\"\nto = \"h3\"\n", "");
    let said = why(&alone, "h1->h3", Duration::from_millis(500));
    assert!(said.contains("Bound by h1->r1, which is the sender's own"), "{said}");
    let unlimited = text.replace("1 GB", "unlimited");
    let said = why(&unlimited, "h1->h3", Duration::from_millis(500));
    assert!(
        said.contains("           no window") && said.contains("receiver's window = none"),
        "{said}"
    );
}

/// Where a token bucket holds flows, it is the bottleneck, and its rate is what flows share.
#[test]
fn flows_share_the_rate_of_a_token_bucket() {
    for key in ["policer", "shaper"] {
        let bucket = format!("{key} = {{ rate = \"10 Mbit/s\", burst = \"64 KB\" }}");
        let run = run(&format!(
            "duration = \"10 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\npairs = 2\n\
             bottleneck = {{ rate = \"100 Mbit/s\", delay = \"10 ms\", queue = \"100 KB\", {bucket} }}\n\
             access = {{ rate = \"50 Mbit/s\", delay = \"1 ms\" }}\n\
             [[flow]]\nfrom = \"s*\"\nto = \"d*\"\n"
        ));
        let expected: Vec<&str> = run
            .summary
            .links
            .iter()
            .filter(|link| link.expected_bottleneck)
            .map(|link| link.name.as_str())
            .collect();
        assert_eq!(expected, ["bottleneck"], "{key}");
        let goodput: f64 = run.summary.flows.iter().map(|flow| flow.goodput_bps).sum();
        assert!((8e6..10e6).contains(&goodput), "{key}: {goodput}");
    }
}

/// What a link does by itself to a packet is told at its hop.
#[test]
fn a_packet_tells_what_its_link_did() {
    let with = |bottleneck: &str, more: &str| {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"fixed\"\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ rate = \"100 Mbit/s\", delay = \"10 ms\", {bottleneck} }}\n\
             [options.fixed]\nrate = \"50 Mbit/s\"\n[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n{more}"
        );
        why(&text, "s1->d1", Duration::from_millis(400))
    };
    let said = |bottleneck: &str| with(bottleneck, "");
    let quiet = said("queue = \"unlimited\"");
    assert!(!quiet.contains("jitter") && !quiet.contains("shaper") && !quiet.contains("dropped"));
    let jitter = said("jitter = { mean = \"5 ms\", deviation = \"0 s\" }");
    assert!(jitter.contains("     took 5 ms more on the link (jitter)\n"), "{jitter}");
    assert!(!quiet.contains("reorder") && !quiet.contains("duplicate"), "{quiet}");
    let late = said("reorder = { share = 1, delay = \"3 ms\" }");
    assert!(late.contains("     came 3 ms late, so others may overtake it (reorder)\n"), "{late}");
    let twice = said("duplicate = 1");
    // Of both directions: the acknowledgement is not told of unless it was changed.
    assert_eq!(twice.matches("     arrived twice (duplicate)\n").count(), 1, "{twice}");
    let bucket = "{ rate = \"1 Mbit/s\", burst = \"2 packets\" }";
    // A packet of 1.5 KB takes 12 ms at 1 Mbit/s, and 0.12 ms on the link.
    let shaped = said(&format!("shaper = {bucket}, queue = \"100 packets\""));
    let dropped = shaped.contains("   dropped there: queue full\n");
    assert!(dropped || shaped.contains(" more for the tokens of the shaper\n"), "{shaped}");
    let policed = said(&format!("policer = {bucket}"));
    assert!(policed.contains("bottleneck: 0 packets waiting, never left"), "{policed}");
    assert!(policed.contains("   dropped there: over the policer's rate\n"), "{policed}");
    let by = "Bound by bottleneck, which dropped the packet (over the policer's rate)";
    assert!(policed.contains(by), "{policed}");
    let changed = |change: &str| {
        let at = "[[change]]\nat = \"399 ms\"\nlink = \"bottleneck\"";
        with("queue = \"unlimited\"", &format!("{at}\n{change}\n"))
    };
    let down = changed("up = false");
    assert!(down.contains("   dropped there: link down\n"), "{down}");
    let lost = changed("loss = { random = 1 }");
    assert!(lost.contains("   lost on the wire\n"), "{lost}");
}

/// A flow over one link, of an application that pauses for two seconds.
const PAUSING: &str = "duration = \"6 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\npairs = 1\n\
    [topology.bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n\
    app = { on_off = { burst = \"1 MB\", pause = \"2 s\" } }\n";

#[test]
fn where_a_flow_is_silent_it_is_said_which_packet_is_followed() {
    let silent = why(PAUSING, "s1->d1", Duration::from_secs(2));
    let said = silent.lines().nth(2).unwrap();
    let (before, sent) = said.split_once("; this is the packet sent at ").expect(said);
    assert_eq!(before, format!("s1->d1 sent nothing between 2 s and {sent}, probes aside"));
    let sent: Duration = sent.parse().unwrap();
    assert!(sent > Duration::from_millis(2500) && sent < Duration::from_secs(5), "{sent}");
    let busy = why(PAUSING, "s1->d1", Duration::from_millis(500));
    assert!(!busy.contains("sent nothing"), "{busy}");
    let late = why(&format!("{PAUSING}start = \"1 s\"\n"), "s1->d1", Duration::from_millis(500));
    assert!(late.contains("\ns1->d1 starts at 1 s; this is the packet sent at 1."), "{late}");
}

/// Every symbol in a port's equation has its value, whether of the port or of the packet.
#[test]
fn each_symbol_of_what_binds_has_its_number() {
    let said = why(PAUSING, "s1->d1", Duration::from_millis(500));
    let bound = said.split("Bound by ").nth(1).unwrap();
    let names = ["delta_throughput", "Cp", "X", "Cn", "size", "F", "alpha", "C", "y", "beta", "q"];
    for name in names {
        assert!(bound.contains(&format!(" {name} = ")), "{name} in {said}");
    }
    assert!(bound.contains("size = 1.50 KB") && bound.contains("/s/s, Cn = "), "{said}");
}

/// A packet through the switch to the member, and its acknowledgement back.
#[test]
fn an_ensembles_packet_is_followed_past_its_switch() {
    let at = Duration::from_secs(5);
    // The peer's cable limits the members; one member's cable limits the peer.
    let said = why(&ensemble("direction = \"inbound\"\n"), "kv", at);
    let (_, member) = said.split_once("its switch sends it on in kv.").expect(&said);
    let member = member.lines().next().unwrap();
    assert!(member.starts_with('a') && said.contains("acknowledged, carrying"), "{said}");
    let own = format!("Bound by q->{member}\n");
    assert!(said.contains(&own) || said.contains("Bound by c->q\n"), "{said}");
    let said = why(&ensemble("direction = \"outbound\"\n"), "kv.a2.out", at);
    assert!(said.contains("its switch sends it on in kv.out"), "{said}");
    assert!(said.contains("Bound by q->c"), "{said}");
}

/// One cable is slowest and another is loaded: figures are about the loaded one, by name.
#[test]
fn the_loaded_link_is_what_verdicts_are_about() {
    let more = "direction = \"inbound\"\nrouting = { weighted = [1, 98, 1] }\n";
    let run = run(&ensemble(more));
    let table =
        ratewire_report::table::render(&[run], &ratewire_report::table::TableOptions::default());
    assert!(table.contains("utilisation and queue (packets) of c->q"), "{table}");
}

/// Members that differ by much, each with an end: every byte counts once, however long a flow
/// lasted.
#[test]
fn shares_of_ensembles_are_parts_of_one_total() {
    let run = run(&ensemble("size = \"600 KB\"\n"));
    let flows = &run.summary.flows;
    let share = |name: &str| -> f64 {
        let of = |flow: &&FlowSummary| flow.name == name;
        flows.iter().find(of).unwrap_or_else(|| panic!("no {name}")).share
    };
    // 600 KB there, three times as much back.
    for (name, wanted) in [("kv", 0.25), ("kv.out", 0.75), ("kv.a1.out", 0.25)] {
        assert!((share(name) - wanted).abs() < 1e-12, "{name}: {}", share(name));
    }
    let there: f64 = (1..=3).map(|i| share(&format!("kv.a{i}"))).sum();
    assert!((there - share("kv")).abs() < 1e-12, "{there}");
    assert!(flows.iter().all(|flow| flow.completion_s.is_some()));
    // Transfers are those of applications: one of the peer, three of the members.
    assert_eq!(run.summary.completions.map(|all| all.flows), Some(4));
    assert_eq!(run.summary.unfinished_flows, Some(0));
    // The total in the plot consists of delivered data.
    let total = run.collected.all_flows.get("total").expect("the total");
    let bytes: f64 = total.values().sum::<f64>() * total.interval().secs() / 8.0;
    assert!((bytes / 2.4e6 - 1.0).abs() < 0.01, "{bytes}");
}

#[test]
fn what_the_queue_of_a_link_holds_is_listed() {
    let room = |queue: &str| {
        let text = PAUSING.replace("delay = \"20 ms\"", &format!("delay = \"20 ms\"\n{queue}"));
        let run = run(&text);
        let link = run.summary.links.iter().find(|link| link.name == "bottleneck").expect("one");
        assert_eq!((link.rate_bps, link.delay_s), (10_000_000, 0.02));
        (link.room_bytes, link.room_packets)
    };
    assert_eq!(room(""), (Some(50_000), None), "40 ms at 10 Mbit/s");
    assert_eq!(room("queue = \"64 KB\""), (Some(64_000), None));
    assert_eq!(room("queue = \"7 packets\""), (None, Some(7)));
    assert_eq!(room("queue = \"unlimited\""), (None, None));
}

#[test]
fn shares_of_one_are_neither_equal_nor_unequal() {
    let jain = |flows: u32| {
        let more = format!("[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ncount = {flows}\n");
        let (network, _) = PAUSING.split_once("[[flow]]").expect("a flow");
        run(&format!("{network}{more}")).summary.jain_index
    };
    assert_eq!(jain(1), None);
    assert!(jain(2).is_some_and(|jain| jain > 0.99));
}

/// Nine flows leave the second hop before the end; the two that stay had their fair rates.
#[test]
fn fair_rates_are_those_beside_flows_that_stop() {
    let text = "duration = '10 s'\nlaw = 'xcp'\n[topology]\nkind = 'parking-lot'\nhops = 2\n\
         link = { rate = '20 Mbit/s', delay = '5 ms' }\n\
         [[flow]]\nname = 'long'\nfrom = 's0'\nto = 'd0'\n\
         [[flow]]\nname = 'one'\nfrom = 's1'\nto = 'd1'\n\
         [[flow]]\nname = 'many'\nfrom = 's2'\nto = 'd2'\ncount = 9\nstop = '9 s'\n";
    let summary = run(text).summary;
    let [long, one] = [0, 1].map(|i| summary.flows[i].goodput_bps);
    assert!(one > 4.0 * long, "max-min gives 18 and 2 Mbit/s: {one} {long}");
    assert!(summary.jain_index.is_some_and(|jain| jain > 0.97), "{:?}", summary.jain_index);
}
