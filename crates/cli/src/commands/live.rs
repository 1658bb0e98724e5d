//! Laws in the running kernel.

use std::fmt::Write;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Subcommand, ValueEnum};
use ratewire_live::{Error, Law, host, router};
use ratewire_units::Rate;
use ratewire_units::quantity::QuantityError;
use serde::Serialize;

use super::print;
use crate::Exit;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Have the TCP connections of this machine, or of a cgroup, send at the rate that routers allow
    Host {
        /// The law
        #[arg(long, value_parser = law(&Law::ALL))]
        law: String,
        /// Only connections of this cgroup: a folder of the cgroup2 file system
        #[arg(long)]
        cgroup: Option<PathBuf>,
        /// The most that a connection asks routers for; under noq, at which it sends
        #[arg(long, default_value = "100 Gbit/s", value_parser = rate)]
        desired: Rate,
        /// noq: where it is taken
        #[arg(long, value_enum, default_value_t = Mode::Safe)]
        mode: Mode,
    },
    /// Put a law's port at the egress of an interface
    Router {
        /// The interface
        #[arg(long)]
        iface: String,
        /// The law
        #[arg(long, value_parser = law(&Law::OF_ROUTERS))]
        law: String,
        /// What to share out: a little less than the bottleneck's rate, link-layer headers included; or "measured",
        /// to go by what leaves while something waits
        #[arg(long, value_parser = capacity)]
        capacity: Capacity,
        /// Where the queue is read
        #[arg(long, value_enum, default_value_t = Queue::Backlog)]
        queue: Queue,
    },
    /// Say what is attached, and what it does
    Status {
        /// How to say it
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Detach everything from this machine and the interfaces of this network namespace
    Detach {
        /// Only the port at this interface
        #[arg(long, conflicts_with = "hosts")]
        iface: Option<String>,
        /// Only what connections have, no ports
        #[arg(long)]
        hosts: bool,
    },
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    /// Where a connection's own interface pauses when what it fills has no room
    Safe,
    /// Everywhere
    Force,
}

#[derive(Clone, Copy, ValueEnum)]
enum Queue {
    /// The backlog of the interface's queueing discipline
    Backlog,
    /// Worked out, for an interface that has no queue of its own
    Virtual,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
    /// For Prometheus' node exporter to pick up as a text file
    Prometheus,
}

fn law(laws: &[Law]) -> PossibleValuesParser {
    PossibleValuesParser::new(laws.iter().map(|law| law.name()))
}

/// A rate as everywhere in Ratewire, or as `tc` writes it.
fn rate(text: &str) -> Result<Rate, String> {
    let of_tc = [("kbit", "kbit/s"), ("mbit", "Mbit/s"), ("gbit", "Gbit/s")];
    let number =
        |(suffix, unit): (&str, &str)| Some(format!("{}{unit}", text.strip_suffix(suffix)?));
    let rate: Rate = of_tc
        .into_iter()
        .find_map(number)
        .as_deref()
        .unwrap_or(text)
        .parse()
        .map_err(|e: QuantityError| e.to_string())?;
    let most = Rate::from_mbps(549_000);
    if rate == Rate::ZERO || rate > most {
        return Err(format!("allowed: above 0, up to {most}"));
    }
    Ok(rate)
}

/// What a port is to share out.
#[derive(Clone, Copy)]
enum Capacity {
    Given(Rate),
    Measured,
}

fn capacity(text: &str) -> Result<Capacity, String> {
    match text {
        "measured" => Ok(Capacity::Measured),
        _ => rate(text).map(Capacity::Given).map_err(|e| format!("{e}, or \"measured\"")),
    }
}

fn named(law: &str) -> Law {
    Law::named(law).expect("the parser lets no other pass")
}

pub(crate) fn live(args: &Args) -> Exit {
    let done = match &args.command {
        Command::Host { law, cgroup, desired, mode } => {
            let law = named(law);
            let is_forced = *mode == Mode::Force;
            let cgroup = cgroup.clone();
            host::attach(&host::Spec { law, cgroup, desired: *desired, is_forced }).map(|()| {
                let (name, control) = (law.name(), law.control());
                match law {
                    Law::Noq if is_forced => format!("connections from now on send by {control}\n"),
                    Law::Noq => format!(
                        "connections from now on send by {control} where their own interface is paused\n"
                    ),
                    _ => format!(
                        "connections from now on offer {name}; those whose other end does too send by {control}\n"
                    ),
                }
            })
        }
        Command::Router { iface, law, capacity, queue } => {
            let (capacity, what) = match capacity {
                Capacity::Given(rate) => (router::Capacity::Given(*rate), rate.to_string()),
                Capacity::Measured => (router::Capacity::Measured, "what it measures".to_string()),
            };
            let queue = match queue {
                Queue::Backlog => router::Queue::Backlog,
                Queue::Virtual => router::Queue::Virtual,
            };
            let spec = router::Spec { iface: iface.clone(), law: named(law), capacity, queue };
            router::attach(&spec).map(|()| {
                format!("{law} shares out {what} at {iface}; `ratewire live status` watches it\n")
            })
        }
        Command::Status { format } => status(*format),
        Command::Detach { iface, hosts } => detach(iface.as_deref(), *hosts),
    };
    match done {
        Ok(text) => print(&text),
        Err(e) => {
            tell!("ratewire: {e}");
            Exit::Unable
        }
    }
}

fn detach(iface: Option<&str>, only_hosts: bool) -> Result<String, Error> {
    let mut detached = if only_hosts { Vec::new() } else { router::detach(iface)? };
    if iface.is_none() {
        detached.extend(host::detach()?.into_iter().map(str::to_string));
    }
    Ok(match detached.as_slice() {
        [] => "nothing was attached\n".to_string(),
        some => format!("detached: {}\n", some.join(", ")),
    })
}

/// What is attached, for machines to read.
#[derive(Serialize)]
struct Attached {
    routers: Vec<Router>,
    hosts: Vec<Host>,
}

#[derive(Serialize)]
struct Router {
    iface: String,
    law: &'static str,
    capacity_bps: f64,
    is_measured: bool,
    input_bps: f64,
    waiting_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_rtt_seconds: Option<f64>,
    says_bps: f64,
    packets: u64,
    bytes: u64,
    with_header: u64,
    missed: u64,
}

#[derive(Serialize)]
struct Host {
    law: &'static str,
    taking_part: u64,
    plain: u64,
    refused: u64,
}

fn status(format: Format) -> Result<String, Error> {
    let bits = |rate: ratewire_units::Throughput| rate.get() * 8.0;
    let routers = router::status()?.into_iter().map(|r| Router {
        law: r.law.name(),
        capacity_bps: bits(r.capacity),
        is_measured: r.is_measured,
        input_bps: bits(r.input),
        waiting_bytes: r.waiting.get(),
        mean_rtt_seconds: r.mean_rtt.map(|rtt| rtt.secs()),
        says_bps: bits(r.says),
        packets: r.packets,
        bytes: r.bytes.get(),
        with_header: r.with_header,
        missed: r.missed,
        iface: r.iface,
    });
    let hosts = host::status()?.into_iter().map(|h| Host {
        law: h.law.name(),
        taking_part: h.taking_part,
        plain: h.plain,
        refused: h.refused,
    });
    let attached = Attached { routers: routers.collect(), hosts: hosts.collect() };
    Ok(match format {
        Format::Table => attached.table(),
        Format::Json => serde_json::to_string_pretty(&attached).unwrap_or_default() + "\n",
        Format::Prometheus => attached.prometheus(),
    })
}

impl Attached {
    fn table(&self) -> String {
        if self.routers.is_empty() && self.hosts.is_empty() {
            return "nothing is attached\n".to_string();
        }
        let mut text = String::new();
        for r in &self.routers {
            let share = r.with_header as f64 / r.packets.max(1) as f64 * 100.0;
            let measured = if r.is_measured { ", measured" } else { "" };
            let rtt = r.mean_rtt_seconds.map(|rtt| format!("mean RTT {:.3} ms, ", rtt * 1e3));
            let _ = writeln!(
                text,
                "{}: {} shares out {:.1} Mbit/s{measured}\n  arriving {:.1} Mbit/s, waiting {} B, {}says {:+.1} Mbit/s\n  \
                 {} packets, {share:.0} % with a header, {} missed",
                r.iface,
                r.law,
                r.capacity_bps / 1e6,
                r.input_bps / 1e6,
                r.waiting_bytes,
                rtt.unwrap_or_default(),
                r.says_bps / 1e6,
                r.packets,
                r.missed,
            );
        }
        for h in &self.hosts {
            let _ = writeln!(
                text,
                "connections by {}: {} take part, {} plain, {} refused",
                h.law, h.taking_part, h.plain, h.refused
            );
        }
        text
    }

    fn prometheus(&self) -> String {
        let mut text = String::new();
        for r in &self.routers {
            let labels = format!("{{iface=\"{}\",law=\"{}\"}}", r.iface, r.law);
            for (name, value) in [
                ("capacity_bits_per_second", Some(r.capacity_bps)),
                ("arriving_bits_per_second", Some(r.input_bps)),
                ("waiting_bytes", Some(r.waiting_bytes as f64)),
                ("mean_rtt_seconds", r.mean_rtt_seconds),
                ("says_bits_per_second", Some(r.says_bps)),
                ("packets_total", Some(r.packets as f64)),
                ("bytes_total", Some(r.bytes as f64)),
                ("packets_with_header_total", Some(r.with_header as f64)),
                ("packets_missed_total", Some(r.missed as f64)),
            ] {
                if let Some(value) = value {
                    let _ = writeln!(text, "ratewire_router_{name}{labels} {value}");
                }
            }
        }
        for h in &self.hosts {
            for (kind, value) in
                [("taking_part", h.taking_part), ("plain", h.plain), ("refused", h.refused)]
            {
                let _ = writeln!(
                    text,
                    "ratewire_host_connections_total{{law=\"{}\",kind=\"{kind}\"}} {value}",
                    h.law
                );
            }
        }
        text
    }
}
