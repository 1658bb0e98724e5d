//! Arriving traffic.

use ratewire_table::clip;
use serde::{Deserialize, Serialize};

use super::{DelaySummary, Summary};
use crate::TrafficInfo;
use crate::figure::{count, mean, percent, plural, seconds};

/// Classes that the sentence names; further classes are counted.
const CLASSES: usize = 4;
/// Characters of a name.
const NAME: usize = 40;
/// Difference of a utilisation that is not worth a word.
const HARDLY: f64 = 0.01;

/// A class of arriving traffic, as the scenario asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrafficSummary {
    /// Its name in the scenario.
    pub name: String,
    /// The law its flows obey.
    pub law: String,
    /// Flows that arrive in a second, on average; `None` if their times are listed.
    pub flows_per_second: Option<f64>,
    /// The load asked for: 1 is the link's whole rate, or all of the topology's demands; `None`
    /// without one.
    pub load: Option<f64>,
    /// The link that the load is of; `None` for the topology's demands.
    pub load_link: Option<String>,
    /// Number of further links with the same load.
    pub load_other_links: usize,
    /// Flows that the run was to have on average; `None` if their times are listed.
    pub expected_flows: Option<f64>,
    /// Payload that they were to have on average, bytes; `None` if their times are listed.
    pub expected_bytes: Option<f64>,
    /// Length of the time in which flows arrive, seconds.
    pub arriving_s: f64,
    /// Flows that started.
    pub arrived_flows: u64,
    /// Size of the flows that started, bytes of payload.
    pub arrived_bytes: u64,
    /// Flows that completed.
    pub completed_flows: u64,
    /// Payload that completed flows sent again, bytes.
    pub retransmitted_bytes: u64,
    /// Flows that start at once at each arrival: an incast, if there are several.
    pub fan_in: u32,
    /// Times from the start of an incast until its last flow was complete; `None` without any.
    pub incasts: Option<DelaySummary>,
}

impl TrafficSummary {
    pub(super) fn of(info: &TrafficInfo) -> TrafficSummary {
        let load = info.load.as_ref();
        let expected = info.expected;
        TrafficSummary {
            name: info.name.clone(),
            law: info.law.clone(),
            flows_per_second: info.per_second,
            load: load.map(|load| load.share),
            load_link: load.and_then(|load| load.link.clone()),
            load_other_links: load.map_or(0, |load| load.others),
            expected_flows: expected,
            expected_bytes: expected.map(|flows| flows * info.mean_size),
            arriving_s: info.arriving.secs(),
            fan_in: info.fan_in,
            ..TrafficSummary::default()
        }
    }

    /// Why the utilisation of the load's link differs from the load, with the part of each cause;
    /// `None` if it hardly does, or where the load of no single link was asked for.
    fn why_differs(&self, summary: &Summary) -> Option<String> {
        let (load, name) = (self.load?, self.load_link.as_ref()?);
        let link = summary.links.iter().find(|link| link.name == *name)?;
        let (expected, bits) = (self.expected_bytes?, link.rate_bps as f64 * summary.measured_s());
        // Each of several links has its own part of the class's flows by chance.
        let is_partial = summary.planned_duration_s.is_some() || self.load_other_links > 0;
        if is_partial || (link.utilisation - load).abs() < HARDLY || expected <= 0.0 || bits <= 0.0
        {
            return None;
        }
        // The load is that of the time in which flows arrive, the utilisation that of the run.
        let asked = load * (self.arriving_s / summary.measured_s()).min(1.0);
        let arrived = asked * self.arrived_bytes as f64 / expected;
        let rest = link.utilisation - arrived;
        let mut text = format!(
            "Utilisation of {} is {}, for a load of {}: ",
            clip(name, NAME),
            percent(link.utilisation),
            percent(load)
        );
        if asked < load - HARDLY {
            let (arriving, all) =
                (seconds(Some(self.arriving_s)), seconds(Some(summary.measured_s())));
            text +=
                &format!("flows arrive in {arriving} of {all}, which makes {}; ", percent(asked));
        }
        text += &format!(
            "{} arrived where {} are expected, with {:.2} times the expected payload (chance): {}",
            plural(self.arrived_flows as usize, "flow"),
            mean(self.expected_flows.unwrap_or(0.0)),
            self.arrived_bytes as f64 / expected,
            percent(arrived)
        );
        let before = match summary.measured_from_s {
            Some(_) => ", flows that began before the measured part",
            None => "",
        };
        if rest >= HARDLY {
            text += &format!(
                "; {} more are other flows{before}, data sent again after losses further on, and what a load \
                 leaves out: congestion headers, handshakes and acknowledgements",
                percent(rest)
            );
        } else if rest <= -HARDLY {
            text += &format!("; {} were lost earlier, or not yet sent at the end", percent(-rest));
        }
        Some(text)
    }

    /// Number of incasts that began; `None` for a class of single flows.
    fn incasts_begun(&self) -> Option<u64> {
        let fan_in = u64::from(self.fan_in);
        (fan_in > 1).then(|| self.arrived_flows / fan_in)
    }

    /// Share of the incasts that were complete; `None` without any.
    pub(crate) fn share_of_incasts(&self) -> Option<f64> {
        let begun = self.incasts_begun().filter(|begun| *begun > 0)?;
        Some(self.incasts.map_or(0.0, |times| times.samples as f64) / begun as f64)
    }

    /// How soon incasts were complete, in a sentence; `None` for a class of single flows.
    fn incasts_text(&self) -> Option<String> {
        let all = self.incasts_begun()?;
        let (name, fan_in) = (clip(&self.name, NAME), self.fan_in);
        let done = self.incasts.map_or(0, |times| times.samples);
        let times = self.incasts.map_or(String::new(), |times| {
            let (p95, p99) = times.tails();
            let shown = [("p50", Some(times.p50_s)), ("p95", p95), ("p99", p99)];
            let shown = shown.iter().filter(|(_, time)| time.is_some());
            let shown = shown.map(|(name, time)| format!("{} ({name}), ", seconds(*time)));
            format!(
                "; the last flow of each after {}at most {}",
                shown.collect::<String>(),
                seconds(Some(times.max_s))
            )
        });
        Some(format!(
            "{name}: {} of {} of {fan_in} flows each were complete{times}",
            count(done),
            plural(all as usize, "incast")
        ))
    }

    fn text(&self) -> String {
        let arrive = match self.flows_per_second {
            Some(n) => format!("{} flows/s", mean(n)),
            None => "at listed times".to_string(),
        };
        let load = self.load.map(|load| match &self.load_link {
            Some(link) => {
                let others = match self.load_other_links {
                    0 => String::new(),
                    n => format!(" and {} as busy", plural(n, "more link")),
                };
                format!(", a load of {} on {}{others}", percent(load), clip(link, NAME))
            }
            None => format!(", {} of the topology's demands", percent(load)),
        });
        format!("{} {arrive}{}", clip(&self.name, NAME), load.unwrap_or_default())
    }
}

impl Summary {
    /// Arriving traffic in a sentence: "Arriving: web 14.5 flows/s, a load of 60 % on bottleneck".
    /// `None` without arriving traffic.
    pub(crate) fn arriving(&self) -> Option<String> {
        let mut classes: Vec<String> =
            self.traffic.iter().take(CLASSES).map(TrafficSummary::text).collect();
        if self.traffic.len() > CLASSES {
            classes.push(format!("and {} more", self.traffic.len() - CLASSES));
        }
        (!classes.is_empty()).then(|| format!("Arriving: {}", classes.join("; ")))
    }

    /// Why utilisations differ from the loads that the scenario asks for, a sentence a class, and
    /// how soon incasts were complete.
    pub(crate) fn arrivals_explained(&self) -> Vec<String> {
        let classes = self.traffic.iter().take(CLASSES);
        let sentences = |class: &TrafficSummary| [class.why_differs(self), class.incasts_text()];
        classes.flat_map(sentences).flatten().collect()
    }
}
