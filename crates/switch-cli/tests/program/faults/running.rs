//! A switch with members, as processes that can be killed.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;

use ratewire_testing::port;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Notify;

use super::wire::{Harm, lay};
use crate::common::{program, write};
use crate::processes::address;

pub(super) const MEMBERS: usize = 4;
/// Variable that tells a process which member it is: folder, address, member and life, by lines.
pub(super) const ROLE: &str = "RATEWIRE_TEST_MEMBER";

pub(super) struct Running {
    folder: PathBuf,
    switch: SocketAddr,
    _process: Child,
    addresses: Vec<SocketAddr>,
    members: Vec<Child>,
    /// Number of each member's process, from 0.
    pub(super) lives: Vec<u32>,
    /// Whether the switch has called each member down since it called it up.
    downs: Rc<[Cell<bool>; MEMBERS]>,
    changed: Rc<Notify>,
}

impl Running {
    /// Starts a switch and its members. `harm` notes what the wires between all of them do, if
    /// they are bad.
    pub(super) async fn start(folder: &Path, routing: &str, harm: Option<&Rc<Harm>>) -> Running {
        assert!(program(folder, &["key", "switch.key"]).status.success());
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let addresses: Vec<SocketAddr> = (0..MEMBERS).map(|_| local(port())).collect();
        let mut text = format!(
            "key = \"switch.key\"\nlisten = \"127.0.0.1:0\"\nsilence = \"300 ms\"\n\
             routing = \"{routing}\"\n"
        );
        for (k, address) in addresses.iter().enumerate() {
            let address = match harm {
                Some(harm) => lay(*address, k as u64, harm).await,
                None => *address,
            };
            text += &format!("[[member]]\nname = \"{k}\"\naddress = \"{address}\"\n");
        }
        write(folder, "switch.toml", &text);
        let start = |k| spawn(folder, addresses[k], k, 0);
        let members = (0..MEMBERS).map(start).collect();
        let mut command = Command::new(crate::common::PROGRAM);
        command.args(["run"]).current_dir(folder);
        command.stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().expect("the switch starts");
        let mut log = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let mut ready = String::new();
        while !ready.contains("switch ready") {
            ready = log.next_line().await.expect("a log").expect("a line before the end");
        }
        let (downs, changed) = <(Rc<[Cell<bool>; MEMBERS]>, Rc<Notify>)>::default();
        tokio::task::spawn_local(listen(log, Rc::clone(&downs), Rc::clone(&changed)));
        let switch = match harm {
            Some(harm) => lay(switch_address(&ready), MEMBERS as u64, harm).await,
            None => switch_address(&ready),
        };
        Running {
            folder: folder.to_path_buf(),
            switch,
            _process: process,
            addresses,
            members,
            lives: vec![0; MEMBERS],
            downs,
            changed,
        }
    }

    /// Where the switch is.
    pub(super) fn switch(&self) -> SocketAddr {
        self.switch
    }

    /// Kills a member's process.
    pub(super) async fn kill(&mut self, member: usize) {
        self.members[member].kill().await.expect("a process");
    }

    /// Starts a member that was killed.
    pub(super) fn restart(&mut self, member: usize) {
        self.lives[member] += 1;
        let address = self.addresses[member];
        self.members[member] = spawn(&self.folder, address, member, self.lives[member]);
    }

    /// Waits until the switch calls a killed member down. On a busy machine it may have done so
    /// before the member was killed.
    pub(super) async fn is_down(&self, member: usize) {
        while !self.downs[member].get() {
            self.changed.notified().await;
        }
    }
}

fn spawn(folder: &Path, address: SocketAddr, member: usize, life: u32) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "faults::a_member", "--nocapture"]);
    command.env(ROLE, format!("{}\n{address}\n{member}\n{life}", folder.display()));
    command.stdout(Stdio::null()).kill_on_drop(true);
    command.spawn().expect("the member starts")
}

fn switch_address(line: &str) -> SocketAddr {
    let text = address(line.split(" version=").next().expect("a line"));
    text.parse().expect("an address")
}

/// Notes which members the log calls up and down.
async fn listen(
    mut log: Lines<BufReader<ChildStderr>>,
    downs: Rc<[Cell<bool>; MEMBERS]>,
    changed: Rc<Notify>,
) {
    while let Ok(Some(line)) = log.next_line().await {
        let is_down = line.contains("member down member=\"");
        if !is_down && !line.contains("member up member=\"") {
            continue;
        }
        let member = line.split_once("member=\"").and_then(|(_, rest)| rest.split('"').next());
        let member: usize = member.expect("a name").parse().expect("a number");
        downs[member].set(is_down);
        changed.notify_waiters();
    }
}
