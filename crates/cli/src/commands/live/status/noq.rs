//! State of running ports of noq.

use ratewire_live::Error;
use ratewire_live::noq;
use serde::Serialize;

use super::ms;

#[derive(Serialize)]
pub(in super::super) struct NoqPort {
    pub(super) iface: String,
    pub(super) upstream: Vec<String>,
    pub(super) obeys: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held_by: Option<String>,
    pub(super) waiting_bytes: u64,
    pub(super) drops: u64,
    pub(super) is_pausing: bool,
    pub(super) pauses_sent: u64,
    pub(super) told: u64,
    pub(super) untold: u64,
    pub(super) is_held: bool,
    pub(super) pauses_obeyed: u64,
    pub(super) held_seconds: f64,
    pub(super) packets_held: u64,
    pub(super) obeyed: u64,
    pub(super) refused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_lateness_seconds: Option<f64>,
    pub(super) longest_lateness_seconds: f64,
    pub(super) standing_seconds: f64,
}

pub(super) const HEAD: [&str; 10] = [
    "noq at",
    "waiting",
    "drops",
    "upstream",
    "pauses sent",
    "queue",
    "pauses obeyed",
    "held",
    "packets held",
    "lateness",
];

/// Ports of this network namespace.
pub(super) fn read() -> Result<Vec<NoqPort>, Error> {
    Ok(noq::status()?.into_iter().map(NoqPort::from).collect())
}

impl From<noq::Status> for NoqPort {
    fn from(port: noq::Status) -> NoqPort {
        NoqPort {
            waiting_bytes: port.waiting.get(),
            drops: port.drops,
            is_pausing: port.is_pausing,
            pauses_sent: port.pauses_sent,
            told: port.told,
            untold: port.untold,
            is_held: port.is_held,
            pauses_obeyed: port.pauses_obeyed,
            held_seconds: port.held.secs(),
            packets_held: port.packets_held,
            obeyed: port.obeyed,
            refused: port.refused,
            mean_lateness_seconds: port.mean_lateness().map(|late| late.secs()),
            longest_lateness_seconds: port.latest.secs(),
            standing_seconds: port.standing.secs(),
            iface: port.iface,
            upstream: port.upstream,
            obeys: port.obeys,
            held_by: port.held_by,
        }
    }
}

impl NoqPort {
    pub(super) fn row(&self) -> [String; 10] {
        let word = |is: bool, so: &str| if is { so.to_string() } else { "open".to_string() };
        [
            self.iface.clone(),
            format!("{} B", self.waiting_bytes),
            self.drops.to_string(),
            word(self.is_pausing, "paused"),
            self.pauses_sent.to_string(),
            word(self.is_held, "held"),
            self.pauses_obeyed.to_string(),
            ms(Some(self.held_seconds)),
            self.packets_held.to_string(),
            ms(self.mean_lateness_seconds),
        ]
    }

    /// A line about a queue that stands still: who holds whom, and the remedy.
    pub(in super::super) fn warning(&self) -> Option<String> {
        if self.standing_seconds <= 0.0 {
            return None;
        }
        let NoqPort { iface, standing_seconds, .. } = self;
        let by = self.held_by.as_deref().unwrap_or("the next hop");
        let held =
            format!("{iface}: no packet has left for {standing_seconds:.0} s; {by} holds it");
        Some(match self.is_pausing {
            true => format!(
                "{held}, and it pauses {}: perhaps queues in a ring wait for each other\n  help: `status` at each next hop says who holds that one; in a ring, end one port (`ratewire live detach --iface {iface}`), whose packets are lost\n",
                self.upstream.join(", ")
            ),
            false => format!(
                "{held}\n  help: `status` at the next hop says what fills its queue, or who holds it\n"
            ),
        })
    }
}

#[cfg(test)]
impl NoqPort {
    /// A port that has held seven packets, and whose queue stands still.
    pub(super) fn of(iface: &str) -> NoqPort {
        NoqPort {
            iface: iface.to_string(),
            upstream: vec!["left".to_string(), "10.0.0.1:8808".to_string()],
            obeys: true,
            held_by: Some("02:00:00:00:00:07".to_string()),
            waiting_bytes: 300_000,
            drops: 0,
            is_pausing: true,
            pauses_sent: 2,
            told: 40,
            untold: 0,
            is_held: true,
            pauses_obeyed: 3,
            held_seconds: 4.0,
            packets_held: 7,
            obeyed: 30,
            refused: 1,
            mean_lateness_seconds: Some(80e-6),
            longest_lateness_seconds: 0.001,
            standing_seconds: 3.9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_stands_still_is_told_with_the_remedy() {
        let mut port = NoqPort::of("right");
        let said = port.warning().expect("it stands still");
        let held = "right: no packet has left for 4 s; 02:00:00:00:00:07 holds it";
        assert!(said.starts_with(&format!("{held}, and it pauses left, 10.0.0.1:8808")), "{said}");
        assert!(said.contains("help: ") && said.contains("detach --iface right"), "{said}");
        assert_eq!(port.row()[3..6], ["paused", "2", "held"]);
        // The end of a chain pauses nobody, and is in no ring.
        port.is_pausing = false;
        let said = port.warning().expect("it stands still");
        assert!(said.starts_with(&format!("{held}\n  help: ")), "{said}");
        port.standing_seconds = 0.0;
        assert_eq!(port.warning(), None);
    }
}
