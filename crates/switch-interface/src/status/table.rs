//! The state as text for people.

use ratewire_status::table::{facts, section, uptime};
use ratewire_table::Column;
use ratewire_units::Bytes;

use super::model::{MemberStatus, ModuleStatus, PeerStatus, RegistrationStatus, Status};

fn member_columns() -> [Column; 7] {
    [
        Column::text("member"),
        Column::text("address"),
        Column::text("state"),
        Column::number("peers"),
        Column::number("outstanding"),
        Column::number("failures"),
        Column::text("down because"),
    ]
}

impl Status {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut known = vec![
            ("switch", format!("{} (ratewire {})", self.address, self.version)),
            ("up", uptime(self.uptime_s)),
            ("peers", self.peers.to_string()),
            ("frames in", self.totals.frames_in.to_string()),
            ("frames out", self.totals.frames_out.to_string()),
            ("wrong keys", self.wrong_keys.to_string()),
        ];
        if let Some(PeerStatus { address, is_connected }) = &self.peer {
            let state = if *is_connected { "connected" } else { "not connected" };
            known.push(("peer", format!("{address}, {state}")));
        }
        if let Some(registration) = &self.registration {
            let RegistrationStatus { address, members, places, refused, .. } = registration;
            let last = registration.last_refusal.iter().map(|why| format!("; last {why}"));
            let last: String = last.collect();
            let counts = format!("{members} of {places} at {address}, {refused} refused{last}");
            known.push(("registered", counts));
        }
        if let Some(module) = &self.module {
            let ModuleStatus { traps, overruns, invalid, .. } = module;
            let state = if module.is_given_up { ", given up" } else { "" };
            let faults = format!("{traps} traps, {overruns} overruns, {invalid} invalid{state}");
            known.push(("module", faults));
        }
        facts(&mut out, known);
        let row = |member: &MemberStatus| {
            [
                member.name.clone(),
                member.address.clone(),
                member.health.clone(),
                member.peers.to_string(),
                Bytes::new(member.outstanding_bytes).to_string(),
                member.failures.to_string(),
                member.reason.clone().unwrap_or_default(),
            ]
        };
        section(&mut out, "member", member_columns(), self.members.iter().map(row));
        out
    }
}
