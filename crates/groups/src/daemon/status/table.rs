//! The state as text for people.

use std::fmt::Write as _;

use ratewire_units::{Bytes, Duration};

use super::model::{ClientStatus, GroupStatus, LinkStatus, Status};
use crate::config::Policy;
use crate::daemon::record::Traffic;

/// Most characters of a cell.
const WIDEST: usize = 120;

impl Status {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        section(&mut out, "link", &LINK, self.links.iter().map(link));
        section(&mut out, "client", &CLIENT, self.clients.iter().map(client));
        section(&mut out, "group", &GROUP, self.groups.iter().map(group));
        let hidden = self.group_count.saturating_sub(self.groups.len() as u64);
        if hidden > 0 {
            _ = writeln!(out, "and {hidden} more groups");
        }
        out
    }

    fn head(&self, out: &mut String) {
        let (view, limits, totals) = (&self.view, &self.limits, &self.totals);
        let changing = if view.is_changing { ", changing" } else { "" };
        let mut facts = vec![
            ("daemon", format!("{} (ratewire {})", self.daemon, self.version)),
            ("up", uptime(self.uptime_s)),
            ("view", format!("{} of {}{changing}", view.number, view.coordinator)),
            ("members", view.members.join(" ")),
        ];
        if !view.absent.is_empty() {
            facts.push(("absent", view.absent.join(" ")));
        }
        let [used, window] = [limits.window_used_bytes, limits.window_bytes].map(Bytes::new);
        facts.push(("clients", format!("{} of {}", self.clients.len(), limits.clients)));
        facts.push(("window", format!("{used} of {window}")));
        let [bytes_in, bytes_out] = [totals.bytes_in, totals.bytes_out].map(Bytes::new);
        facts.push(("messages in", format!("{} ({bytes_in})", totals.messages_in)));
        let dropped = totals.dropped;
        let written = format!("{} ({bytes_out}), {dropped} dropped", totals.messages_out);
        facts.push(("messages out", written));
        for (name, fact) in facts {
            _ = writeln!(out, "{name:<14}{}", clean(&fact));
        }
    }
}

/// A column: its heading, and whether its cells are numbers, which end at the right.
type Column = (&'static str, bool);

const LINK: [Column; 10] = [
    ("link to", false),
    ("state", false),
    ("price", true),
    ("waiting", true),
    ("mean queue", true),
    ("data sent", true),
    ("updates", true),
    ("other", true),
    ("reconnects", true),
    ("down because", false),
];

fn link(link: &LinkStatus) -> [String; 10] {
    let Traffic { data_bytes, update_bytes, other_bytes, .. } = link.sent;
    [
        link.peer.clone(),
        if link.is_up { "up" } else { "down" }.to_string(),
        dollars(link.price_dollars),
        link.waiting_messages.to_string(),
        number(link.mean_queue_messages),
        Bytes::new(data_bytes).to_string(),
        share(update_bytes, link.sent.bytes()),
        Bytes::new(other_bytes).to_string(),
        link.reconnects.to_string(),
        link.last_error.clone().filter(|_| !link.is_up).unwrap_or_default(),
    ]
}

const CLIENT: [Column; 11] = [
    ("client", false),
    ("from", false),
    ("groups", true),
    ("queue", true),
    ("state", false),
    ("money", true),
    ("salary every", true),
    ("sent", true),
    ("delivered", true),
    ("dropped", true),
    ("blocked for", true),
];

fn client(client: &ClientStatus) -> [String; 11] {
    let state = match (client.is_blocked, client.is_full) {
        (false, false) => "ready",
        (true, false) => "blocked",
        (false, true) => "full",
        (true, true) => "blocked, full",
    };
    [
        client.name.clone(),
        client.from.clone(),
        client.group_count.to_string(),
        Bytes::new(client.queue_bytes).to_string(),
        state.to_string(),
        dollars(client.money_dollars),
        seconds(client.salary_period_s),
        client.sent.to_string(),
        client.delivered.to_string(),
        client.dropped.to_string(),
        seconds(client.blocked_s),
    ]
}

const GROUP: [Column; 4] =
    [("group", false), ("policy", false), ("members here", true), ("in all", true)];

fn group(group: &GroupStatus) -> [String; 4] {
    let policy = match group.policy {
        Policy::Block => "block".to_string(),
        Policy::Drop => "drop".to_string(),
        Policy::Lag(messages) => format!("lag {messages}"),
    };
    let (here, all) = (group.local_members.to_string(), group.members.to_string());
    [group.name.clone(), policy, here, all]
}

/// Writes a table after an empty line. Without rows it says so.
fn section<const N: usize>(
    out: &mut String,
    kind: &str,
    columns: &[Column; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let rows: Vec<[String; N]> = rows.map(|row| row.map(|cell| clean(&cell))).collect();
    out.push('\n');
    if rows.is_empty() {
        _ = writeln!(out, "no {kind}s");
        return;
    }
    let headings = columns.map(|(heading, _)| heading.to_string());
    // Cells are ASCII: a byte is a character.
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().chain([&headings]).map(|row| row[column].len());
        cells.max().unwrap_or(0)
    });
    for row in [&headings].into_iter().chain(&rows) {
        let mut line = String::new();
        for ((cell, width), (_, is_number)) in row.iter().zip(widths).zip(columns) {
            _ = match is_number {
                true => write!(line, "{cell:>width$}  "),
                false => write!(line, "{cell:<width$}  "),
            };
        }
        _ = writeln!(out, "{}", line.trim_end());
    }
}

/// The text in visible ASCII and spaces, shortened. Another program may have written parts of it.
fn clean(text: &str) -> String {
    let mut clean = String::new();
    for character in text.chars() {
        if clean.len() >= WIDEST {
            clean.push_str("...");
            break;
        }
        match character {
            ' '..='~' => clean.push(character),
            _ => clean.extend(character.escape_default()),
        }
    }
    clean
}

fn uptime(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{whole} s"),
        (0, 0, _) => format!("{minutes} min {} s", whole % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

fn dollars(amount: f64) -> String {
    if amount.abs() >= 1e6 { format!("{amount:.1e} $") } else { format!("{amount:.2} $") }
}

fn number(value: f64) -> String {
    if value.abs() >= 1e9 { format!("{value:.1e}") } else { format!("{value:.1}") }
}

fn seconds(seconds: f64) -> String {
    match seconds < 1e6 {
        true => Duration::from_secs_f64(seconds.max(0.0)).to_string(),
        false => format!("{seconds:.1e} s"),
    }
}

/// Bytes, and their share in all.
fn share(part: u64, all: u64) -> String {
    let size = Bytes::new(part);
    match all {
        0 => size.to_string(),
        all => format!("{size} ({:.3} %)", part as f64 / all as f64 * 100.0),
    }
}
