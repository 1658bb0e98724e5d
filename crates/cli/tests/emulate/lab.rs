//! Shared by the tests: the machine, a folder, scenarios, and access to a run's figures.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

/// Lock of the machine: a run's network thread has priority over all others.
static MACHINE: Mutex<()> = Mutex::new(());

/// Exit code of a run with late packets, which a busy machine may cause.
pub(crate) const LATE: i32 = 6;
/// Share of late packets up to which figures are compared. A machine whose processors others use
/// has been seen to make half of all packets late.
const MOST_LATE: f64 = 0.1;
/// Times that a scenario is run for packets that are on time.
const TRIALS: usize = 2;

pub(crate) struct Lab {
    pub(crate) folder: PathBuf,
    _machine: MutexGuard<'static, ()>,
}

impl Lab {
    /// `None` if the laboratory cannot be built, and the environment does not require it.
    pub(crate) fn build(test: &str) -> Option<Lab> {
        if let Some(why) = why_not() {
            assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
            eprintln!("skipped: {why}");
            return None;
        }
        // Overlays and ensembles are processes of these programs.
        for name in ["ratewire-groups", "ratewire-switch"] {
            ratewire_testing::program_beside(env!("CARGO_BIN_EXE_ratewire"), name);
        }
        let machine = MACHINE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emulate-{test}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Some(Lab { folder, _machine: machine })
    }

    pub(crate) fn scenario(&self, text: &str) -> PathBuf {
        let path = self.folder.join("scenario.toml");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Runs a scenario, again if the machine is busy, and returns its runs.
    pub(crate) fn run(&self, text: &str, args: &[&str]) -> Vec<Value> {
        let once = || self.run_once(text, args);
        let on_time = |runs: &Vec<Value>| runs.iter().all(is_on_time);
        (1..TRIALS).map(|_| once()).find(on_time).unwrap_or_else(once)
    }

    fn run_once(&self, text: &str, args: &[&str]) -> Vec<Value> {
        let path = self.scenario(text);
        let done = ratewire()
            .arg("run")
            .arg(path)
            .args(["--json", "--out"])
            .arg(self.folder.join("out"))
            .args(args)
            .output()
            .expect("ratewire starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(matches!(done.status.code(), Some(0 | LATE)), "{:?}: {said}", done.status);
        assert!(!said.contains("failed"), "{said}");
        let page: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        page["runs"].as_array().expect("runs").clone()
    }

    pub(crate) fn log(&self, name: &str) -> String {
        let pattern = format!("cat {}/out/*/programs/{name}", self.folder.display());
        said(&sh(&pattern))
    }
}

/// A folder that every user may enter and write to, wherever the project is.
pub(crate) struct Shared(pub(crate) PathBuf);

impl Shared {
    pub(crate) fn make(test: &str) -> Shared {
        let folder = Path::new("/srv").join(format!("ratewire-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&folder, open).expect("it is ours");
        Shared(folder)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn ratewire() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ratewire"))
}

pub(crate) fn sh(script: &str) -> Output {
    Command::new("sh").args(["-c", script]).output().expect("a shell")
}

pub(crate) fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn why_not() -> Option<String> {
    let can = sh("[ $(id -u) = 0 ] && [ -c /dev/net/tun ] && unshare --net true").status.success();
    if !can {
        return Some("it needs root, network namespaces and /dev/net/tun".into());
    }
    let missing = ["ip", "iperf3", "nginx", "curl", "git"];
    let missing = missing.iter().find(|tool| !sh(&format!("command -v {tool}")).status.success());
    missing.map(|tool| format!("{tool} is not installed"))
}

pub(crate) fn link<'a>(run: &'a Value, name: &str) -> &'a Value {
    let links = run["links"].as_array().expect("links");
    links.iter().find(|link| link["name"] == name).expect("a link of this name")
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Whether a run's figures can be compared: they follow from its scenario, and not from a busy
/// machine. One that says so itself has kept its promise.
pub(crate) fn is_on_time(run: &Value) -> bool {
    let fidelity = &run["fidelity"];
    let late = fidelity["late_share"].as_f64().unwrap_or(0.0);
    if late > MOST_LATE {
        assert_eq!(fidelity["holds"], false, "{fidelity}");
        println!("{:.0} % of the packets were late: figures are not compared", 100.0 * late);
    }
    late <= MOST_LATE
}

pub(crate) fn drops(run: &Value) -> f64 {
    number(&run["conservation"]["dropped_packets"])
}

/// By how many packets the queue of DUMBBELL's bottleneck may be off, because a busy machine made
/// packets late: those that the link carries while a data packet and its answer wait so long.
pub(crate) fn off_by_lateness(emulated: &Value) -> f64 {
    let packets_per_second = 20e6 / 8.0 / 1500.0;
    2.0 * number(&emulated["fidelity"]["lateness_p99_s"]) * packets_per_second
}

pub(crate) const DUMBBELL: &str = r#"
duration = "6 s"

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "20 Mbit/s", delay = "15 ms", queue = "1 bdp" }
access     = { rate = "100 Mbit/s", delay = "1 ms" }
"#;

pub(crate) const ONE_FLOW: &str = r#"
[[flow]]
from = "s1"
to   = "d1"
"#;

pub(crate) const TWO_FLOWS: &str = r#"
[[flow]]
from = "s*"
to   = "d*"
"#;

/// Congestion controls that this kernel has.
pub(crate) fn controls() -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    names.expect("a kernel says").split_whitespace().map(str::to_string).collect()
}

/// Lets this kernel load congestion controls that are modules, as a run does.
pub(crate) fn load_controls() {
    for name in ["bbr", "dctcp"] {
        sh(&format!(
            "unshare --net sh -c 'echo {name} > /proc/sys/net/ipv4/tcp_congestion_control'"
        ));
    }
}
