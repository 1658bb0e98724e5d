//! Tests of the command as users see it: its output, its files, its exit codes.

mod common;

use std::path::Path;
use std::process::Command;

use common::{HELLO, err, folder, out, ratewire, without_chance, write};

#[test]
fn a_run_prints_tables_and_leaves_its_files() {
    let folder = folder("run");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--law", "xcp,newreno"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("newreno"), "{}", out(&done));
    assert!(out(&done).contains("Report: out/hello/report.html"));
    for file in [
        "report.html",
        "summary.json",
        "xcp-seed-1/flows.parquet",
        "xcp-seed-1/links.parquet",
        "xcp-seed-1/completions.parquet",
        "newreno-seed-1/flows.parquet",
    ] {
        let size = std::fs::metadata(folder.join("out/hello").join(file)).map(|m| m.len());
        assert!(size.is_ok_and(|s| s > 500), "{file}");
    }
}

#[test]
fn the_same_scenario_and_seed_give_the_same_bytes_whatever_runs_beside_it() {
    let folder = folder("same");
    write(&folder, "hello.toml", HELLO);
    for (laws, place) in [("xcp", "a"), ("newreno,cubic,xcp", "b")] {
        let done = ratewire(&folder, &["run", "hello.toml", "--law", laws, "--out", place]);
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    }
    let read = |path: &str| std::fs::read(folder.join(path)).expect("a written file");
    for file in ["xcp-seed-1/flows.parquet", "xcp-seed-1/links.parquet"] {
        assert_eq!(read(&format!("a/{file}")), read(&format!("b/{file}")), "{file}");
    }
}

#[test]
fn json_is_json_and_nothing_else() {
    let folder = folder("json");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--no-files", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let value: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    let run = &value["runs"][0];
    assert_eq!(run["law"], "xcp");
    assert!(run["flows"][0]["goodput_bps"].as_f64().is_some_and(|g| g > 1e6));
    let kept = &run["conservation"];
    let count = |key: &str| kept[key].as_u64().unwrap_or(0);
    assert_eq!(
        count("sent_packets"),
        count("delivered_packets") + count("dropped_packets") + count("in_flight_packets")
    );
    assert!(!folder.join("out").exists(), "--no-files leaves nothing behind");
    for args in [&["laws", "--json"][..], &["check", "hello.toml", "--json"]] {
        let text = out(&ratewire(&folder, args));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    }
}

#[test]
fn claims_are_printed_in_numbers() {
    let folder = folder("numbers");
    let more = "[[expect]]\nmetric = \"rtt_min\"\nequals = \"24 ms\"\ntolerance = \"10 ms\"\n\
                [[expect]]\nmetric = \"completion_time\"\nmax = \"1 s\"\n";
    write(&folder, "hello.toml", &format!("{HELLO}{more}"));
    let done = ratewire(&folder, &["run", "hello.toml", "--no-files", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    let claim = |at: usize, keys: [&str; 5]| keys.map(|key| value["expectations"][at][key].clone());
    let what = ["metric", "target", "window_s", "min", "max"];
    let null = serde_json::Value::Null;
    assert_eq!(
        claim(0, what),
        [
            "utilisation".into(),
            "bottleneck".into(),
            vec![1.0, 2.0].into(),
            0.9.into(),
            null.clone()
        ]
    );
    let how = ["unit", "passed", "min", "max", "value"];
    let [unit, passed, min, max, value] = claim(1, how).map(|v| (v.as_f64().unwrap_or(-1.0), v));
    assert_eq!(unit.1, "s");
    assert!((min.0 - 0.014).abs() < 1e-9 && (max.0 - 0.034).abs() < 1e-9, "{} {}", min.1, max.1);
    assert_eq!(passed.1.as_bool(), Some(min.0 <= value.0 && value.0 <= max.0), "{}", value.1);
    assert_eq!(claim(2, how), ["s".into(), false.into(), null.clone(), 1.0.into(), null]);
}

/// Several runs are a line each; what they print besides is asked for, or reports a failure.
#[test]
fn how_much_a_run_prints_is_chosen() {
    let folder = folder("details");
    write(&folder, "hello.toml", HELLO);
    write(&folder, "bad.toml", &HELLO.replace("min    = 0.9", "max    = 0.1"));
    let said = |args: &[&str], code| {
        let done = ratewire(&folder, &[&["run", "--no-files", "--law"], args].concat());
        assert_eq!(done.status.code(), Some(code), "{}", err(&done));
        out(&done)
    };
    let has_flows = |said: &str| said.contains("s2->d2") && said.contains("r1");
    let short = said(&["xcp,cubic", "hello.toml"], 0);
    assert!(short.contains("\nxcp ") && short.contains("\ncubic "), "{short}");
    assert!(!has_flows(&short) && short.contains("--details"), "{short}");
    assert!(short.contains("2 of 2 claims hold") && !short.contains("pass "), "{short}");
    let long = said(&["xcp,cubic", "hello.toml", "--details"], 0);
    assert!(has_flows(&long) && long.contains("pass  xcp"), "{long}");
    assert_eq!(said(&["xcp,cubic", "hello.toml", "--quiet"], 0), "");
    let failed = said(&["xcp,cubic", "bad.toml", "--quiet"], 0);
    assert!(failed.contains("FAIL  xcp") && failed.contains("0 of 2 claims hold"), "{failed}");
    assert!(!failed.contains("queue mean"), "{failed}");
    let one = said(&["xcp", "hello.toml"], 0);
    assert!(has_flows(&one) && !one.contains("--details"), "{one}");
}

#[test]
fn check_says_pass_or_fail_and_ends_accordingly() {
    let folder = folder("check");
    write(&folder, "good.toml", HELLO);
    let done = ratewire(&folder, &["check", "."]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("1 of 1 expectation holds, 0 does not"), "{}", out(&done));
    write(&folder, "bad.toml", &HELLO.replace("min    = 0.9", "max    = 0.1"));
    let done = ratewire(&folder, &["check", "."]);
    assert_eq!(done.status.code(), Some(1));
    assert!(out(&done).ends_with("1 of 2 expectations hold, 1 do not\n"), "{}", out(&done));
    let short = ratewire(&folder, &["check", ".", "--quiet"]);
    let said = out(&short);
    assert!(said.starts_with("FAIL  ./bad.toml, xcp: ") && said.lines().count() == 2, "{said}");
    write(&folder, "bad.toml", &HELLO.replace("min    = 0.9", "min = 0.9\nbasis = \"derived\""));
    let done = ratewire(&folder, &["check", "."]);
    let apart = "2 of 2 expectations hold, 0 do not\nOf all 2: 1 stated by a source, 1 derived from one, \
                 0 fitted to one, 0 set after a run, 0 different from the source\n";
    assert!(out(&done).ends_with(apart), "{}", out(&done));
}

#[test]
fn check_says_which_expectations_are_of_none_of_its_laws() {
    let folder = folder("unheld");
    let of = |law: &str| HELLO.replace("min    = 0.9", &format!("min = 0.9\nlaws = [\"{law}\"]"));
    write(&folder, "of-others.toml", &of("jetmax"));
    let done = ratewire(&folder, &["check", "of-others.toml"]);
    let advice = "it is for jetmax";
    let said = err(&done);
    assert!(said.contains("no run is checked against the expectation of "), "{said}");
    assert!(said.contains(advice), "{said}");
    let run = |law: &[&str]| {
        let done = ratewire(&folder, &[&["run", "of-others.toml", "--no-files"], law].concat());
        err(&done).contains(advice)
    };
    assert!(run(&[]));
    assert!(!run(&["--law", "cubic"]), "which laws to run was said");
    assert!(!run(&["--set", "law=cubic"]), "and so it was here");
    assert!(run(&["--set", "seed=2"]));
    write(&folder, "of-its-own.toml", &of("xcp"));
    let done = ratewire(&folder, &["check", "of-its-own.toml"]);
    assert_eq!(err(&done), "");
}

/// Compares laws with and without random numbers, and checks the files.
fn compare_files(folder: &Path) {
    write(folder, "hello.toml", HELLO);
    let traffic = "\n[[traffic]]\nbetween = [[\"s1\", \"d1\"]]\narrivals = { poisson = \"20 /s\" }\n\
                   sizes = { pareto = { shape = 1.5, mean = \"20 KB\" } }\n";
    write(folder, "chance.toml", &format!("{HELLO}{traffic}"));
}

fn compared(folder: &Path, args: &[&str]) -> serde_json::Value {
    let all = [&["compare"], args, &["--json", "--no-files"]].concat();
    let done = ratewire(folder, &all);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    serde_json::from_str(&out(&done)).expect("JSON")
}

fn figure<'a>(compared: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let figures = compared["figures"].as_array().expect("figures");
    figures.iter().find(|figure| figure["name"] == name).expect(name)
}

#[test]
fn a_comparison_has_the_figures_of_its_single_runs() {
    let folder = folder("compare");
    compare_files(&folder);
    let value = compared(&folder, &["chance.toml", "--law", "newreno,xcp", "--seed", "1..3"]);
    assert_eq!(value["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(value["laws"], serde_json::json!(["newreno", "xcp"]));
    let utilisation = figure(&value, "utilisation");
    let settling = figure(&value, "settling_s: s1->d1 and s2->d2 join at 0 s");
    assert_eq!(settling["laws"][1]["values"].as_array().map(Vec::len), Some(3));
    let args = ["run", "chance.toml", "--law", "xcp", "--seed", "2", "--json", "--no-files"];
    let run: serde_json::Value =
        serde_json::from_str(&out(&ratewire(&folder, &args))).expect("JSON");
    let link = &run["runs"][0]["links"].as_array().expect("links");
    let link = link.iter().find(|link| link["name"] == "bottleneck").expect("the bottleneck");
    assert_eq!(utilisation["laws"][1]["values"][1], link["utilisation"]);
    let jain = figure(&value, "jain_over_time");
    assert_eq!(jain["laws"][1]["values"][1], run["runs"][0]["jain_over_time"]);
    // The longest round trip of all flows is at least that of each listed flow, and at least the
    // propagation time.
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let worst = number(&figure(&value, "rtt_max_s")["laws"][1]["values"][1]);
    let flows = run["runs"][0]["flows"].as_array().expect("flows");
    assert!(flows.iter().all(|flow| number(&flow["rtt_max_s"]) <= worst), "{worst}");
    assert!(number(&flows[0]["rtt_max_s"]) >= number(&flows[0]["rtt_min_s"]) && worst > 0.02);
    let unfinished = &figure(&value, "unfinished_flows")["laws"][1]["values"][1];
    assert_eq!(number(unfinished), number(&run["runs"][0]["unfinished_flows"]));
    let summary = &run["runs"][0];
    let ended = number(&summary["completions"]["flows"]) + number(&summary["unfinished_flows"]);
    assert_eq!(number(&summary["arrived_flows"]), ended, "all flows with an end arrived");
    assert!(utilisation["laws"][0]["margin"].as_f64().is_some_and(|margin| margin > 0.0));
    assert_eq!(utilisation["differences"][0]["first"], "newreno");
}

/// A law's results do not depend on the laws run beside it, and its first of five seeds gives the
/// single run.
#[test]
fn what_a_comparison_says_of_a_law_does_not_depend_on_the_others() {
    let folder = folder("compare-alone");
    compare_files(&folder);
    let alone = compared(&folder, &["chance.toml", "--law", "cubic", "--seed", "1,2"]);
    let beside = compared(&folder, &["chance.toml", "--law", "xcp,cubic"]);
    assert_eq!(beside["seeds"].as_array().map(Vec::len), Some(5), "the default");
    for one in alone["figures"].as_array().expect("figures") {
        let other = figure(&beside, one["name"].as_str().expect("a name"));
        for seed in 0..2 {
            let value =
                |of: &serde_json::Value, law: usize| of["laws"][law]["values"][seed].clone();
            assert_eq!(value(one, 0), value(other, 1), "{}", one["name"]);
        }
    }
}

#[test]
fn without_chance_one_run_a_law_is_enough_and_it_says_so() {
    let folder = folder("compare-exact");
    write(&folder, "hello.toml", &without_chance(HELLO));
    let done = ratewire(&folder, &["compare", "hello.toml", "--law", "xcp,newreno"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let text = out(&done);
    assert!(text.contains("Nothing in this scenario is left to chance"), "{text}");
    assert!(!text.contains('±'), "{text}");
    assert!(text.contains("Report: out/hello/comparison.html"), "{text}");
    let json = std::fs::read(folder.join("out/hello/comparison.json")).expect("the JSON");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["seeds"], serde_json::json!([1]));
    assert!(figure(&json, "utilisation")["laws"][0]["margin"].is_null());
    let page = std::fs::read_to_string(folder.join("out/hello/comparison.html")).expect("the page");
    assert!(page.contains("Not as good") && page.len() > 50_000);
}

/// `all` is the registry without the law of fixed rate, the law for paused links, and the laws in
/// integers. The scenario's options and variants apply.
#[test]
fn all_laws_and_variants_can_be_compared() {
    let folder = folder("compare-all");
    let options = "\n[options.xcp]\nalpha = 0.1\n\n[variant.brisk]\nlaw = \"xcp\"\nalpha = 0.4\n";
    write(&folder, "hello.toml", &format!("{HELLO}{options}"));
    let value = compared(&folder, &["hello.toml", "--law", "all,brisk,xcp"]);
    let laws: Vec<&str> =
        value["laws"].as_array().expect("laws").iter().filter_map(|law| law.as_str()).collect();
    let registry: serde_json::Value =
        serde_json::from_str(&out(&ratewire(&folder, &["laws", "--json"]))).expect("JSON");
    let known = registry.as_array().expect("laws").iter().filter_map(|law| law["name"].as_str());
    let expected: Vec<&str> = known
        .filter(|law| !["fixed", "noq"].contains(law) && !law.ends_with("@kernel"))
        .chain(["brisk"])
        .collect();
    assert_eq!(laws, expected);
    let queue = figure(&value, "queue_packets_mean");
    let of = |name| &queue["laws"][laws.iter().position(|law| *law == name).expect(name)]["mean"];
    assert_ne!(of("xcp"), of("brisk"), "the options of the file apply");
}

#[test]
fn help_fits_a_narrow_terminal() {
    let folder = folder("narrow");
    // The help fits any terminal; explanations of laws have equations, which are not wrapped.
    let cases = [(&["--help"][..], "Exit codes:"), (&["explain", "newreno"], "\nOptions\n")];
    for (args, from) in cases {
        let said = out(&ratewire(&folder, args));
        let (_, text) = said.split_once(from).expect(from);
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{args:?}");
    }
}

#[test]
fn seeds_that_change_nothing_are_reported() {
    let folder = folder("seeds");
    write(&folder, "hello.toml", &without_chance(HELLO));
    let warns = |more: &[&str]| {
        let done = ratewire(&folder, &[&["run", "hello.toml", "--no-files"], more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
        err(&done).contains("nothing is random in these simulated runs")
    };
    assert!(warns(&["--seed", "1,2"]));
    assert!(warns(&["--seed", "1..2"]));
    assert!(!warns(&["--seed", "1..2", "--set", "transport.jitter=packet-time"]));
    assert!(!warns(&["--seed", "1..2", "--set", "flow.1.start=0s..10ms"]));
    assert!(!warns(&["--seed", "1..2", "--set", "port_clocks=random"]));
    assert!(!warns(&["--seed", "2"]));
    let loss = "link.bottleneck.loss={ random = 0.001 }";
    assert!(!warns(&["--seed", "1,2", "--set", loss]));
}

/// Flows of unlimited data, without arrivals or losses.
#[test]
fn bulk_flows_differ_between_seeds_and_not_between_runs() {
    let folder = folder("bulk");
    write(&folder, "hello.toml", HELLO);
    let flows = |law: &str, seed: &str| {
        let args = ["run", "hello.toml", "--json", "--no-files", "--law", law, "--seed", seed];
        let done = ratewire(&folder, &args);
        let run: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
        run["runs"][0]["flows"].clone()
    };
    for law in ["newreno", "cubic", "xcp"] {
        assert_eq!(flows(law, "1"), flows(law, "1"), "{law}");
        assert_ne!(flows(law, "1"), flows(law, "2"), "{law}");
    }
    let value = compared(&folder, &["hello.toml", "--law", "newreno,cubic", "--seed", "1,2"]);
    let jain = figure(&value, "jain_over_time");
    assert!(jain["laws"][0]["margin"].as_f64().is_some_and(|margin| margin > 0.0), "{jain}");
}

/// The reader closes at once, as in `ratewire ... 2>&1 | head -0`.
#[test]
fn a_reader_that_has_gone_away_changes_nothing() {
    let folder = folder("head");
    write(&folder, "hello.toml", HELLO);
    write(&folder, "missed.toml", &HELLO.replace("min    = 0.9", "min    = 1.5"));
    let cases: [(&[&str], i32); 7] = [
        (&["laws"], 0),
        (&["--help"], 0),
        (&["run", "hello.toml", "--set", "seed=7"], 0),
        (&["run", "nowhere.toml"], 3),
        (&["explain", "xpc"], 2),
        (&["run", "--nonsense"], 2),
        (&["check", "missed.toml"], 1),
    ];
    for (args, code) in cases {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_ratewire"));
        command.args(args).current_dir(&folder);
        command.stderr(writer.try_clone().expect("the pipe again")).stdout(writer);
        let status = command.status().expect("the command starts");
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
    assert!(folder.join("out/hello/report.html").is_file());
}

#[test]
fn a_capture_is_a_pcapng_file() {
    let folder = folder("capture");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--capture", "bottleneck", "--out", "o"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let bytes = std::fs::read(folder.join("o/xcp-seed-1/packets.pcapng")).expect("a capture");
    assert_eq!(bytes[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(bytes.len() > 100_000);
}

#[test]
fn why_a_flow_sends_as_it_does_is_explained_hop_by_hop() {
    let folder = folder("why");
    write(&folder, "hello.toml", HELLO);
    let ask = |why: &str| ratewire(&folder, &["run", "hello.toml", "--no-files", "--why", why]);
    let done = ask("s1->d1@1.5s");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("Bound by bottleneck\n   delta_throughput <="), "{}", out(&done));
    assert!(out(&done).contains("C = 10.0 Mbit/s"), "{}", out(&done));
    let asked = ["run", "hello.toml", "--out", "o", "--law", "cubic", "--why", "s1->d1@1.5s"];
    let done = ratewire(&folder, &asked);
    assert!(out(&done).contains("Bound by no port on the path\n"), "{}", out(&done));
    let ended = HELLO.replace(
        "[[expect]]",
        "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\nname = \"short\"\nsize = \"9 KB\"\n\n[[expect]]",
    );
    write(&folder, "ended.toml", &ended);
    let asked = ["run", "ended.toml", "--no-files", "--law", "cubic", "--why", "short@1.5s"];
    let done = ratewire(&folder, &asked);
    assert!(
        out(&done).contains("Why short sends as it does under cubic, seed 1\n"),
        "{}",
        out(&done)
    );
    let says = "sent no data packet from 1.5 s on: it completed at ";
    assert!(out(&done).contains(says), "{}", out(&done));
    // The page explains the rates of all flows at all times.
    let page = std::fs::read_to_string(folder.join("o/report.html")).expect("a page");
    assert_eq!(page.matches("\"why\":[[").count(), 2);
    assert!(page.matches("congestion avoidance: growing").count() == 1, "said once");
    for (why, says) in [
        ("s1->d1", "write FLOW@TIME"),
        ("s9@1s", "known: s1->d1, s2->d2"),
        ("s1-d9@1s", "did you mean \"s1->d1\"?"),
        ("s1->d1@1", "has no unit"),
        ("s1->d1@3s", "the run ends at 2 s"),
    ] {
        let done = ask(why);
        assert_eq!(done.status.code(), Some(2), "{why}");
        assert!(err(&done).contains(says), "{why}: {}", err(&done));
    }
    let mice = "[[traffic]]\nname = \"mice\"\nsizes = { fixed = \"9 KB\" }\nload = { fraction = 0.1, link = \"bottleneck\" }\n\n[[expect]]";
    write(&folder, "mice.toml", &HELLO.replace("[[expect]]", mice));
    for name in ["mice", "mice.7", "micelle"] {
        let asked = ["run", "mice.toml", "--no-files", "--why", &format!("{name}@1s")];
        let done = ratewire(&folder, &asked);
        let of_traffic = err(&done).contains("flows of the traffic \"mice\" come and go");
        assert_eq!(
            (done.status.code(), of_traffic),
            (Some(2), name != "micelle"),
            "{}",
            err(&done)
        );
    }
}

#[test]
fn what_there_is_can_be_listed() {
    let folder = folder("lists");
    let text = |args: &[&str]| {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
        out(&done)
    };
    assert!(text(&["laws"]).contains("newreno"));
    // Where no valgrind is found, which would count for a minute.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ratewire"));
    let done = command.args(["laws", "--cost", "--rounds", "2", "--json"]).env("PATH", "").output();
    let done = done.expect("the command starts");
    assert!(err(&done).starts_with("measuring the ports of "), "{}", err(&done));
    assert!(text(&["laws", "--help"]).contains("which takes about a minute"));
    let costs: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert!(costs["laws"][0]["ns"]["least"].is_number() && costs["laws"][0]["law"] == "xcp");
    assert!(costs["laws"][0]["instructions"].is_null());
    let laws = costs["laws"].as_array().expect("laws");
    assert!(!laws.iter().any(|law| law["law"] == "newreno"), "has no part in routers");
    assert!(text(&["explain", "xcp"]).contains("alpha = 0.4"));
    assert!(text(&["explain", "xcp"]).contains("\n  draft = \"03\"\n"));
    assert!(text(&["disciplines"]).contains("codel      Controlled delay (RFC 8289)"));
    let disciplines: serde_json::Value =
        serde_json::from_str(&text(&["disciplines", "--json"])).expect("JSON");
    assert_eq!(disciplines[1]["options"][0]["default"], "5 packets");
    assert!(text(&["explain", "codel"]).contains("\n  target = \"5 ms\"\n"));
    assert!(text(&["topologies"]).contains("fat-tree"));
    assert!(text(&["topologies"]).contains("  pairs       s1 to d1, s2 to d2"));
    assert!(text(&["scenario"]).contains("[topology]"));
    assert!(text(&["completions", "bash"]).contains("complete -F"));
    assert!(text(&["--help"]).contains("Exit codes"));
}

/// `docs/reference/scenario.md` equals the command's output.
#[test]
fn the_reference_in_the_docs_is_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    let printed = out(&ratewire(&folder("reference"), &["scenario", "--reference"]));
    assert!(printed == std::fs::read_to_string(docs).expect("the reference in the docs"));
}
