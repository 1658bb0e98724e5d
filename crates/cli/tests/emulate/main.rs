//! The emulated world as users see it: kernels and programs at the hosts of a scenario.
//!
//! Needs root, network namespaces and /dev/net/tun. Without these the tests are skipped, or fail
//! with `RATEWIRE_REQUIRE_ROOT=1`.

// Real programs need real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod ensembles;
mod lab;
mod limits;
mod links;
mod many;
mod names;
mod overlays;
mod parity;
#[cfg(feature = "live")]
mod senders;
mod shell;
mod users;
mod verdict;

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use lab::{
    DUMBBELL, LATE, Lab, ONE_FLOW, Shared, TWO_FLOWS, drops, is_on_time, link, number,
    off_by_lateness, ratewire, sh,
};

#[test]
fn one_scenario_gives_like_figures_in_both_worlds() {
    let Some(lab) = Lab::build("both") else { return };
    // A single flow: two flows may lose packets together or in turn. With two sawteeth in a run,
    // this alone moves the mean queue by a third.
    let text = format!("law = \"newreno\"\n{DUMBBELL}{ONE_FLOW}");
    let runs = lab.run(&text, &["--world", "simulate,emulate"]);
    let [simulated, emulated] = &runs[..] else { panic!("{} runs", runs.len()) };
    let fidelity = &emulated["fidelity"];
    assert_eq!((&simulated["world"], &emulated["world"]), (&"simulate".into(), &"emulate".into()));
    // Late packets may leave the link idle, at most for their share of its time.
    let idle = number(&fidelity["late_share"]);
    let alike = [("utilisation", idle), ("queue_packets_mean", off_by_lateness(emulated))];
    for (figure, by_lateness) in alike.into_iter().filter(|_| is_on_time(emulated)) {
        let of = |run| number(&link(run, "bottleneck")[figure]);
        let (simulated, emulated) = (of(simulated), of(emulated));
        let off = (simulated - emulated).abs();
        let limit = 0.1 * simulated + by_lateness;
        assert!(off < limit, "{figure}: {simulated} simulated, {emulated} emulated, {fidelity}");
    }
    assert!(drops(emulated) > 0.0, "NewReno fills the queue");
    assert!(
        number(&fidelity["packets"]) > 5_000.0 && number(&fidelity["dropped_by_devices"]) == 0.0
    );
    assert!(simulated["fidelity"].is_null());
}

#[cfg(feature = "live")]
#[test]
fn kernels_that_speak_a_law_keep_the_queue_short() {
    let Some(lab) = Lab::build("laws") else { return };
    let text = format!("law = [\"cubic\"]\n{DUMBBELL}{TWO_FLOWS}");
    let cgroups = lab::said(&sh("findmnt -n -o TARGET -t cgroup2 | head -1"));
    let left = |process: u32| {
        std::path::Path::new(cgroups.trim()).join(format!("ratewire-emulate-{process}-xcp"))
    };
    // Remains of a run that was killed (no process has such a high number), and of one that seems
    // to run.
    let (of_killed, of_running) = (left(99_999_999), left(1));
    std::fs::create_dir_all(&of_killed).expect("a cgroup");
    std::fs::create_dir_all(&of_running).expect("a cgroup");
    let laws = "cubic,xcp,xcp@kernel,rcp,rcp@kernel,piqi-rcp,jetmax";
    let runs = lab.run(&text, &["--world", "emulate", "--law", laws]);
    assert!(!of_killed.exists(), "the next run removes what a killed one has left");
    assert!(of_running.exists(), "and nothing else");
    std::fs::remove_dir(&of_running).expect("it is empty");
    let queue = |run| number(&link(run, "bottleneck")["queue_packets_mean"]);
    let (cubic, others) = runs.split_first().expect("runs");
    for run in others.iter().filter(|run| is_on_time(run)) {
        let law = &run["law"];
        let limit = queue(cubic) / 2.0 + off_by_lateness(run);
        assert!(queue(run) < limit, "{law}: {} and {}", queue(run), queue(cubic));
        let goodput = |i: usize| number(&run["flows"][i]["goodput_bps"]);
        let (one, other) = (goodput(0), goodput(1));
        assert!((one / other - 1.0).abs() < 0.2, "{law} shares: {one} and {other}");
        let utilisation = number(&link(run, "bottleneck")["utilisation"]);
        assert!(utilisation > 0.6, "{law}: {utilisation}");
    }
}

/// XCP and RCP have different options; each is read at its ports, which are in one network.
#[cfg(feature = "live")]
#[test]
fn ports_of_two_laws_answer_their_own_flows() {
    let Some(lab) = Lab::build("two-laws") else { return };
    let text = r#"
law      = "xcp"
duration = "6 s"

[topology]
kind = "custom"

[[node]]
name = "r"
host = false

[[node]]
name = "s1"

[[node]]
name = "s2"

[[node]]
name = "d1"

[[node]]
name = "d2"

[[link]]
between = ["s1", "r"]
rate = "100 Mbit/s"
delay = "1 ms"

[[link]]
between = ["s2", "r"]
rate = "100 Mbit/s"
delay = "1 ms"

[[link]]
between = ["r", "d1"]
name = "of-xcp"
rate = "20 Mbit/s"
delay = "15 ms"
queue = "400 ms"

[[link]]
between = ["r", "d2"]
name = "of-rcp"
rate = "20 Mbit/s"
delay = "15 ms"
queue = "400 ms"
law  = "rcp"

[[flow]]
from = "s1"
to   = "d1"

[[flow]]
from = "s2"
to   = "d2"
law  = "rcp"
"#;
    let runs = lab.run(text, &["--world", "emulate"]);
    let run = &runs[0];
    assert_eq!(number(&run["fidelity"]["unread_headers"]), 0.0, "{}", run["fidelity"]);
    assert_eq!(number(&run["fidelity"]["plain_connections"]), 0.0, "{}", run["fidelity"]);
    // Without feedback each flow would send 100 Mbit/s into 20, which fills a queue in 0.1 s. A
    // host that the machine does not let run does not.
    assert_eq!(drops(run), 0.0, "{}", run["links"]);
    for name in ["of-xcp", "of-rcp"] {
        let utilisation = number(&link(run, name)["utilisation"]);
        assert!(utilisation > 0.6 || !is_on_time(run), "{name}: {utilisation}");
    }
}

#[test]
fn programs_that_know_nothing_of_it_run_over_it() {
    let Some(lab) = Lab::build("programs") else { return };
    let shared = Shared::make("site");
    let site = &shared.0;
    let folder = site.display();
    let made = sh(&format!(
        "mkdir -p {folder}/html && cd {folder} && head -c 2000000 /dev/urandom > html/file &&
         git init -q work && cd work && cp ../html/file . && git add . &&
         git -c user.name=t -c user.email=t@t commit -qm t && cd .. &&
         git clone -q --bare work html/repo.git && cd html/repo.git && git update-server-info"
    ));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let conf = site.join("nginx.conf");
    std::fs::write(
        &conf,
        format!(
            "daemon off; pid /tmp/pid; error_log stderr;
             events {{ }} http {{ access_log /dev/stdout; client_body_temp_path /tmp; proxy_temp_path /tmp;
             fastcgi_temp_path /tmp; uwsgi_temp_path /tmp; scgi_temp_path /tmp; server {{ listen 80; root {folder}/html; }} }}"
        ),
    )
    .expect("a file");
    let text = format!(
        r#"law = "cubic"
{DUMBBELL}
[[program]]
host = "d1"
run  = "iperf3 -s"

[[program]]
host = "d2"
run  = "nginx -p {folder} -c {conf}"

[[flow]]
from = "s1"
to   = "d1"
run  = "iperf3 -c d1 -t 3 --json"

[[flow]]
name   = "download"
from   = "d2"
to     = "s2"
run    = "curl -sS -o {folder}/got http://d2/file && cmp {folder}/got {folder}/html/file && rm -rf {folder}/cloned && git clone -q http://d2/repo.git {folder}/cloned && cmp {folder}/cloned/file {folder}/html/file && echo all is there"
run_at = "to"
start  = "500 ms"

[[expect]]
metric = "window_max"
flow   = "download"
max    = "1 GB"
"#,
        conf = conf.display(),
    );
    let runs = lab.run(&text, &["--world", "emulate"]);
    let said = lab.log("*s2*");
    assert!(said.contains("all is there"), "{said}");
    let iperf: Value = serde_json::from_str(&lab.log("*s1*")).expect("iperf3's JSON");
    let received = number(&iperf["end"]["sum_received"]["bytes"]);
    let of = |i: usize, figure: &str| number(&runs[0]["flows"][i][figure]);
    let flow = |i: usize| of(i, "delivered_bytes");
    let page = std::fs::read_to_string(lab.folder.join("out/summary.json")).expect("a summary");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    assert_eq!(page["expectations"][0]["measured"], "no window is known in this time");
    assert!(received > 1e6, "{received}");
    assert!((flow(0) / received - 1.0).abs() < 0.2, "{} and {received}", flow(0));
    // iperf3 has the kernel's count, and stops counting before the last segments are sent.
    let again = number(&iperf["end"]["sum_sent"]["retransmits"]);
    let seen = of(0, "retransmitted_packets");
    assert!(again > 0.0 && (seen / again - 1.0).abs() < 0.2, "{seen} seen of {again}");
    assert!(flow(1) > 4e6, "a file and a clone of it: {}", flow(1));
    // Round trips are timed in the network, whichever end opens the connection and sends. The path
    // takes 34 ms, and a full queue on it as long.
    let [upload, download] =
        [0, 1].map(|i| ["rtt_min_s", "rtt_mean_s", "rtt_max_s"].map(|figure| of(i, figure)));
    for rtts in [upload, download] {
        assert!(rtts.is_sorted() && (0.034..0.080).contains(&rtts[0]), "{rtts:?}");
    }
    let kernels = number(&iperf["end"]["streams"][0]["sender"]["mean_rtt"]) / 1e6;
    assert!((upload[1] / kernels - 1.0).abs() < 0.3, "{upload:?}, {kernels} by the kernel");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let Some(lab) = Lab::build("interrupted") else { return };
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}"));
    let out = lab.folder.join("out");
    let mut command = ratewire();
    command.arg("run").arg(&path).args(["--world", "emulate", "--set", "duration=1 h", "--out"]);
    command.arg(&out).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    let pid = nix::unistd::Pid::from_raw(running.id().try_into().expect("a number"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let done = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr);
    // A busy machine may have been late.
    assert!([Some(130), Some(LATE)].contains(&done.status.code()), "{said}");
    assert!(said.contains("the results of cubic (emulated), seed 1 are partial: "), "{said}");
    let summary = std::fs::read(out.join("summary.json")).expect("a summary");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    let run = &summary["runs"][0];
    assert_eq!(run["planned_duration_s"], 3600.0, "{run}");
    let lasted = number(&run["duration_s"]);
    assert!(lasted > 0.0 && lasted < 3600.0, "{lasted}");
    assert!(number(&run["flows"][0]["delivered_bytes"]) > 0.0, "{run}");
}

#[test]
fn a_program_that_is_missing_is_reported_before_anything_starts() {
    let Some(lab) = Lab::build("missing") else { return };
    let text = include_str!("../../../../scenarios/emulated/iperf3.toml");
    let path = lab.scenario(&text.replacen("iperf3 -s", "no-such-server -s", 1));
    let out = lab.folder.join("out");
    let done = ratewire()
        .arg("run")
        .arg(&path)
        .args(["--world", "emulate", "--out"])
        .arg(&out)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(5), "{said}");
    assert!(said.contains("no-such-server, which runs at d1, is not on this machine"), "{said}");
    assert!(!out.exists(), "{said}");
    let done = ratewire().arg("doctor").arg(&path).output().expect("it starts");
    assert_eq!(done.status.code(), Some(5));
    let said = String::from_utf8_lossy(&done.stdout);
    let line = |name: &str| {
        said.lines().find(|line| line.get(5..).is_some_and(|rest| rest.starts_with(name)))
    };
    assert!(line("no-such-server").is_some_and(|line| line.starts_with("NO ")), "{said}");
    assert!(line("iperf3").is_some_and(|line| line.ends_with("/iperf3")), "{said}");
}

/// iperf3 chooses Reno at both ends of its data connection, after connecting; every user may do
/// this.
#[cfg(feature = "live")]
#[test]
fn programs_that_choose_another_than_their_law_are_reported() {
    let Some(lab) = Lab::build("choose") else { return };
    let text = include_str!("../../../../scenarios/emulated/iperf3.toml");
    let text = text.replace(" -t", " -C reno -t");
    let args = ["--world", "emulate", "--law", "xcp", "--set", "duration=3s"];
    let run = &lab.run(&text, &args)[0];
    let chose = number(&run["fidelity"]["connections_that_chose_another"]);
    assert_eq!(chose, 2.0, "{}", run["fidelity"]);
}

#[test]
fn a_paused_link_holds_the_sending_kernel_back_and_nothing_is_dropped() {
    let Some(lab) = Lab::build("paused") else { return };
    let runs = lab.run(PAUSED, &["--world", "emulate", "--law", "cubic"]);
    assert_eq!(drops(&runs[0]), 0.0);
    assert_eq!(number(&runs[0]["fidelity"]["dropped_by_devices"]), 0.0);
    let paused = &link(&runs[0], "a->switch")["pausing"];
    assert!(number(&paused["pauses"]) > 100.0, "{paused}");
    let utilisation = number(&link(&runs[0], "switch->b")["utilisation"]);
    assert!(utilisation > 0.9 || !is_on_time(&runs[0]), "{utilisation}");
}

/// Without a window the socket's buffer must still follow, and losses must not slow the sender
/// down.
#[cfg(feature = "live")]
#[test]
fn a_kernel_without_a_window_fills_a_paused_path_that_loses_packets() {
    let Some(lab) = Lab::build("noq") else { return };
    let text =
        PAUSED.replace("delay   = \"1 ms\"", "delay   = \"30 ms\"\nloss = { random = 0.004 }");
    let runs = lab.run(&text, &["--world", "emulate", "--law", "noq,newreno"]);
    let utilisation = |run| number(&link(run, "switch->b")["utilisation"]);
    let (noq, newreno) = (utilisation(&runs[0]), utilisation(&runs[1]));
    let is_better = noq > 0.75 && newreno < 0.6;
    let on_time = runs.iter().all(is_on_time);
    assert!(is_better || !on_time, "{noq} without a window, {newreno} with one");
    assert_eq!(number(&link(&runs[0], "a->switch")["pausing"]["overflowed"]), 0.0);
}

/// A host whose own link is paused by the switch behind it.
const PAUSED: &str = r#"
law      = "cubic"
duration = "5 s"

[topology]
kind = "custom"

[[node]]
name = "a"
[[node]]
name = "switch"
[[node]]
name = "b"

[[link]]
between = ["a", "switch"]
rate    = "100 Mbit/s"
delay   = "1 us"
queue   = "20 packets"
sockets = "in-turn"
pause   = { buffer = "31 packets" }
reverse = { queue = "unlimited", sockets = "drop", pause = false }

[[link]]
between = ["switch", "b"]
rate    = "20 Mbit/s"
delay   = "1 ms"
queue   = "unlimited"

[[flow]]
from = "a"
to   = "b"
"#;

#[test]
fn what_each_flow_delivers_is_counted_as_its_own() {
    let Some(lab) = Lab::build("own") else { return };
    // The program's flow comes first: data of the other flow between these hosts are not the
    // program's.
    let flows = r#"
[[program]]
host = "d1"
run  = "iperf3 -s"

[[flow]]
name = "program"
from = "s1"
to   = "d1"
run  = "iperf3 -c d1 -n 1M"

[[flow]]
name  = "ours"
from  = "s1"
to    = "d1"
size  = "3 MB"
start = "1 s"

[[flow]]
name = "stops"
from = "s2"
to   = "d2"
stop = "2 s"

[[expect]]
metric = "goodput"
flow   = "ours"
during = "1 s .. 6 s"
min    = "4 Mbit/s"
source = "3 MB in 5 s"
"#;
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{flows}"));
    let args =
        ["run", path.to_str().expect("a plain path"), "--world", "emulate", "--json", "--no-files"];
    let done = ratewire().args(args).output().expect("it starts");
    let page: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let flow = |i: usize| &page["runs"][0]["flows"][i];
    assert_eq!(flow(1)["delivered_bytes"], 3_000_000);
    assert!(number(&flow(1)["completion_s"]) < 5.0, "{}", flow(1));
    let completed = number(&flow(2)["completion_s"]);
    assert!((1.9..3.5).contains(&completed), "it stops at 2 s: {completed}");
    let of_program = number(&flow(0)["delivered_bytes"]);
    assert!((3e5..2e6).contains(&of_program), "some of a MiB, and nothing of ours: {of_program}");
    for expectation in page["expectations"].as_array().expect("expectations") {
        assert_eq!(expectation["passed"], true, "{expectation}");
    }
}

#[test]
fn queues_mark_real_packets_and_links_change() {
    let Some(lab) = Lab::build("marks") else { return };
    let codel = "queue = \"1 bdp\", discipline = { codel = { target = \"5 ms\", ecn = true } }";
    let text = DUMBBELL.replace("queue = \"1 bdp\"", codel);
    let change = "[[change]]\nat = \"3 s\"\nlink = \"bottleneck\"\nrate = \"5 Mbit/s\"\n";
    let ecn = "[transport]\necn = true\n";
    let text = format!("law = \"cubic\"\n{text}\n{ecn}\n{TWO_FLOWS}\n{change}");
    let runs = lab.run(&text, &["--world", "simulate,emulate"]);
    for run in &runs {
        let bottleneck = link(run, "bottleneck");
        assert!(number(&bottleneck["marks"]) > 5.0, "{bottleneck}");
        // Three seconds at 20 Mbit/s and three at 5 Mbit/s.
        let mean = number(&bottleneck["throughput_bps"]) / 1e6;
        assert!((11.0..13.0).contains(&mean) || !is_on_time(run), "{mean}");
    }
}

#[test]
fn the_same_flows_arrive_in_both_worlds() {
    let Some(lab) = Lab::build("arriving") else { return };
    let traffic = "[[traffic]]\narrivals = { poisson = \"15 /s\" }\nsizes = { pareto = { shape = 1.6, mean = \"20 KB\" } }\nstop = \"5 s\"\n";
    let runs = lab
        .run(&format!("law = \"newreno\"\n{DUMBBELL}{traffic}"), &["--world", "simulate,emulate"]);
    let figure = |run: &Value, name: &str| number(&run["completions"][name]);
    let [simulated, emulated] = &runs[..] else { panic!("{} runs", runs.len()) };
    let count = figure(simulated, "flows");
    assert!(count > 50.0 && (figure(emulated, "flows") / count - 1.0).abs() < 0.05, "{emulated}");
    let (one, other) = (figure(simulated, "median_s"), figure(emulated, "median_s"));
    let are_alike = (other / one - 1.0).abs() < 0.25;
    assert!(are_alike || !is_on_time(emulated), "median completion: {one} and {other}");
    for (world, run) in [("simulate", simulated), ("emulate", emulated)] {
        let path = lab.folder.join(format!("out/newreno-{world}-seed-1/completions.parquet"));
        let file = File::open(path).expect("the file");
        let transfers = SerializedFileReader::new(file).expect("Parquet");
        let rows = transfers.metadata().file_metadata().num_rows();
        assert_eq!(rows as f64, number(&run["arrived_flows"]), "a row a flow, {world}");
    }
}
