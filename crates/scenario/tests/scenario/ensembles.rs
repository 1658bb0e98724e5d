//! Connections with many ends, from their text to the delivered data.

use ratewire_scenario::Scenario;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::NoRecorder;
use ratewire_units::{Duration, Time};

use crate::common::{scenario, shown};

/// Two clusters of three hosts and two switches in a row: `c1 .. c3 - p - q - a1 .. a3`.
fn clusters(law: &str, more: &str) -> Scenario {
    let mut text = format!("duration = \"60 s\"\nlaw = \"{law}\"\n[topology]\nkind = \"custom\"\n");
    for node in ["c1", "c2", "c3", "a1", "a2", "a3"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    text += "[[node]]\nname = \"p\"\nhost = false\n[[node]]\nname = \"q\"\nhost = false\n";
    let mut link = |a: &str, b: &str, rate: u32, delay: u32| {
        text += &format!(
            "[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n\
             queue = \"60 packets\"\n"
        );
    };
    link("p", "q", 20, 4);
    for i in 1..=3 {
        link("p", &format!("c{i}"), 30, i);
        link("q", &format!("a{i}"), 30, 3 * i);
    }
    scenario(&(text + more))
}

fn run(scenario: &Scenario) -> Outcome {
    let setup = scenario.setup(None, None).unwrap_or_else(|all| panic!("{all}"));
    // The engine itself checks that packets are conserved.
    ratewire_sim::run(&setup, &mut NoRecorder).unwrap()
}

fn delivered(outcome: &Outcome, name: &str) -> u64 {
    let flow = outcome.flows.iter().find(|flow| flow.name == name);
    flow.unwrap_or_else(|| panic!("no {name}")).delivered.get()
}

fn completed(outcome: &Outcome, name: &str) -> Option<Time> {
    outcome.flows.iter().find(|flow| flow.name == name)?.completed
}

/// Completion times of the named flows, in the order of the names.
fn order(outcome: &Outcome, names: &[&str]) -> Vec<Time> {
    names.iter().map(|name| completed(outcome, name).unwrap_or_else(|| panic!("{name}"))).collect()
}

const ONE_TO_MANY: &str = "[[ensemble]]\nname = \"kv\"\npeer = \"c1\"\nswitch = \"q\"\n";

/// A receiver's buffer limits its senders from the first packet, however large the transport's
/// buffers. The reason is that a switch never takes back a window it has announced.
#[test]
fn a_receive_buffer_of_ones_own_binds_from_the_start() {
    for law in ["xcp", "newreno"] {
        for (ends, flow) in [
            ("peer = \"c1\"\nmembers = [{ node = \"a1\", receive_window = \"4 packets\" }]", "kv"),
            (
                "peer = { node = \"c1\", receive_window = \"4 packets\" }\nmembers = [\"a1\"]",
                "kv.out",
            ),
        ] {
            let direction = if flow == "kv" { "inbound" } else { "outbound" };
            let more = format!(
                "[[ensemble]]\nname = \"kv\"\nswitch = \"q\"\ndirection = \"{direction}\"\n{ends}\n"
            );
            // Four packets in a round trip of 16 ms.
            let most = 4.0 * 1460.0 * 60.0 / 0.016;
            let delivered = delivered(&run(&clusters(law, &more)), flow) as f64;
            assert!((0.5 * most..most).contains(&delivered), "{law} {flow}: {delivered} of {most}");
        }
    }
}

#[test]
fn what_the_peer_sends_arrives_at_the_members_once() {
    for law in ["xcp", "rcp", "piqi-rcp", "newreno", "cubic", "fixed"] {
        for routing in [
            "\"round-robin\"",
            "\"least-outstanding\"",
            "\"power-of-two\"",
            "{ hash = { len = 8 } }",
        ] {
            let more = format!(
                "{ONE_TO_MANY}members = [\"a*\"]\nrouting = {routing}\nsize = \"3 MB\"\n\
                 direction = \"inbound\"\n"
            );
            let outcome = run(&clusters(law, &more));
            assert!(completed(&outcome, "kv").is_some(), "{law} {routing}");
            assert_eq!(delivered(&outcome, "kv"), 3_000_000, "{law} {routing}");
            let members: u64 = (1..=3).map(|i| delivered(&outcome, &format!("kv.a{i}"))).sum();
            assert_eq!(members, 3_000_000, "{law} {routing}");
            // The peer receives acknowledgements after the data arrived.
            for i in 1..=3 {
                let whole = completed(&outcome, "kv");
                let part = completed(&outcome, &format!("kv.a{i}"));
                assert!(part.is_some() && part < whole, "{law} {routing}");
            }
        }
    }
}

#[test]
fn what_members_send_arrives_at_the_peer_once() {
    for law in ["xcp", "rcp", "newreno"] {
        let more =
            format!("{ONE_TO_MANY}members = [\"a*\"]\nsize = \"1 MB\"\ndirection = \"outbound\"\n");
        let outcome = run(&clusters(law, &more));
        assert_eq!(delivered(&outcome, "kv.out"), 3_000_000, "{law}");
        for i in 1..=3 {
            assert!(completed(&outcome, &format!("kv.a{i}.out")).is_some(), "{law}");
            assert_eq!(delivered(&outcome, &format!("kv.a{i}.out")), 1_000_000, "{law}");
        }
        // The peer's connection completes with that of the last member, a little before the member
        // learns of it.
        let last = (1..=3).filter_map(|i| completed(&outcome, &format!("kv.a{i}.out"))).max();
        let whole = completed(&outcome, "kv.out");
        assert!(
            whole < last && whole.is_some_and(|at| at + Duration::from_millis(40) > last.unwrap()),
            "{law}"
        );
    }
}

/// Neither cluster knows the size of the other.
#[test]
fn a_cluster_talks_to_a_cluster() {
    let peer = "peer = { switch = \"p\", members = [\"c*\"] }\n";
    for law in ["xcp", "rcp", "newreno"] {
        let more = format!(
            "[[ensemble]]\nname = \"two\"\n{peer}switch = \"q\"\nmembers = [\"a*\"]\nsize = \"1 MB\"\n"
        );
        let outcome = run(&clusters(law, &more));
        for way in ["two", "two.out"] {
            assert_eq!(delivered(&outcome, way), 3_000_000, "{law} {way}");
        }
        for i in 1..=3 {
            for edge in [format!("two.c{i}"), format!("two.a{i}.out")] {
                assert!(completed(&outcome, &edge).is_some(), "{law} {edge}");
            }
            for edge in [format!("two.a{i}"), format!("two.c{i}.out")] {
                let share = delivered(&outcome, &edge) as f64 / 1e6;
                assert!((share - 1.0).abs() < 0.01, "{law} {edge} {share}");
            }
        }
    }
}

/// Switches in a chain, and applications that stop: an edge completes when its data have arrived.
/// Parts complete no later than the whole.
#[test]
fn edges_are_over_when_their_part_is() {
    let peer = "peer = { switch = \"p\", members = [\"c*\"] }\n";
    for end in ["size = \"1 MB\"", "stop = \"2 s\""] {
        let more = format!(
            "[[ensemble]]\nname = \"two\"\n{peer}switch = \"q\"\nmembers = [\"a*\"]\n{end}\n"
        );
        let outcome = run(&clusters("xcp", &more));
        for i in 1..=3 {
            let (a, c) = (format!("two.a{i}"), format!("two.c{i}.out"));
            let times = order(&outcome, &[&a, "two"]);
            assert!(times[0] <= times[1] && times[1] > Time::ZERO, "{end} {times:?}");
            let times = order(&outcome, &[&c, "two.out"]);
            assert!(times[0] <= times[1] && times[0] > Time::ZERO, "{end} {times:?}");
        }
        let begun =
            if end.starts_with("stop") { Time::ZERO + Duration::from_secs(2) } else { Time::ZERO };
        assert!(outcome.flows.iter().all(|flow| flow.completed > Some(begun)), "{end}");
    }
}

/// `all flows` are those whose hosts know the metric, so no byte counts twice.
#[test]
fn all_flows_count_each_byte_once() {
    let sums = "size = \"1 MB\"\n[[expect]]\nmetric = \"goodput\"\nduring = \"0 s .. 40 s\"\n\
                equals = \"800 kbit/s\"\n\
                [[expect]]\nmetric = \"share\"\nflow = \"kv\"\nequals = 0.25\n\
                [[expect]]\nmetric = \"share\"\nflow = \"kv.out\"\nequals = 0.75\n\
                [[expect]]\nmetric = \"completion_time\"\nmin = \"1 s\"\nmax = \"10 s\"\n\
                [[expect]]\nmetric = \"rtt_min\"\nmin = \"12 ms\"\n\
                [[expect]]\nmetric = \"completion_time\"\nflow = \"kv.a1\"\nmin = \"100 ms\"\n";
    let scenario = clusters("xcp", &format!("{ONE_TO_MANY}members = [\"a*\"]\n{sums}"));
    assert!(scenario.warnings.is_empty(), "{}", shown(&scenario.warnings));
    let plan = scenario.plan(None, None).unwrap();
    let mut evaluator = scenario.evaluator(&plan);
    let outcome = ratewire_sim::run(&plan.setup, &mut evaluator).unwrap();
    for verdict in evaluator.finish(&outcome) {
        assert!(verdict.pass, "{verdict}");
    }
}

#[test]
fn who_counts_twice_is_reported() {
    let goodput = |flow: &str| {
        let more = format!(
            "{ONE_TO_MANY}members = [\"a*\"]\n[[expect]]\nmetric = \"goodput\"\nflow = {flow}\nmin = \"1 Mbit/s\"\n"
        );
        shown(&clusters("xcp", &more).warnings)
    };
    let said = goodput("\"kv*\"");
    assert!(said.contains("data delivered to kv count twice"), "{said}");
    assert!(said.contains("a switch forwards them in kv.a1, kv.a2, kv.a3"), "{said}");
    assert!(goodput("[\"kv.out\", \"kv.a1.out\"]").contains("count twice"));
    for fine in ["\"kv.a*\"", "[\"kv\", \"kv.out\"]", "[\"kv\", \"kv.a1.out\"]"] {
        assert_eq!(goodput(fine), "", "{fine}");
    }
}

/// Members fail and recover: all the peer's data are acknowledged, and nothing waits for data that
/// a dead member had sent.
#[test]
fn members_fail_and_nothing_is_lost() {
    for law in ["xcp", "rcp", "newreno"] {
        for frame in ["1000 B", "8 KB"] {
            let more = format!(
                "{ONE_TO_MANY}frame = \"{frame}\"\nsize = \"8 MB\"\nmembers = [\n\
                 {{ node = \"a1\", fails = [\"1.5 s .. 2.5 s\"] }},\n\
                 {{ node = \"a2\", fails = [\"500 ms .. 1 s\", \"2 s .. 3 s\", \"4 s .. 5 s\"] }}, \"a3\"]\n"
            );
            let scenario = clusters(law, &more);
            let outcome = run(&scenario);
            assert!(completed(&outcome, "kv").is_some(), "{law} {frame}");
            assert_eq!(delivered(&outcome, "kv"), 8_000_000, "{law} {frame}");
            // A member may have received data that it could no longer acknowledge.
            let members: u64 = (1..=3).map(|i| delivered(&outcome, &format!("kv.a{i}"))).sum();
            assert!((8_000_000..8_400_000).contains(&members), "{law} {frame} {members}");
            for i in 1..=3 {
                assert!(
                    completed(&outcome, &format!("kv.a{i}.out")).is_some(),
                    "{law} {frame} {i}"
                );
            }
            // A member sends its 8 MB again after each recovery.
            assert!(delivered(&outcome, "kv.out") > 24_000_000, "{law} {frame}");
            let again = run(&scenario);
            assert_eq!(format!("{:?}", outcome.flows), format!("{:?}", again.flows));
        }
    }
}

/// Bursts with pauses in which the switches forget the connection: data arrive once, and as fast.
#[test]
fn a_connection_that_switches_forget_goes_on() {
    for law in ["xcp", "rcp", "newreno"] {
        let with = |expiry: &str| {
            let more = format!(
                "[[ensemble]]\nname = \"two\"\npeer = {{ switch = \"p\", members = [\"c*\"] }}\n\
                 switch = \"q\"\nmembers = [\"a*\"]\nframe = \"4 KB\"\nidle_expiry = \"{expiry}\"\n\
                 app = {{ on_off = {{ burst = \"50 KB\", pause = \"1 s\", pause_after = \"acknowledged\", \
                 count = 20 }} }}\n"
            );
            run(&clusters(law, &more))
        };
        let (forgets, never) = (with("300 ms"), with("60 s"));
        for way in ["two", "two.out"] {
            assert_eq!(delivered(&forgets, way), 3_000_000, "{law} {way}");
            assert_eq!(delivered(&never, way), 3_000_000, "{law} {way}");
        }
        assert_ne!(forgets.events, never.events, "{law}: nothing expired");
    }
}

#[test]
fn an_idle_member_sends_when_it_is_not() {
    let more = format!(
        "{ONE_TO_MANY}direction = \"outbound\"\n\
         members = [{{ node = \"a1\", idle = [\"0 s .. 20 s\", \"40 s .. 60 s\"] }}, \"a2\"]\n\
         [[expect]]\nmetric = \"goodput\"\nflow = \"kv.a1.out\"\nduring = \"1 s .. 20 s\"\nmax = 0\n\
         [[expect]]\nmetric = \"share\"\nflow = \"kv.a1.out\"\nof = \"kv.out\"\nduring = \"25 s .. 40 s\"\n\
         equals = 0.5\ntolerance = \"2 %\"\n\
         [[expect]]\nmetric = \"share\"\nflow = \"kv.a1.out\"\nof = \"kv.out\"\nduring = \"42 s .. 60 s\"\nmax = 0\n"
    );
    let scenario = clusters(
        "xcp",
        &more.replace("max = 0\n", "max = \"0 bit/s\"\n").replacen(
            "during = \"42 s .. 60 s\"\nmax = \"0 bit/s\"",
            "during = \"42 s .. 60 s\"\nmax = 0",
            1,
        ),
    );
    let plan = scenario.plan(None, None).unwrap();
    let mut evaluator = scenario.evaluator(&plan);
    let outcome = ratewire_sim::run(&plan.setup, &mut evaluator).unwrap();
    for verdict in evaluator.finish(&outcome) {
        assert!(verdict.pass, "{verdict}");
    }
}

#[test]
fn a_law_that_cannot_be_split_is_refused() {
    let scenario = clusters("xcp", &format!("{ONE_TO_MANY}members = [\"a*\"]\n"));
    for law in ["jetmax", "emkc", "maxnet", "hpcc", "abc", "bbr1", "bbr3"] {
        let said = scenario.setup(Some(law), None).expect_err(law).to_string();
        assert!(said.contains(&format!("{law} cannot run the ensemble \"kv\"")), "{said}");
        assert!(said.contains("xcp, rcp, piqi-rcp"), "{said}");
    }
    for (law, why) in [
        ("jetmax", "what its headers say holds for one flow from end to end"),
        ("bbr3", "an acknowledgement may name a packet of another member"),
        ("xcp@kernel", "the kernel's program knows no switch"),
    ] {
        let said = scenario.setup(Some(law), None).expect_err(law).to_string();
        assert!(said.contains(why), "{said}");
    }
    // A flow beside an ensemble may have any law.
    let more = format!("{ONE_TO_MANY}members = [\"a*\"]\nlaw = \"xcp\"\n");
    assert!(clusters("jetmax", &more).setup(None, None).is_ok());
}
