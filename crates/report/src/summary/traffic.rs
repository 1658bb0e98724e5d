//! Arriving traffic.

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::TrafficInfo;
use crate::figure::{clip, mean, percent, plural};

/// Classes that the sentence names; further classes are counted.
const CLASSES: usize = 4;
/// Characters of a name.
const NAME: usize = 40;

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
}

impl TrafficSummary {
    pub(super) fn of(info: &TrafficInfo) -> TrafficSummary {
        let load = info.load.as_ref();
        TrafficSummary {
            name: info.name.clone(),
            law: info.law.clone(),
            flows_per_second: info.per_second,
            load: load.map(|load| load.share),
            load_link: load.and_then(|load| load.link.clone()),
            load_other_links: load.map_or(0, |load| load.others),
        }
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
        let mut told: Vec<String> =
            self.traffic.iter().take(CLASSES).map(TrafficSummary::text).collect();
        if self.traffic.len() > CLASSES {
            told.push(format!("and {} more", self.traffic.len() - CLASSES));
        }
        (!told.is_empty()).then(|| format!("Arriving: {}", told.join("; ")))
    }
}
