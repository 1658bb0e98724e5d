//! Runs of scenarios: the engine accepts every scenario that was read.

use std::path::Path;

use ratewire_scenario::{Finding, Scenario};
use ratewire_sim::record::NoRecorder;
use ratewire_sim::setup::Arrivals;

use crate::common::{dumbbell, flow, refused, scenario, setup, shown};

fn run(scenario: &Scenario, law: Option<&str>) -> Vec<Finding> {
    let plan = scenario.plan(law, None).unwrap_or_else(|all| panic!("{all}"));
    let mut evaluator = scenario.evaluator(&plan);
    let outcome = ratewire_sim::run(&plan.setup, &mut evaluator).unwrap();
    evaluator.finish(&outcome)
}

#[track_caller]
fn all_pass(verdicts: &[Finding]) {
    assert!(!verdicts.is_empty());
    let texts: Vec<String> = verdicts.iter().map(ToString::to_string).collect();
    assert!(verdicts.iter().all(|verdict| verdict.pass), "{}", texts.join("\n"));
}

/// A trickle of 100 kbit/s for 2 s, then bulk on a link of 10 Mbit/s.
#[test]
fn a_trickle_and_then_bulk_on_one_connection() {
    let app = "app = { phases = [{ app = { constant = { rate = \"100 kbit/s\" } }, lasts = \"2 s\" }, \
         { app = \"unlimited\" }] }\n";
    let expect = "[[expect]]\nmetric = \"goodput\"\nflow = \"s1->d1\"\nduring = \"0.5 s .. 2 s\"\n\
         min = \"0.09 Mbit/s\"\nmax = \"0.12 Mbit/s\"\n\
         [[expect]]\nmetric = \"goodput\"\nflow = \"s1->d1\"\nduring = \"4 s .. 9 s\"\n\
         min = \"9 Mbit/s\"\n";
    let text = dumbbell(&format!("{}{app}{expect}", flow()));
    all_pass(&run(&scenario(&text), Some("newreno")));
}

/// A queue behind paused inputs has a discipline like any other.
#[test]
fn codel_holds_the_queue_of_a_switch_that_pauses() {
    let queue = |discipline: &str| {
        let mut text =
            "duration = \"5 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"custom\"\n".to_string();
        for node in ["a", "b", "c"] {
            text += &format!("[[node]]\nname = \"{node}\"\n");
        }
        text += "[[node]]\nname = \"s\"\nhost = false\n";
        for (from, to, rate, more) in [
            ("a", "s", 100, "pause = { buffer = \"500 KB\" }"),
            ("b", "s", 100, "pause = { buffer = \"500 KB\" }"),
            ("s", "c", 10, discipline),
        ] {
            text += &format!(
                "[[link]]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate} Mbit/s\"\ndelay = \"1 ms\"\n{more}\n"
            );
        }
        text += "[[flow]]\nfrom = \"a\"\nto = \"c\"\n[[flow]]\nfrom = \"b\"\nto = \"c\"\n";
        let outcome = ratewire_sim::run(&setup(&text), &mut NoRecorder).unwrap();
        outcome.links[4].queue_packets_mean
    };
    let (free, held) = (queue(""), queue("discipline = \"codel\""));
    assert!(held < free / 4.0 && free > 100.0, "{held} {free}");
}

#[test]
fn a_sized_flow_takes_the_time_it_must() {
    // 1 MB at 10 Mbit/s takes 0.8 s, 3 % more with headers, and some round trips.
    let expectations = "[[expect]]\nmetric = \"completion_time\"\nmin = \"0.8 s\"\nmax = \"1.5 s\"\n\
        [[expect]]\nmetric = \"goodput\"\nequals = \"0.8 Mbit/s\"\n\
        [[expect]]\nmetric = \"rtt_min\"\nmin = \"40 ms\"\nmax = \"45 ms\"\n\
        [[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nduring = \"5 s .. 10 s\"\nmax = 0\n";
    let text = dumbbell(&format!("{}size = \"1 MB\"\n{expectations}", flow()));
    all_pass(&run(&scenario(&text), None));
}

#[test]
fn xcp_flows_share_equally() {
    let expectations = "[[expect]]\nmetric = \"jain\"\nduring = \"8 s .. 10 s\"\nmin = 0.99\n\
        [[expect]]\nmetric = \"share\"\nflow = \"s1->d1\"\nduring = \"8 s .. 10 s\"\nequals = 0.5\ntolerance = \"10 %\"\n\
        [[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nduring = \"5 s .. 10 s\"\nmin = 0.9\n\
        [[expect]]\nmetric = \"convergence_time\"\nduring = \"3 s .. 10 s\"\naverage = \"500 ms\"\nmax = \"4 s\"\n\
        [[expect]]\nmetric = \"drops\"\nmax = 0\n";
    let flows = "[[flow]]\nfrom = \"s*\"\nto = \"d*\"\nstagger = \"3 s\"\n";
    let text = dumbbell(&format!("{flows}{expectations}")).replace("kind", "pairs = 2\nkind");
    all_pass(&run(&scenario(&text), None));
}

/// The limit of data in flight while no acknowledgements arrive is not a window.
#[test]
fn laws_that_set_a_pace_have_no_window() {
    let claim = "[[expect]]\nmetric = \"window_max\"\nflow = \"s1->d1\"\nmin = \"1 B\"\n";
    let scenario = scenario(&dumbbell(&format!("{}{claim}", flow())));
    for law in ["rcp", "piqi-rcp", "jetmax", "emkc", "maxnet"] {
        let said = run(&scenario, Some(law))[0].reason.clone().unwrap_or_default();
        assert_eq!(said, "no window is known in this time", "{law}");
    }
    for law in ["newreno", "xcp", "bbr1", "bbr3", "hpcc", "abc", "dctcp", "cubic"] {
        all_pass(&run(&scenario, Some(law)));
    }
}

#[test]
fn weights_say_what_is_fair() {
    let claims = "[[expect]]\nmetric = \"jain\"\nduring = \"5 s .. 10 s\"\nmin = 0.999\n\
        [[expect]]\nmetric = \"convergence_time\"\nduring = \"2 s .. 10 s\"\naverage = \"500 ms\"\nmax = \"4 s\"\n";
    let flow = |n, weight| {
        format!("[[flow]]\nfrom = \"s{n}\"\nto = \"d{n}\"\noptions = {{ weight = {weight} }}\n")
    };
    let text = dumbbell(&format!("{}{}{claims}", flow(1, 1), flow(2, 4)));
    let text = text.replace("kind", "pairs = 2\nkind").replace("\"10 Mbit/s\"", "\"30 Mbit/s\"");
    let scenario = scenario(&text);
    all_pass(&run(&scenario, Some("xcp")));
    let plan = scenario.plan(Some("xcp"), None).unwrap();
    assert_eq!(plan.setup.weights, [1.0, 4.0]);
}

#[test]
fn a_load_is_the_load_that_is_measured() {
    let text = "[[traffic]]\nload = { link = \"bottleneck\", fraction = 0.5 }\nsizes = { fixed = \"20 KB\" }\n\
        [transport]\nhandshake = false\n\
        [[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nequals = 0.5\ntolerance = 0.05\n";
    let text = dumbbell(text).replace("\"10 s\"", "\"60 s\"");
    all_pass(&run(&scenario(&text), Some("newreno")));
}

#[test]
fn every_key_and_every_hard_case_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let short = [("duration".to_string(), "12 s".to_string())];
    let scenario = Scenario::load_with(&folder.join("everything.toml"), &short);
    let scenario = scenario.unwrap_or_else(|all| panic!("{all}"));
    for law in ["xcp", "slow-xcp", "newreno"] {
        assert!(run(&scenario, Some(law)).len() >= 5);
    }
    for bottleneck in ["rate = \"0 bit/s\", delay = \"0 s\"", "rate = \"1 bit/s\", delay = \"5 s\""]
    {
        let text = format!(
            "duration = \"20 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ {bottleneck} }}\naccess = {{ rate = \"400 Gbit/s\" }}\n{}\
             [[expect]]\nmetric = \"goodput\"\nmax = \"1 bit/s\"",
            flow()
        );
        // Nothing arrives, which is a measurement because the flow has started.
        let verdicts = run(&crate::common::scenario(&text), None);
        assert_eq!(verdicts[0].measured, Some(0.0), "{}", verdicts[0]);
    }
}

/// Loads are computed with the routes of the run: the share of flows that cross a link is the same
/// when the engine's own routing draws the paths.
#[test]
fn loads_are_worked_out_with_the_engine_s_routes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for (name, link, flow_bytes) in [
        ("fat-tree.toml", "a1.1->c1", 100_000.0 + 69.0 * 40.0),
        ("fat-tree.toml", "e1.1->a1.2", 100_000.0 + 69.0 * 40.0),
        ("fat-tree.toml", "e2.1->h5", 100_000.0 + 69.0 * 40.0),
    ] {
        let set = [("traffic.1.load.link".to_string(), link.to_string())];
        let scenario = Scenario::load_with(&folder.join(name), &set);
        let setup = scenario.unwrap_or_else(|all| panic!("{all}")).setup(None, None);
        let setup = setup.unwrap();
        let Arrivals::Poisson(rate) = setup.traffic[0].arrivals else { panic!() };
        let load = 0.3 * 10e9 / 8.0;
        let expected = load / (rate * flow_bytes);
        let id = setup.network.links.iter().position(|l| l.name == link).unwrap();
        let mut pathfinder = setup.pathfinder().unwrap();
        let (mut crossing, mut all) = (0.0, 0.0);
        let mut flow = 0;
        for _ in 0..100 {
            for (a, b, weight) in &setup.traffic[0].pairs {
                flow += 1;
                let path = pathfinder.path(*a, *b, flow).unwrap();
                all += weight;
                if path.iter().any(|l| l.index() == id) {
                    crossing += weight;
                }
            }
        }
        let drawn = crossing / all;
        assert!((drawn / expected - 1.0).abs() < 0.05, "{link}: {drawn} for {expected}");
    }
}

/// Three packets every 200 ms, of which every second is acknowledged at once and the third after 40
/// ms.
///
/// So one of two acknowledgements is late, by 40 ms less the time that the second packet waits for
/// the first.
#[test]
fn late_acknowledgements_are_counted_at_a_link() {
    let late = |late_by: &str, equals: &str| {
        format!(
            "[[expect]]\nmetric = \"late_acks\"\nlink = \"bottleneck\"\nlate_by = \"{late_by}\"\n\
             equals = {equals}\ntolerance = 0.02\n"
        )
    };
    let app = "app = { on_off = { burst = \"3 packets\", pause = \"200 ms\", pause_after = \"written\" } }";
    let text = dumbbell(&format!(
        "[transport]\ndelayed_ack = \"40 ms\"\nack_rules = \"rfc\"\ntail_loss_probe = false\n{}{app}\n{}{}",
        flow(),
        late("30 ms", "0.5"),
        late("41 ms", "0"),
    ));
    let scenario = scenario(&text);
    all_pass(&run(&scenario, Some("newreno")));
    // Emulated runs do not see single packets.
    let plan = scenario.plan(Some("newreno"), None).unwrap();
    assert!(scenario.evaluator(&plan).emulated().is_empty());
    let left_out = scenario.unmeasured_when_emulated("newreno");
    assert!(
        shown(&left_out)
            .contains("an emulated run leaves out the expectation of late_acks on line 1")
    );
    assert_eq!(left_out.len(), 2);
}

/// Defaults of a paused link, computed by hand.
///
/// 1 Gbit/s is 125 B a us. A packet of 1538 B takes 12.304 us, the frame 0.672 us, 1 us each there
/// and back, 1.024 us to react: 16 us, or 2000 B. Two packets and a byte are added.
#[test]
fn headroom_is_worked_out_from_the_link() {
    let pause = |more: &str| {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"noq\"\n[topology]\nkind = \"star\"\nhosts = 2\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"1 us\", overhead = \"38 B\", pause = {more} }}\n\
             [[flow]]\nfrom = \"h1\"\nto = \"h2\"\n"
        );
        let setup = scenario(&text).setup(None, None).unwrap();
        let pause = setup.network.links[0].pause.clone().unwrap();
        (pause.xoff.get(), pause.buffer.get() - pause.xoff.get(), pause.xon.get(), pause.back.0)
    };
    assert_eq!(pause("true"), (30_000, 5077, 15_000, 1));
    assert_eq!(pause("{ buffer = \"25077 B\" }"), (20_000, 5077, 10_000, 1));
    assert_eq!(pause("{ xoff = \"10 packets\", xon = \"3 KB\" }"), (15_000, 5077, 3000, 1));
    // A map of paused queues may be sent before the frame.
    assert_eq!(pause("{ mode = \"flows\" }"), (30_000, 5161, 15_000, 1));
}

#[test]
fn a_scenario_that_is_no_text_is_not_taken_for_a_mistyped_name() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-text");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("latin.toml");
    std::fs::write(&file, b"law = \"xcp\"\nname = \"caf\xe9\"\n").unwrap();
    let said = |file: &Path| Scenario::load(file).unwrap_err().to_string();
    let wrong = said(&file);
    assert!(wrong.contains("line 2 has the byte 0xe9, which is not UTF-8"), "{wrong}");
    assert!(wrong.contains("iconv") && !wrong.contains("did you mean"), "{wrong}");
    assert!(said(&folder.join("latn.toml")).contains("did you mean"));
}

#[test]
fn a_list_of_one_table_may_be_headed_as_a_single_one() {
    let flows = |text: &str| setup(&dumbbell(text)).flows.len();
    assert_eq!(flows("[flow]\nfrom = \"s1\"\nto = \"d1\"\n"), 1);
}

#[test]
fn a_variant_may_describe_the_tcp_of_a_kernel() {
    let with = |word: &str| {
        let variant = format!("[variant.old]\nlaw = \"newreno\"\ndescribes = \"{word}\"\n");
        dumbbell(&format!("{variant}{}", flow()))
    };
    let plan = scenario(&with("kernel")).plan(Some("old"), None).unwrap();
    let told = &plan.setup.told_laws[0];
    assert_eq!((told.name.as_str(), told.options.len()), ("newreno", 0), "no option is given");
    assert!(told.describes_kernel);
    let wrong = refused(&with("kernels"));
    assert!(wrong.contains("`describes` cannot be \"kernels\""), "{wrong}");
}

/// `bbr` is the version that is simulated, and its results say which.
#[test]
fn a_law_of_several_versions_stands_for_one_of_them() {
    let text = dumbbell(&format!(
        "{}[options.bbr]\nloss_thresh = 0.1\n[[expect]]\nlaws = [\"bbr\"]\nmetric = \"utilisation\"\n\
         link = \"bottleneck\"\nmin = 0.5\n",
        flow()
    ));
    let scenario = scenario(&text.replace("law = \"xcp\"", "law = \"bbr\""));
    for law in [Some("bbr"), Some("bbr3")] {
        let plan = scenario.plan(law, None).unwrap();
        assert_eq!((plan.law.as_str(), plan.law_names[0].as_str()), ("bbr3", "bbr3"));
        let told = ("loss_thresh".to_string(), "0.1".to_string());
        assert!(plan.setup.told_laws[0].options.contains(&told), "{:?}", plan.setup.told_laws);
        assert!(!plan.setup.told_laws[0].describes_kernel);
        let verdicts = run(&scenario, law);
        assert_eq!(verdicts.len(), 1);
        all_pass(&verdicts);
    }
}
