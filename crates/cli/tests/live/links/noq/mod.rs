//! Networks of queues on real packets.

mod chain;
mod ring;
mod safe;
mod turns;

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::Lab;

/// A laboratory with ports of noq.
struct Network {
    lab: Lab,
    ports: Vec<Child>,
    /// Namespaces beside those of the laboratory.
    others: Vec<&'static str>,
}

impl Network {
    fn build(test: &str) -> Option<Network> {
        Some(Network { lab: Lab::build(test)?, ports: Vec::new(), others: Vec::new() })
    }

    /// Starts a port of noq, and waits until it runs.
    fn port(&mut self, end: &str, args: &str) {
        self.port_under("", end, args);
    }

    /// Starts a port by a command that starts others.
    fn port_under(&mut self, by: &str, end: &str, args: &str) {
        let program = format!("{by} {}", env!("CARGO_BIN_EXE_ratewire"));
        let started =
            self.lab.start(end, false, &format!("{program} live router --law noq {args}"));
        self.ports.push(started);
        let iface = args.split(' ').skip_while(|word| *word != "--iface").nth(1);
        let iface = iface.expect("an interface");
        let runs = wait_for(|| self.status(end, iface)).is_some();
        assert!(runs, "no port runs: {args}");
    }

    /// State of a port.
    fn status(&self, end: &str, iface: &str) -> Option<Value> {
        let status = self.lab.status(end);
        let ports = status["noq"].as_array().expect("a list");
        ports.iter().find(|port| port["iface"] == iface).cloned()
    }

    /// The queueing disciplines of an interface, with their counters.
    fn qdiscs(&self, end: &str, iface: &str) -> Vec<Value> {
        let shown = Command::new("tc")
            .args(["-n", &self.lab.netns(end), "-s", "-j", "qdisc", "show", "dev", iface])
            .output()
            .expect("tc");
        serde_json::from_slice(&shown.stdout).expect("JSON")
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for end in ["s", "r", "d"].iter().chain(&self.others) {
            let mut ratewire = self.lab.at(end, env!("CARGO_BIN_EXE_ratewire"));
            let _ = ratewire.args(["live", "detach"]).output();
        }
        self.ports.drain(..).for_each(end);
        for other in &self.others {
            let _ = Command::new("ip").args(["netns", "del", &self.lab.netns(other)]).output();
        }
    }
}

fn end(mut program: Child) {
    let _ = program.kill();
    let _ = program.wait();
}

/// Asks again and again until there is an answer; a busy machine may take long.
fn wait_for<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || began.elapsed() > Duration::from_secs(40) {
            return answer;
        }
        sleep(Duration::from_millis(50));
    }
}
