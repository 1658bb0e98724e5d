//! Goodput of a connection under a law beside CUBIC, between two namespaces joined by a pair of
//! interfaces: the cost of the option and the congestion control. Needs root and iperf3.

// Real programs take real time.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use ratewire_kernel::XcpRules;
use ratewire_live::KernelLaw;
use ratewire_live::host::{self, Spec};
use ratewire_units::Rate;

/// Turns alternate, so that other load of the machine meets both.
const TURNS: u32 = 5;
const LAW: KernelLaw = KernelLaw::Xcp;

fn main() {
    if let Err(why) = compare() {
        println!("{}: {why}", LAW.control());
    }
}

fn compare() -> Result<(), String> {
    let link = NamespacePair::make()?;
    let spec = Spec {
        law: LAW,
        cgroup: Some(link.cgroup.clone()),
        iface: None,
        desired: Rate::from_mbps(100_000),
        xcp: XcpRules::default(),
        is_forced: false,
        lie: None,
    };
    host::attach(&spec, |_| None).map_err(|e| e.to_string())?;
    let carried = (0..TURNS).try_fold([0.0; 2], |[cubic, law], _| {
        Ok([cubic + link.carries(false, "-C cubic")?, law + link.carries(true, "")?])
    });
    host::detach().map_err(|e| e.to_string())?;
    let [cubic, law] = carried.map_err(|e: String| e)?.map(|bps| bps / f64::from(TURNS) / 1e9);
    println!(
        "{} carries {law:.1} Gbit/s, CUBIC {cubic:.1}: a ratio of {:.2}",
        LAW.control(),
        law / cubic
    );
    Ok(())
}

/// Two namespaces, and a cgroup for the programs that take part.
struct NamespacePair {
    tag: String,
    cgroup: PathBuf,
}

impl NamespacePair {
    fn make() -> Result<NamespacePair, String> {
        let tag = format!("rwb{}", std::process::id());
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| e.to_string())?;
        let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
        let root = mount.and_then(|line| line.split(' ').nth(1)).ok_or("no cgroup2 file system")?;
        let link = NamespacePair { cgroup: PathBuf::from(root).join(&tag), tag };
        fs::create_dir(&link.cgroup).map_err(|e| e.to_string())?;
        let tag = &link.tag;
        sh(&format!(
            "ip netns add {tag}a; ip netns add {tag}b
             ip link add v netns {tag}a type veth peer name v netns {tag}b
             ip -n {tag}a addr add 10.8.0.1/24 dev v; ip -n {tag}b addr add 10.8.0.2/24 dev v
             ip -n {tag}a link set v up; ip -n {tag}b link set v up"
        ))?;
        Ok(link)
    }

    /// Rate of one connection, bits a second.
    fn carries(&self, takes_part: bool, options: &str) -> Result<f64, String> {
        let join = match takes_part {
            true => format!("echo $$ > {}/cgroup.procs; ", self.cgroup.display()),
            false => String::new(),
        };
        let at = |end: &str, command: &str| {
            let netns = format!("/var/run/netns/{}{end}", self.tag);
            format!("{join}exec nsenter --net={netns} {command}")
        };
        let mut server = Command::new("sh")
            .args(["-c", &at("b", "iperf3 -s -1")])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        sleep(Duration::from_millis(300));
        let report = sh(&at("a", &format!("iperf3 -c 10.8.0.2 -t 3 -O 1 -f k {options}")));
        let _ = server.kill();
        let _ = server.wait();
        // "[  5]   0.00-3.00   sec  4.45 GBytes  9541234 Kbits/sec                  receiver"
        let report = report?;
        let line = report.lines().find(|line| line.trim_end().ends_with("receiver"));
        let words = line.unwrap_or_default().split_whitespace().collect::<Vec<_>>();
        let unit = words.iter().position(|word| *word == "Kbits/sec");
        let rate = unit.and_then(|at| words.get(at - 1)?.parse::<f64>().ok());
        rate.map(|kilobits| kilobits * 1e3).ok_or(report)
    }
}

impl Drop for NamespacePair {
    fn drop(&mut self) {
        let _ = sh(&format!("ip netns del {0}a; ip netns del {0}b", self.tag));
        let _ = fs::remove_dir(&self.cgroup);
    }
}

fn sh(script: &str) -> Result<String, String> {
    let done = Command::new("sh").args(["-ec", script]).output().map_err(|e| e.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() { Ok(said(&done.stdout)) } else { Err(said(&done.stderr)) }
}
