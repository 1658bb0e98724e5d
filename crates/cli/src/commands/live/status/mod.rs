//! State of attached laws, shown once or repeatedly.

mod noq;
mod prometheus;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use console::Term;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use ratewire_command_line::{Exit, print_on, takes_escapes};
use ratewire_live::{Error, host, router, sockets};
use ratewire_table::{Column, Grid, Heading, Style};
use ratewire_units::Throughput;
use serde::Serialize;

use super::{Format, unable};
use crate::terminal::table_options;
pub(super) use noq::NoqPort;

/// Everything attached, for output in machine-readable formats.
#[derive(Serialize)]
struct Attached {
    routers: Vec<Router>,
    noq: Vec<NoqPort>,
    hosts: Vec<Host>,
    connections: Vec<ConnectionStatus>,
    halfway: Vec<Halfway>,
}

#[derive(Serialize)]
struct Router {
    iface: String,
    law: &'static str,
    capacity_bps: f64,
    is_measured: bool,
    input_bps: f64,
    flows: f64,
    waiting_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_rtt_seconds: Option<f64>,
    says_bps: f64,
    packets: u64,
    bytes: u64,
    with_header: u64,
    missed: u64,
    options: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    police: Option<Police>,
}

#[derive(Serialize)]
struct Police {
    flows: u64,
    entries: u64,
    corrected: u64,
    dropped: u64,
}

#[derive(Serialize)]
struct Host {
    law: &'static str,
    taking_part: u64,
    plain: u64,
    refused: u64,
    chose_another: u64,
    fell_back: u64,
}

#[derive(Serialize)]
struct ConnectionStatus {
    law: &'static str,
    local: String,
    remote: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_bps: Option<f64>,
    window_bytes: u64,
    outstanding_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_seconds: Option<f64>,
}

/// Something that a command has attached only in part: it was killed, or is still running.
#[derive(Serialize)]
struct Halfway {
    /// Name that `detach` uses.
    what: String,
    remedy: String,
}

pub(super) fn status(format: Format) -> Result<String, Error> {
    let attached = Attached::read()?;
    Ok(match format {
        Format::Table => attached.table(table_options().width),
        Format::Json => serde_json::to_string_pretty(&attached).unwrap_or_default() + "\n",
        Format::Prometheus => attached.prometheus(),
    })
}

/// Prints the status at intervals until a signal arrives or the reader closes. On a terminal each
/// table replaces the last.
pub(super) fn watch(format: Format, every: Duration) -> Exit {
    let terminal = Term::stdout();
    let takes_place = terminal.is_term() && takes_escapes() && format == Format::Table;
    let enough: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    let asked_to_end = enough.thread_block().and_then(|()| SignalFd::new(&enough));
    let asked_to_end = asked_to_end.expect("the kernel has signals");
    let timeout = PollTimeout::try_from(every).expect("hours at most");
    if takes_place {
        let _ = terminal.clear_screen();
    }
    loop {
        let text = match status(format) {
            Ok(text) if takes_place => on_screen(&text, terminal.size()),
            Ok(text) => text,
            Err(e) => return unable(&e),
        };
        if let Err(exit) = print_on(&text) {
            return exit;
        }
        let mut wait = [PollFd::new(asked_to_end.as_fd(), PollFlags::POLLIN)];
        if poll(&mut wait, timeout) != Ok(0) {
            return Exit::Done;
        }
    }
}

/// The part of a text that fits a terminal of so many rows and columns, with codes that clear the
/// rest.
fn on_screen(text: &str, (rows, columns): (u16, u16)) -> String {
    const HOME: &str = "\x1b[H";
    const REST_OF_LINE: &str = "\x1b[K";
    const REST_OF_SCREEN: &str = "\x1b[J";
    // The last row is left for the cursor.
    let room = usize::from(rows).saturating_sub(1);
    let mut screen = HOME.to_string();
    for line in text.lines().take(room) {
        let line = console::truncate_str(line, columns.into(), "…");
        let _ = writeln!(screen, "{line}{REST_OF_LINE}");
    }
    screen + REST_OF_SCREEN
}

fn bits(rate: Throughput) -> f64 {
    rate.get() * 8.0
}

impl Attached {
    fn read() -> Result<Attached, Error> {
        let routers = router::status()?.into_iter().map(|r| Router {
            law: r.law.name(),
            capacity_bps: bits(r.capacity),
            is_measured: r.is_measured,
            input_bps: bits(r.input),
            flows: r.flows,
            waiting_bytes: r.waiting.get(),
            mean_rtt_seconds: r.mean_rtt.map(|rtt| rtt.secs()),
            says_bps: bits(r.says),
            packets: r.packets,
            bytes: r.bytes.get(),
            with_header: r.with_header,
            missed: r.missed,
            options: r.options.into_iter().collect(),
            police: r.police.map(|p| Police {
                flows: p.flows,
                entries: p.entries,
                corrected: p.corrected,
                dropped: p.dropped,
            }),
            iface: r.iface,
        });
        let hosts = host::status()?.into_iter().map(|h| Host {
            law: h.law.name(),
            taking_part: h.taking_part,
            plain: h.plain,
            refused: h.refused,
            chose_another: h.chose_another,
            fell_back: h.fell_back,
        });
        let mut connections = sockets::status()?;
        connections.sort_by_key(|c| (c.local, c.remote));
        let connections = connections.into_iter().map(|c| ConnectionStatus {
            law: c.law.name(),
            local: c.local.to_string(),
            remote: c.remote.to_string(),
            rate_bps: c.rate.map(bits),
            window_bytes: c.window.get(),
            outstanding_bytes: c.outstanding.get(),
            rtt_seconds: c.rtt.map(|rtt| rtt.secs()),
        });
        Ok(Attached {
            routers: routers.collect(),
            noq: noq::read()?,
            hosts: hosts.collect(),
            connections: connections.collect(),
            halfway: Halfway::read()?,
        })
    }

    /// The status as tables, folded to `width` columns if given.
    fn table(&self, width: Option<usize>) -> String {
        let mut parts = Vec::new();
        if self.routers.is_empty()
            && self.noq.is_empty()
            && self.hosts.is_empty()
            && self.halfway.is_empty()
        {
            parts.push("nothing is attached\n".to_string());
        }
        if !self.routers.is_empty() {
            let head = [
                "interface",
                "law",
                "capacity",
                "arriving",
                "flows",
                "waiting",
                "mean RTT",
                "says",
                "packets",
                "with header",
                "missed",
            ];
            parts.push(columns(head, self.routers.iter().map(Router::row), width));
            let lines: String = self.routers.iter().map(Router::lines).collect();
            parts.extend((!lines.is_empty()).then_some(lines));
        }
        if !self.noq.is_empty() {
            parts.push(columns(noq::HEAD, self.noq.iter().map(NoqPort::row), width));
            parts.extend(self.noq.iter().filter_map(NoqPort::warning));
        }
        if !self.hosts.is_empty() {
            parts.push(self.hosts.iter().map(Host::line).collect());
        }
        if !self.connections.is_empty() {
            let head = ["from", "to", "law", "rate", "window", "outstanding", "RTT"];
            parts.push(columns(head, self.connections.iter().map(ConnectionStatus::row), width));
        }
        if !self.halfway.is_empty() {
            parts.push(self.halfway.iter().map(Halfway::lines).collect());
        }
        parts.join("\n")
    }
}

impl Router {
    fn row(&self) -> [String; 11] {
        let share = self.with_header as f64 / self.packets.max(1) as f64 * 100.0;
        let measured = if self.is_measured { ", measured" } else { "" };
        [
            self.iface.clone(),
            self.law.to_string(),
            mbps(self.capacity_bps) + measured,
            mbps(self.input_bps),
            format!("{:.1}", self.flows),
            format!("{} B", self.waiting_bytes),
            ms(self.mean_rtt_seconds),
            // Under XCP the port's answer is a change of rate.
            format!(
                "{}{}",
                if self.law == "xcp" && self.says_bps > 0.0 { "+" } else { "" },
                mbps(self.says_bps)
            ),
            self.packets.to_string(),
            format!("{share:.0} %"),
            self.missed.to_string(),
        ]
    }

    /// What the port is set to, and what its policer has done.
    fn lines(&self) -> String {
        let mut lines = String::new();
        if !self.options.is_empty() {
            let all: Vec<_> =
                self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let _ = writeln!(lines, "options of {}: {}", self.iface, all.join(", "));
        }
        if let Some(Police { flows, entries, corrected, dropped }) = &self.police {
            let forgotten = entries.saturating_sub(*flows);
            let _ = writeln!(
                lines,
                "police of {}: {flows} flows watched, {forgotten} forgotten, {corrected} packets corrected, {dropped} dropped",
                self.iface
            );
        }
        lines
    }
}

impl Host {
    fn line(&self) -> String {
        let Host { law, taking_part, plain, refused, chose_another, fell_back } = self;
        // Only noq's connections depend on their interface.
        let fell_back = match fell_back {
            0 => String::new(),
            some => format!(", {some} fell back"),
        };
        format!(
            "connections by {law}: {taking_part} take part, {plain} plain, {refused} refused, {chose_another} chose another{fell_back}\n"
        )
    }
}

impl Halfway {
    fn read() -> Result<Vec<Halfway>, Error> {
        let ports = router::halfway()?.into_iter().map(|iface| Halfway {
            remedy: format!("ratewire live detach --iface {iface}"),
            what: iface,
        });
        let queues = ratewire_live::noq::halfway()?.into_iter().map(|iface| Halfway {
            remedy: format!("ratewire live detach --iface {iface}"),
            what: format!("{iface} (noq)"),
        });
        let hosts = host::halfway()?.into_iter().map(|law| Halfway {
            what: law.control().to_string(),
            remedy: "ratewire live detach --hosts".to_string(),
        });
        Ok(ports.chain(queues).chain(hosts).collect())
    }

    fn lines(&self) -> String {
        let Halfway { what, remedy } = self;
        format!(
            "{what}: half attached, by a command that was killed or has yet to end\n  help: `{remedy}`\n"
        )
    }
}

impl ConnectionStatus {
    fn row(&self) -> [String; 7] {
        [
            self.local.clone(),
            self.remote.clone(),
            self.law.to_string(),
            self.rate_bps.map_or_else(|| "not paced".to_string(), mbps),
            format!("{} B", self.window_bytes),
            format!("{} B", self.outstanding_bytes),
            ms(self.rtt_seconds),
        ]
    }
}

fn mbps(bps: f64) -> String {
    format!("{:.1} Mbit/s", bps / 1e6)
}
fn ms(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_string(), |seconds| format!("{:.3} ms", seconds * 1e3))
}

/// A table that is folded to `width` columns if given.
fn columns<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    width: Option<usize>,
) -> String {
    let mut grid = Grid::new(head.map(Column::text).into());
    rows.for_each(|row| grid.row(row));
    grid.folded(&Style { width, heading: Heading::Plain, ..Style::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_shows_what_fits_and_clears_what_was_there() {
        let screen = on_screen("interface\nright\nleft\n", (3, 6));
        assert_eq!(screen, "\x1b[Hinter…\x1b[K\nright\x1b[K\n\x1b[J");
    }
}
