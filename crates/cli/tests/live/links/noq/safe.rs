//! Senders without a window, only while their interface pauses.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{Network, end, wait_for};
use crate::choice::{connect, control};

const RATEWIRE: &str = env!("CARGO_BIN_EXE_ratewire");

/// What obeys pauses at the sender's interface.
#[derive(Clone, Copy, Debug)]
enum By {
    /// A port of noq.
    Port,
    /// A card, as an `ethtool` of the test's says: veth has no such settings.
    Card,
}

/// A folder with an `ethtool` that says of the interface `left` what a file says.
struct Card(PathBuf);

impl Card {
    fn build(tag: &str) -> Card {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("card-{tag}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let script = format!(
            "#!/bin/sh\n[ \"$2\" = left ] || exit 1\nprintf 'RX:\\t%s\\n' \"$(cat {}/rx)\"\n",
            folder.display()
        );
        std::fs::write(folder.join("ethtool"), script).expect("a script");
        let card = Card(folder);
        card.set("off");
        card
    }

    fn set(&self, rx: &str) {
        std::fs::write(self.0.join("rx"), rx).expect("a file");
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Processes that look which interfaces pause.
fn watchers() -> Vec<String> {
    let program = Path::new(RATEWIRE).canonicalize().expect("it is built");
    let all = std::fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let is_one = |process: &PathBuf| {
        let args = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let is_ours = std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == program);
        is_ours && args.contains("watch-pauses")
    };
    let name = |process: PathBuf| process.file_name()?.to_str().map(str::to_string);
    all.filter(is_one).filter_map(name).collect()
}

impl Network {
    fn host(&self) -> Value {
        self.lab.status("s")["hosts"][0].clone()
    }

    /// Opens connections until one takes part, or does not; gives the last report.
    fn connect_until(&self, takes_part: bool) -> Value {
        let report = wait_for(|| {
            let report = connect(&self.lab, ["s", "d"], "10.7.2.2", true);
            ((control(&report) == "rw_noq") == takes_part).then_some(report)
        });
        report.unwrap_or_else(|| panic!("taking part: not {takes_part}; {}", self.host()))
    }

    fn set(&mut self, card: &Card, by: By, obeys: bool) {
        match (by, obeys) {
            (By::Port, true) => self.port("s", "--iface left --obey frames --capacity 1gbit"),
            (By::Port, false) => {
                let mut port = self.ports.pop().expect("a port");
                self.lab.sh(&format!("kill -TERM {}", port.id()));
                port.wait().expect("it ends");
            }
            (By::Card, _) => card.set(if obeys { "on" } else { "off" }),
        }
    }
}

/// The link's state is watched: what had no window falls back to the machine's TCP when its
/// interface no longer pauses, or when nobody looks any more.
#[test]
fn a_sender_falls_back_when_its_interface_pauses_no_more() {
    let Some(mut network) = Network::chain("noqsafe") else { return };
    let card = Card::build(&network.lab.tag);
    network.lab.sh(&format!("chmod +x {}/ethtool", card.0.display()));
    let path = format!("{}:{}", card.0.display(), std::env::var("PATH").expect("a path"));
    let cgroup = network.lab.cgroup.to_str().expect("a plain path").to_string();
    for by in [By::Port, By::Card] {
        let host = ["live", "host", "--law", "noq", "--cgroup", &cgroup];
        let done = network.lab.at("s", RATEWIRE).args(host).env("PATH", &path).output();
        let done = done.expect("it starts");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success() && said.contains("while their own interface"), "{done:?}");
        network.connect_until(false);
        network.set(&card, by, true);
        network.connect_until(true);

        // A connection that is open falls back, too, and goes on.
        let server = network.lab.start("d", false, "iperf3 -s -1 -p 5202");
        sleep(Duration::from_millis(500));
        let before = network.host();
        let client = network.lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5202 -t 12");
        let takes_part = || {
            let now = network.host()["taking_part"].as_u64();
            (now >= before["taking_part"].as_u64().map(|n| n + 2)).then_some(())
        };
        assert!(wait_for(takes_part).is_some(), "{by:?}: {}", network.host());
        network.set(&card, by, false);
        let fell_back =
            || (network.host()["fell_back"].as_u64() > before["fell_back"].as_u64()).then_some(());
        assert!(wait_for(fell_back).is_some(), "{by:?}: {}", network.host());
        let asked = network.lab.at("s", "ss").args(["-tinH", "dport", "=", "5202"]).output();
        let shown = String::from_utf8(asked.expect("ss").stdout).expect("text");
        assert!(shown.contains(" cubic "), "{by:?}: {shown}");
        let done = client.wait_with_output().expect("iperf3 ends");
        end(server);
        let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
        // As it began.
        assert_eq!(control(&report), "rw_noq", "{by:?}: {report}");
        let last = report["intervals"].as_array().and_then(|all| all.last()).expect("an interval");
        assert!(last["sum"]["bytes"].as_u64() > Some(0), "{by:?}: {report}");
        // A program's own choice is not what ended the law.
        assert_eq!(network.host()["chose_another"], 0, "{by:?}");
        network.connect_until(false);

        // Nobody looks any more.
        network.set(&card, by, true);
        network.connect_until(true);
        let watching = watchers();
        assert_eq!(watching.len(), 1, "{watching:?}");
        network.lab.sh(&format!("kill -KILL {}", watching[0]));
        network.connect_until(false);
        network.lab.live(&["detach", "--hosts"]);
        network.set(&card, by, false);
    }
    // Detached, it ends by itself.
    let host = ["live", "host", "--law", "noq", "--cgroup", &cgroup];
    assert!(network.lab.at("s", RATEWIRE).args(host).status().expect("it starts").success());
    network.lab.live(&["detach", "--hosts"]);
    assert!(wait_for(|| watchers().is_empty().then_some(())).is_some(), "{:?}", watchers());
}
