//! The state as text for people.

use std::fmt::Write as _;

use ratewire_status::table::{facts, section, uptime};
use ratewire_table::Column;
use ratewire_units::{Bytes, Duration};

use super::counts::Traffic;
use super::model::{ClientStatus, FlowControlStatus, GroupStatus, LinkStatus, Status};
use crate::config::Policy;

impl Status {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        section(&mut out, "link", link_columns(), self.links.iter().map(link));
        section(&mut out, "client", client_columns(), self.clients.iter().map(client));
        section(&mut out, "group", group_columns(), self.groups.iter().map(group));
        let hidden = self.group_count.saturating_sub(self.groups.len() as u64);
        if hidden > 0 {
            _ = writeln!(out, "and {hidden} more groups");
        }
        out
    }

    fn head(&self, out: &mut String) {
        let (view, limits, totals) = (&self.view, &self.limits, &self.totals);
        let changing = if view.is_changing { ", changing" } else { "" };
        let mut head = vec![
            ("daemon", format!("{} (ratewire {})", self.daemon, self.version)),
            ("up", uptime(self.uptime_s)),
            ("view", format!("{} of {}{changing}", view.number, view.coordinator)),
            ("members", view.members.join(" ")),
        ];
        if !view.absent.is_empty() {
            head.push(("absent", view.absent.join(" ")));
        }
        if !view.with_another_file.is_empty() {
            head.push(("with another groups.toml", view.with_another_file.join(" ")));
        }
        let [used, window] = [limits.window_used_bytes, limits.window_bytes].map(Bytes::new);
        head.push(("clients", format!("{} of {}", self.clients.len(), limits.clients)));
        head.push(("window", format!("{used} of {window}")));
        let [bytes_in, bytes_out] = [totals.bytes_in, totals.bytes_out].map(Bytes::new);
        head.push(("messages in", format!("{} ({bytes_in})", totals.messages_in)));
        let dropped = totals.dropped;
        let written = format!("{} ({bytes_out}), {dropped} dropped", totals.messages_out);
        head.push(("messages out", written));
        if let Some(last) = &self.last_cut_off {
            head.push(("cut off", format!("{}, last {last}", totals.cut_off)));
        }
        head.extend(self.flow_control.as_ref().map(|told| ("flow control", rules(told))));
        facts(out, head);
    }
}

fn rules(rules: &FlowControlStatus) -> String {
    let FlowControlStatus { budget, price, price_base, benefit, memory_s, .. } = rules;
    let base = price_base.map(|base| format!(" (base {base:.4})")).unwrap_or_default();
    let memory = memory_s.map(|memory| format!(" (memory {memory} s)")).unwrap_or_default();
    let again = rules.second_thought_s.map(|wait| format!(", again after {wait} s"));
    let chance = match rules.randomise {
        true => format!("by chance{}", again.unwrap_or_default()),
        false => "without chance".to_string(),
    };
    format!("budget {budget:?}, price {price:?}{base}, benefit {benefit:?}{memory}, {chance}")
}

fn link_columns() -> [Column; 10] {
    [
        Column::text("link to"),
        Column::text("state"),
        Column::number("price"),
        Column::number("waiting"),
        Column::number("mean queue"),
        Column::number("data sent"),
        Column::number("updates"),
        Column::number("other"),
        Column::number("reconnects"),
        Column::text("down because"),
    ]
}

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

fn client_columns() -> [Column; 13] {
    [
        Column::text("client"),
        Column::text("from"),
        Column::number("groups"),
        Column::number("queue"),
        Column::text("state"),
        Column::number("weight"),
        Column::number("money"),
        Column::number("salary"),
        Column::number("salary every"),
        Column::number("sent"),
        Column::number("delivered"),
        Column::number("dropped"),
        Column::number("blocked for"),
    ]
}

fn client(client: &ClientStatus) -> [String; 13] {
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
        weight(client.weight),
        dollars(client.money_dollars),
        client.salary_dollars.map(dollars).unwrap_or_default(),
        seconds(client.salary_period_s),
        client.sent.to_string(),
        client.delivered.to_string(),
        client.dropped.to_string(),
        seconds(client.blocked_s),
    ]
}

fn group_columns() -> [Column; 5] {
    [
        Column::text("group"),
        Column::text("policy"),
        Column::number("weight"),
        Column::number("members here"),
        Column::number("in all"),
    ]
}

fn group(group: &GroupStatus) -> [String; 5] {
    let policy = match group.policy {
        Policy::Block => "block".to_string(),
        Policy::Drop => "drop".to_string(),
        Policy::Lag(messages) => format!("lag {messages}"),
        Policy::LagTime(time) => format!("lag {time}"),
    };
    let (here, all) = (group.local_members.to_string(), group.members.to_string());
    [group.name.clone(), policy, weight(group.weight), here, all]
}

fn weight(weight: Option<f64>) -> String {
    weight.map(|weight| weight.to_string()).unwrap_or_default()
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
