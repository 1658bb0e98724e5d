//! Fidelity of a run in real time: how well it kept to the model's times.

use serde::{Deserialize, Serialize};

use crate::figure::{count, plural, seconds};

/// Share of late looks at hosts that is worth a word.
const MOST_LATE: f64 = 0.01;

/// Fidelity of a run in real time: how well it kept to the model's times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FidelitySummary {
    /// Whether the figures of the run can be relied on.
    pub holds: bool,
    /// Whether its round trips and completion times can be: they need hosts that are in time too.
    pub times_hold: bool,
    /// Packets that left the network.
    pub packets: u64,
    /// Whether no packet left although flows had data to send.
    pub silent: bool,
    /// Share of packets that left more than 1 ms later than in the model.
    pub late_share: f64,
    /// Lateness that 99 of 100 packets did not exceed, seconds.
    pub lateness_p99_s: f64,
    /// The largest lateness, seconds.
    pub lateness_max_s: f64,
    /// Share of looks at hosts that found a program more than 1 ms late.
    pub hosts_late_share: f64,
    /// Lateness of hosts that 99 of 100 looks did not exceed, seconds.
    pub hosts_lateness_p99_s: f64,
    /// The largest lateness of hosts, seconds.
    pub hosts_lateness_max_s: f64,
    /// The longest time between two looks at the hosts' devices, seconds.
    pub longest_absence_s: f64,
    /// Packets that hosts' devices dropped because the network did not take them.
    pub dropped_by_devices: u64,
    /// Packets that hosts' kernels refused.
    pub refused_by_hosts: u64,
    /// Packets for no host of the scenario.
    pub stray: u64,
    /// Packets whose time to live was too short for their route.
    pub expired: u64,
    /// Packets with a congestion header that no port's law can read.
    pub unread_headers: u64,
    /// Connection ends whose peer does not support their law.
    pub plain_connections: u64,
    /// Connection ends to which the kernel refused their law's congestion control.
    pub refused_connections: u64,
    /// Connection ends whose program chose another congestion control than their law's.
    pub connections_that_chose_another: u64,
    /// Flows that failed.
    pub failed_flows: u64,
    /// Whether hosts hand over many packets at once (segmentation offload).
    pub offloads: bool,
    /// Whether the network had precedence over programs.
    pub real_time: bool,
    /// What real senders and packets are otherwise than the scenario says: `reno of Linux 6.18 has
    /// no count = acks`.
    pub differences: Vec<String>,
    /// The day of the run, in UTC: `2026-11-28`.
    pub date: String,
    /// The kernel: `Linux 6.18.3`.
    pub kernel: String,
    /// The machine's processors: `2 x AMD EPYC 7B13`.
    pub machine: String,
}

impl FidelitySummary {
    /// When and where the run was: `2026-11-28, Linux 6.18.3, 2 x AMD EPYC 7B13`.
    pub fn place(&self) -> String {
        format!("{}, {}, {}", self.date, self.kernel, self.machine)
    }

    /// The verdict, in a sentence or two.
    pub fn text(&self) -> String {
        const END: &str = "end";
        // The verdict compares the share with 1 %, so it is shown with one digit more, and with the
        // count.
        let share = self.late_share * 100.0;
        let late = count((self.late_share * self.packets as f64).round() as u64);
        let (p99, max) = (seconds(Some(self.lateness_p99_s)), seconds(Some(self.lateness_max_s)));
        let verdict =
            if self.holds { "holds" } else { "DOES NOT HOLD: do not rely on the figures" };
        let passed = match (self.packets, self.silent) {
            (0, true) => "No packet passed, although flows had data".to_string(),
            (0, false) => "No packet passed".to_string(),
            (packets, _) => format!(
                "{late} of {} ({share:.2} %) were later than 1 ms (99th percentile {p99}, worst {max})",
                plural(packets as usize, "packet")
            ),
        };
        let mut text = format!("fidelity {verdict}. {passed}");
        let wrong = [
            (self.dropped_by_devices, "", "dropped by hosts' devices"),
            (self.refused_by_hosts, "", "refused by hosts"),
            (self.stray, "", "for no host"),
            (self.expired, "", "whose time to live was too short for their route"),
            (self.unread_headers, "", "with a congestion header that no port reads"),
            (self.plain_connections, END, "of connections whose other end does not speak the law"),
            (self.refused_connections, END, "of connections for which the kernel refused the law"),
            (
                self.connections_that_chose_another,
                END,
                "of connections whose program chose another congestion control",
            ),
            (self.failed_flows, "flow", "failed"),
        ];
        for (number, noun, what) in wrong.into_iter().filter(|(number, ..)| *number > 0) {
            let counted = match noun {
                // Without a noun: the text before says that the counts are of packets.
                "" => count(number),
                noun => plural(number as usize, noun),
            };
            text += &format!(", {counted} {what}");
        }
        if !self.times_hold && self.hosts_late_share > MOST_LATE {
            let [p99, max] = [self.hosts_lateness_p99_s, self.hosts_lateness_max_s]
                .map(|lateness| seconds(Some(lateness)));
            let whose = if self.holds {
                "ROUND TRIPS AND COMPLETION TIMES DO NOT HOLD: programs"
            } else {
                "Programs"
            };
            text += &format!(
                ". {whose} of hosts were later than 1 ms in {:.1} % of looks at them (99th \
                 percentile {p99}, worst {max})",
                self.hosts_late_share * 100.0
            );
        }
        let given = |is: bool, what: &str| if is { what.into() } else { format!("no {what}") };
        text += &format!(
            "; {}, {}",
            given(self.offloads, "offloads"),
            given(self.real_time, "real-time priority")
        );
        for difference in &self.differences {
            text += &format!(". {difference}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_late_packets_just_above_the_limit_does_not_read_as_the_limit() {
        let run = FidelitySummary { packets: 25_000, late_share: 0.0104, ..Default::default() };
        let text = run.text();
        assert!(text.contains("260 of 25,000 packets (1.04 %) were later than 1 ms"), "{text}");
    }

    #[test]
    fn what_differs_from_the_scenario_ends_the_verdict() {
        let differences = vec!["reno of Linux 6.18 has no count = acks".to_string()];
        let run = FidelitySummary { holds: true, differences, ..Default::default() };
        let text = run.text();
        let end = "no real-time priority. reno of Linux 6.18 has no count = acks";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn where_no_packet_passed_the_verdict_says_so() {
        let nothing_to_send =
            FidelitySummary { holds: true, times_hold: true, ..Default::default() };
        let text = nothing_to_send.text();
        assert!(text.starts_with("fidelity holds. No packet passed; no offloads"), "{text}");
        let text = FidelitySummary { silent: true, ..Default::default() }.text();
        assert!(text.contains("figures. No packet passed, although flows had data"), "{text}");
    }

    #[test]
    fn the_verdict_says_when_only_times_do_not_hold() {
        let run = FidelitySummary { holds: true, hosts_late_share: 0.027, ..Default::default() };
        let text = run.text();
        assert!(text.starts_with("fidelity holds."), "{text}");
        assert!(text.contains("TIMES DO NOT HOLD: programs of hosts") && text.contains("2.7 %"));
    }

    #[test]
    fn a_verdict_against_hosts_names_them() {
        let run = FidelitySummary { packets: 10, hosts_late_share: 0.85, ..Default::default() };
        let text = run.text();
        assert!(text.starts_with("fidelity DOES NOT HOLD") && text.contains("85.0 %"), "{text}");
        assert!(!text.contains("TIMES DO NOT HOLD"), "{text}");
        let other = FidelitySummary { failed_flows: 1, hosts_late_share: 0.002, ..run }.text();
        assert!(!other.contains("rograms of hosts"), "{other}");
    }

    #[test]
    fn the_verdict_names_what_was_lost_and_what_was_missing() {
        let run = FidelitySummary {
            packets: 10,
            late_share: 0.5,
            stray: 3,
            expired: 4,
            ..Default::default()
        };
        let text = run.text();
        assert!(text.starts_with("fidelity DOES NOT HOLD"), "{text}");
        assert!(text.contains("4 whose time to live was too short for their route"), "{text}");
        assert!(text.contains("3 for no host") && !text.contains("not taken"), "{text}");
        assert!(text.ends_with("no offloads, no real-time priority"), "{text}");
        let good = FidelitySummary {
            holds: true,
            times_hold: true,
            offloads: true,
            plain_connections: 2,
            ..run
        };
        assert!(good.text().contains("2 ends of connections whose other end"), "{}", good.text());
        assert!(good.text().starts_with("fidelity holds."), "{}", good.text());
        let other = FidelitySummary { connections_that_chose_another: 2, ..good };
        assert!(other.text().contains("2 ends of connections whose program"), "{}", other.text());
        let failed = |failed_flows| FidelitySummary { failed_flows, ..Default::default() }.text();
        assert!(failed(1).contains(", 1 flow failed;"), "{}", failed(1));
        assert!(failed(2).contains(", 2 flows failed;"), "{}", failed(2));
    }
}
