//! The state of a program in front of a server as text for people.

use ratewire_status::table::{facts, uptime};
use ratewire_units::Bytes;

use super::{MemberProgramStatus, ServedCounts};
use crate::status::latency::latency;

impl MemberProgramStatus {
    /// The state as text in lines, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let (address, version, framing) = (&self.address, &self.version, &self.framing);
        let switches = format!(
            "connections: {}, refused: {}, wrong keys: {}",
            self.connections, self.refused, self.wrong_keys
        );
        let ServedCounts { asked, under_way, answered, abandoned, failed } = self.requests;
        let requests = format!(
            "{asked} so far, {under_way} under way, {answered} answered, {abandoned} abandoned"
        );
        let causes = failed.by_cause().map(|(cause, count)| format!("{count} {cause}")).join(", ");
        let server = format!(
            "{}; connections: {} in use, {} kept",
            self.server, self.server_in_use, self.server_kept
        );
        let (latency_s, p99) = (self.latency.latency_s, self.latency.p99());
        let (waiting, replies) = (Bytes::new(self.waiting_bytes), Bytes::new(self.reply_bytes));
        facts(
            &mut out,
            [
                ("member", format!("{address}, {framing} (ratewire {version})")),
                ("up", uptime(self.uptime_s)),
                ("server", server),
                ("switches", switches),
                ("gateways", self.gateways.to_string()),
                ("requests", requests),
                ("failed", format!("{} ({causes})", failed.all())),
                ("waiting", format!("{waiting} of requests, {replies} of answers")),
                ("latency", format!("{}, p99 {p99}", latency(latency_s))),
            ],
        );
        out
    }
}
