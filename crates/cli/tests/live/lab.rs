//! A sender, a router and a receiver, each in its own namespace.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

/// Lock of the machine: a host's law applies to the whole machine.
static MACHINE: Mutex<()> = Mutex::new(());

/// Three namespaces in a row: a sender, a router with a link of 100 Mbit/s to the receiver, and a
/// receiver. A cgroup contains the programs that take part.
pub(crate) struct Lab {
    pub(crate) tag: String,
    pub(crate) cgroup: PathBuf,
    _machine: MutexGuard<'static, ()>,
}

pub(crate) const LINK: f64 = 100e6;
/// A little less than the link's rate, so that the queue can drain.
pub(crate) const SHARED_OUT: &str = "98mbit";

/// Share of stolen CPU time below which a trial says something about a law.
const STOLEN: f64 = 0.02;
/// Number of trials on a machine with too little CPU time.
const TRIALS: usize = 6;

impl Lab {
    /// `None` if the laboratory cannot be built, and the environment does not require it.
    pub(crate) fn build(test: &str) -> Option<Lab> {
        if let Some(why) = why_not() {
            assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
            eprintln!("skipped: {why}");
            return None;
        }
        let machine = MACHINE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let tag = format!("{}{test}", std::process::id());
        let cgroup = cgroups().join(format!("ratewire-{tag}"));
        std::fs::create_dir(&cgroup).expect("a cgroup");
        let lab = Lab { tag, cgroup, _machine: machine };
        for end in ["s", "r", "d"] {
            lab.sh(&format!("ip netns add {0}; ip -n {0} link set lo up", lab.netns(end)));
        }
        let (s, r, d) = (lab.netns("s"), lab.netns("r"), lab.netns("d"));
        lab.sh(&format!(
            "ip link add left netns {s} type veth peer name left netns {r}
             ip link add right netns {r} type veth peer name right netns {d}
             ip -n {s} addr add 10.7.1.1/24 dev left; ip -n {r} addr add 10.7.1.2/24 dev left
             ip -n {r} addr add 10.7.2.1/24 dev right; ip -n {d} addr add 10.7.2.2/24 dev right
             ip -n {s} link set left up; ip -n {r} link set left up
             ip -n {r} link set right up; ip -n {d} link set right up
             ip -n {s} route add default via 10.7.1.2; ip -n {d} route add default via 10.7.2.1
             nsenter --net=/var/run/netns/{r} sysctl -qw net.ipv4.ip_forward=1
             nsenter --net=/var/run/netns/{r} sysctl -qw net.ipv6.conf.all.forwarding=1
             ip -n {s} addr add fd00:1::1/64 dev left nodad; ip -n {r} addr add fd00:1::2/64 dev left nodad
             ip -n {r} addr add fd00:2::1/64 dev right nodad; ip -n {d} addr add fd00:2::2/64 dev right nodad
             ip -n {s} route add default via fd00:1::2; ip -n {d} route add default via fd00:2::1
             tc -n {r} qdisc add dev right root tbf rate 100mbit burst 32kb limit 1000000"
        ));
        Some(lab)
    }

    pub(crate) fn netns(&self, end: &str) -> String {
        format!("rw{}{end}", self.tag)
    }

    pub(crate) fn sh(&self, script: &str) {
        let done = Command::new("sh").args(["-ec", script]).output().expect("a shell");
        assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    }

    /// A command that runs a program at one of the ends.
    pub(crate) fn at(&self, end: &str, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/var/run/netns/{}", self.netns(end))).arg(program);
        command
    }

    pub(crate) fn ratewire(&self, args: &[&str]) -> Output {
        self.at("r", env!("CARGO_BIN_EXE_ratewire")).args(args).output().expect("ratewire starts")
    }

    pub(crate) fn live(&self, args: &[&str]) -> String {
        let done = self.ratewire(&[&["live"], args].concat());
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{args:?}: {said}{}", String::from_utf8_lossy(&done.stderr));
        said
    }

    /// Output of `status` at an end.
    pub(crate) fn status(&self, end: &str) -> Value {
        let mut ratewire = self.at(end, env!("CARGO_BIN_EXE_ratewire"));
        let done = ratewire.args(["live", "status", "--format", "json"]).output();
        serde_json::from_slice(&done.expect("ratewire starts").stdout).expect("JSON")
    }

    pub(crate) fn attach(&self, law: &str) {
        self.attach_with(law, SHARED_OUT);
    }

    pub(crate) fn attach_with(&self, law: &str, capacity: &str) {
        self.live(&["router", "--iface", "right", "--law", law, "--capacity", capacity]);
        let cgroup = self.cgroup.to_str().expect("a plain path");
        self.live(&["host", "--law", law, "--cgroup", cgroup]);
    }

    /// Starts a program at one of the ends, inside or outside the cgroup.
    pub(crate) fn start(&self, end: &str, takes_part: bool, program: &str) -> Child {
        let join = match takes_part {
            true => format!("echo $$ > {}/cgroup.procs; ", self.cgroup.display()),
            false => String::new(),
        };
        let mut command = self.at(end, "sh");
        command.args(["-ec", &format!("{join}exec {program}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// Counters of `tc` at the bottleneck.
    pub(crate) fn queue(&self) -> Queue {
        let done = Command::new("tc")
            .args(["-n", &self.netns("r"), "-s", "-j", "qdisc", "show", "dev", "right", "root"])
            .output()
            .expect("tc");
        let list: Value = serde_json::from_slice(&done.stdout).expect("tc writes JSON");
        let count = |name: &str| list[0][name].as_u64().expect("a count");
        Queue {
            packets: count("packets"),
            bytes: count("bytes"),
            drops: count("drops"),
            backlog: count("backlog"),
        }
    }

    /// Runs three flows that take part until they fill this part of the link, and returns them with
    /// the status.
    pub(crate) fn share(
        &self,
        law: &str,
        capacity: &str,
        is_good: impl Fn(&Shared) -> bool,
    ) -> (Shared, Value) {
        let trial = || {
            self.attach_with(law, capacity);
            let shared = self.three_flows(None);
            let said = self.status("r");
            self.live(&["detach"]);
            (shared, said)
        };
        repeated(trial, |(shared, _)| is_good(shared))
    }

    /// Runs three flows for some seconds; gives the goodput of each, and the state of the link in
    /// the middle.
    pub(crate) fn three_flows(&self, congestion: Option<&str>) -> Shared {
        let takes_part = congestion.is_none();
        let congestion = congestion.map_or(String::new(), |name| format!("-C {name}"));
        let drops = self.queue().drops;
        let ports = [5201, 5202, 5203];
        let servers: Vec<Child> = ports
            .map(|port| self.start("d", takes_part, &format!("iperf3 -s -1 -p {port}")))
            .into();
        sleep(Duration::from_millis(500));
        let client = |port| {
            self.start(
                "s",
                takes_part,
                &format!("iperf3 -J -c 10.7.2.2 -p {port} -t 5 -O 1 {congestion}"),
            )
        };
        let clients = ports.map(client);
        sleep(Duration::from_secs(2));
        let (before, mut backlog, samples) = (self.queue(), 0, 100);
        let began = std::time::Instant::now();
        for _ in 0..samples {
            backlog += self.queue().backlog;
            sleep(Duration::from_millis(20));
        }
        let (after, seconds) = (self.queue(), began.elapsed().as_secs_f64());
        let rates = clients.map(|client| {
            let done = client.wait_with_output().expect("iperf3 ends");
            let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
            let rate = &report["end"]["sum_received"]["bits_per_second"];
            rate.as_f64().unwrap_or_else(|| panic!("{}", report["error"]))
        });
        servers.into_iter().for_each(|mut server| {
            let _ = server.kill();
            let _ = server.wait();
        });
        Shared {
            rates,
            utilisation: (after.bytes - before.bytes) as f64 * 8.0 / seconds / LINK,
            backlog: backlog as f64 / f64::from(samples),
            drops: self.queue().drops - drops,
        }
    }
}

/// Repeats a trial until it is good. Only trials with stolen CPU time are repeated: there senders
/// are late for an empty queue, and the link's timer is late for a full one.
pub(crate) fn repeated<T>(trial: impl Fn() -> T, is_good: impl Fn(&T) -> bool) -> T {
    repeated_if(|_| false, trial, is_good)
}

/// As [`repeated`]; trials that were disturbed in another way are repeated as well.
pub(crate) fn repeated_if<T>(
    is_disturbed: impl Fn(&T) -> bool,
    trial: impl Fn() -> T,
    is_good: impl Fn(&T) -> bool,
) -> T {
    for _ in 1..TRIALS {
        let before = Time::now();
        let tried = trial();
        let is_stolen = Time::now().stolen_since(&before) >= STOLEN;
        if is_good(&tried) || !(is_stolen || is_disturbed(&tried)) {
            return tried;
        }
    }
    trial()
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.ratewire(&["live", "detach"]);
        for end in ["s", "r", "d"] {
            let _ = Command::new("ip").args(["netns", "del", &self.netns(end)]).output();
        }
        let _ = std::fs::write(self.cgroup.join("cgroup.kill"), "1");
        for _ in 0..50 {
            if std::fs::remove_dir(&self.cgroup).is_ok() {
                break;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// CPU time of all processors since boot, in ticks.
struct Time {
    all: u64,
    stolen: u64,
}

impl Time {
    fn now() -> Time {
        let stat = std::fs::read_to_string("/proc/stat").expect("/proc");
        // Columns: user, nice, system, idle, waiting, interrupts, soft interrupts, stolen; guests
        // are part of the first.
        let ticks = stat.lines().next().expect("a line of all processors").split_whitespace();
        let ticks: Vec<u64> = ticks.skip(1).take(8).map(|n| n.parse().expect("ticks")).collect();
        Time { all: ticks.iter().sum(), stolen: ticks[7] }
    }

    fn stolen_since(&self, before: &Time) -> f64 {
        (self.stolen - before.stolen) as f64 / (self.all - before.all) as f64
    }
}

pub(crate) struct Queue {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) drops: u64,
    pub(crate) backlog: u64,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) rates: [f64; 3],
    pub(crate) utilisation: f64,
    pub(crate) backlog: f64,
    pub(crate) drops: u64,
}

impl Shared {
    /// Largest distance of a flow from an equal share.
    pub(crate) fn unfairness(&self) -> f64 {
        let mean = self.rates.iter().sum::<f64>() / 3.0;
        self.rates.iter().map(|rate| (rate / mean - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Why the laboratory cannot be built.
fn why_not() -> Option<String> {
    let is_there = |tool: &&str| {
        let asked = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
        asked.is_ok_and(|done| done.status.success())
    };
    if let Some(tool) = ["ip", "tc", "ss", "ethtool", "nsenter", "iperf3", "nginx", "curl", "git"]
        .iter()
        .find(|tool| !is_there(tool))
    {
        return Some(format!("{tool} is missing"));
    }
    let doctor =
        Command::new(env!("CARGO_BIN_EXE_ratewire")).arg("doctor").output().expect("it starts");
    (!doctor.status.success()).then(|| String::from_utf8_lossy(&doctor.stdout).into_owned())
}

fn cgroups() -> PathBuf {
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("/proc");
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    PathBuf::from(mount.expect("a cgroup2 file system").split(' ').nth(1).expect("its path"))
}
