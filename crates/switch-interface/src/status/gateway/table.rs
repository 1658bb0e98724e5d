//! The state of a gateway as text for people.

use ratewire_status::table::{facts, section, uptime};
use ratewire_table::Column;
use ratewire_units::Bytes;

use super::{ClientCounts, GatewayMember, GatewayStatus, RequestCounts};
use crate::status::latency::latency;

fn columns() -> [Column; 10] {
    [
        Column::text("member"),
        Column::text("state"),
        Column::text("connected"),
        Column::number("waiting"),
        Column::number("under way"),
        Column::number("expected"),
        Column::number("latency"),
        Column::number("p99"),
        Column::number("sent again"),
        Column::text("because"),
    ]
}

impl GatewayStatus {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let clients = {
            let ClientCounts { now, waiting, served, refused, .. } = self.clients;
            format!("{now} now, {waiting} wait; {served} served, {refused} refused so far")
        };
        let ended = {
            let ClientCounts {
                ended_for_memory, ended_not_reading, ended_slow, violations, ..
            } = self.clients;
            format!(
                "{ended_for_memory} for memory, {ended_not_reading} not reading, {ended_slow} \
                 slow, {violations} violations"
            )
        };
        let RequestCounts { asked, local, answered, abandoned, failed } = self.requests;
        let requests = format!(
            "{asked} for members, {answered} answered, {abandoned} abandoned; {local} answered here"
        );
        let causes = failed.by_cause().map(|(cause, count)| format!("{count} {cause}")).join(", ");
        let switch = match &self.switch.reason {
            _ if self.switch.is_connected => "connected".to_string(),
            Some(reason) => format!("not connected: {reason}"),
            None => "not connected".to_string(),
        };
        let (held, limit) = (Bytes::new(self.held_bytes), Bytes::new(self.held_limit_bytes));
        let (address, version, framing) = (&self.address, &self.version, &self.framing);
        facts(
            &mut out,
            [
                ("gateway", format!("{address}, {framing} (ratewire {version})")),
                ("up", uptime(self.uptime_s)),
                ("switch", format!("{}, {switch}", self.switch.address)),
                ("clients", clients),
                ("ended", ended),
                ("requests", requests),
                ("failed", format!("{} ({causes})", failed.all())),
                ("held", format!("{held} of {limit}")),
            ],
        );
        section(&mut out, "member", columns(), self.members.iter().map(row));
        out
    }
}

fn row(member: &GatewayMember) -> [String; 10] {
    let connected = if member.is_connected { "yes" } else { "no" };
    [
        member.name.clone(),
        member.state.clone(),
        connected.to_string(),
        member.waiting.to_string(),
        member.under_way.to_string(),
        Bytes::new(member.expected_bytes).to_string(),
        latency(member.latency.latency_s),
        member.latency.p99(),
        member.sent_again.to_string(),
        member.reason.clone().unwrap_or_default(),
    ]
}
