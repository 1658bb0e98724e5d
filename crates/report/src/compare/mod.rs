//! Several laws on the same scenario from the same seeds: means, how far they may be off, and which
//! differences chance may have made.
//!
//! A comparison is made of [`Summary`]s alone, so that each of its figures is that of a single run.

mod figures;
mod show;

use ratewire_statistics::{Difference, Estimate, Significance};
use serde::Serialize;

use crate::{Summary, World};
pub(crate) use show::shown;

/// Laws beside each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// `simulate`, `emulate` or `live`.
    pub world: World,
    /// The version of Ratewire that made the runs.
    pub version: String,
    /// Length of each run, seconds.
    pub duration_s: f64,
    /// Whether the scenario leaves anything to chance. If not, one seed is as good as many, and
    /// differences are exact.
    pub has_chance: bool,
    /// The seeds that every law ran from.
    pub seeds: Vec<u64>,
    /// The link that utilisation and queue are of, or how many.
    pub bottleneck: String,
    /// A link that was busier.
    pub busier_link: Option<String>,
    /// The laws, in the order in which they were given.
    pub laws: Vec<String>,
    /// What is compared.
    pub figures: Vec<Metric>,
}

/// One metric under every law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// What programs call it.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it belongs to.
    pub about: About,
    /// What it is in.
    pub unit: Unit,
    /// Which of two values is better.
    pub better: Better,
    /// One entry a law, in their order.
    pub laws: Vec<LawMetric>,
    /// One entry a pair of laws that both have a value from every seed.
    pub differences: Vec<LawDifference>,
}

/// What a metric belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The run as a whole.
    Run,
    /// Slowdowns of flows of about one size.
    Sizes,
    /// How soon flows shared fairly after a change.
    Changes,
}

/// What a metric is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Parts of one, shown as percentages.
    Share,
    /// A number from 0 to 1.
    Index,
    /// Packets that wait: a mean or a whole number.
    Packets,
    /// Things that are counted.
    Count,
    /// Seconds.
    Seconds,
    /// Times as long.
    Ratio,
}

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The larger one.
    More,
    /// The smaller one.
    Less,
    /// Neither.
    Neither,
}

/// A metric under one law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawMetric {
    /// The law.
    pub law: String,
    /// One value a seed; `None` where there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// Their mean. `None` if a value is missing: a mean over the seeds in which a law got as far as to
    /// have a value would flatter it.
    pub mean: Option<f64>,
    /// Half the width of the 95 % interval around the mean; `None` for a single seed and where every
    /// seed gave the same.
    pub margin: Option<f64>,
    /// How it stands beside the best.
    pub standing: Standing,
}

/// How a law stands beside the law with the best mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is the best, or the same as it: from every seed, or in all digits that are shown.
    Best,
    /// It may be as good: the interval of the difference includes 0.
    WithinNoise,
    /// It is not as good.
    Worse,
    /// It cannot be said: a value is missing, or there is one seed where there is chance.
    Unknown,
    /// No value of this metric is better than another.
    Unranked,
}

/// A difference between two laws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawDifference {
    /// One of them.
    pub first: String,
    /// The other.
    pub second: String,
    /// By how much the first exceeds the second, mean over the seeds.
    pub by: f64,
    /// Half the width of the 95 % interval of the paired difference; `None` where it is the same from
    /// every seed.
    pub margin: Option<f64>,
    /// `same`, `within_noise` or `differs`.
    #[serde(rename = "verdict", serialize_with = "significance_name")]
    pub significance: Significance,
}

impl Comparison {
    /// Of laws by name, each with one summary a seed, in the same order of seeds.
    pub fn of(laws: &[(String, Vec<Summary>)], has_chance: bool) -> Comparison {
        let all: Vec<&Summary> = laws.iter().flat_map(|(_, summaries)| summaries).collect();
        let Some(first) = all.first() else { return Comparison::default() };
        let bottlenecks = crate::headline::bottlenecks(&all);
        let figures = figures::figures(&all, &bottlenecks);
        let figures = figures.iter().map(|figure| figure.under(laws, has_chance));
        Comparison {
            scenario: first.scenario.clone(),
            world: first.world,
            version: first.version.clone(),
            duration_s: first.duration_s,
            has_chance,
            seeds: laws[0].1.iter().map(|summary| summary.seed).collect(),
            bottleneck: crate::headline::bottleneck_label(&all, &bottlenecks),
            busier_link: crate::headline::busier(&all, &bottlenecks).map(str::to_string),
            laws: laws.iter().map(|(law, _)| law.clone()).collect(),
            figures: figures.collect(),
        }
    }

    /// The links that utilisation and queue are of, for people.
    pub(crate) fn bottleneck_text(&self) -> String {
        crate::headline::with_busier(&self.bottleneck, self.busier_link.as_deref())
    }

    /// What has to be known of the seeds to read the figures.
    pub(crate) fn about_seeds(&self) -> String {
        match self.seeds.as_slice() {
            _ if !self.has_chance => {
                "Nothing in this scenario is left to chance: every seed gives the same run. Each law \
                 ran once, figures have no interval, and differences are exact, but hold for this \
                 very scenario only."
                    .into()
            }
            [_] => "One seed: no telling which differences chance has made.".into(),
            many => format!(
                "± is half the 95 % interval of the mean over {} seeds (Student’s t); where there \
                 is none, every seed gave the same. All laws met the same arrivals and sizes.",
                many.len()
            ),
        }
    }

    /// `seed 1`, `seeds 1 to 5`: they follow each other.
    pub(crate) fn seeds_text(&self) -> String {
        match self.seeds.as_slice() {
            [] => "no seeds".into(),
            [one] => format!("seed {one}"),
            [first, .., last] => format!("seeds {first} to {last}"),
        }
    }
}

impl figures::Measured {
    fn under(&self, laws: &[(String, Vec<Summary>)], has_chance: bool) -> Metric {
        let of_law = |(law, summaries): &(String, Vec<Summary>)| {
            let of = |summary| (self.value)(summary).filter(|value| value.is_finite());
            let values: Vec<Option<f64>> = summaries.iter().map(of).collect();
            let estimate = whole(&values).and_then(|values| Estimate::of(&values));
            LawMetric {
                law: law.clone(),
                values,
                mean: estimate.map(|e| e.mean),
                margin: estimate.and_then(|e| e.margin),
                standing: Standing::Unknown,
            }
        };
        let mut figure = Metric {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about,
            unit: self.unit,
            better: self.better,
            laws: laws.iter().map(of_law).collect(),
            differences: Vec::new(),
        };
        figure.compare(has_chance);
        figure
    }
}

impl Metric {
    /// Fills in differences and standings.
    fn compare(&mut self, has_chance: bool) {
        let values: Vec<Option<Vec<f64>>> = self.laws.iter().map(|l| whole(&l.values)).collect();
        let difference = |a: usize, b: usize| {
            let (first, second) = (values[a].as_ref()?, values[b].as_ref()?);
            match (has_chance, first.as_slice(), second.as_slice()) {
                (false, [a], [b]) => Some(Difference::exact(*a, *b)),
                (_, first, second) => Difference::paired(first, second),
            }
        };
        for a in 0..values.len() {
            for b in a + 1..values.len() {
                self.differences.extend(difference(a, b).map(|d| LawDifference {
                    first: self.laws[a].law.clone(),
                    second: self.laws[b].law.clone(),
                    by: d.by.mean,
                    margin: d.by.margin,
                    significance: d.significance,
                }));
            }
        }
        if self.better == Better::Neither {
            self.laws.iter_mut().for_each(|law| law.standing = Standing::Unranked);
            return;
        }
        let known = (0..values.len()).filter_map(|i| Some((i, self.laws[i].mean?)));
        let best = known.reduce(|best, next| {
            let better = match self.better {
                Better::More => next.1 > best.1,
                Better::Less => next.1 < best.1,
                Better::Neither => false,
            };
            if better { next } else { best }
        });
        let Some((best, _)) = best else { return };
        for i in 0..values.len() {
            // Who reads the same figure twice is not told that one is better.
            let reads_alike = self.laws[i].text(self.unit) == self.laws[best].text(self.unit);
            self.laws[i].standing = match difference(i, best).map(|d| d.significance) {
                Some(Significance::Same) => Standing::Best,
                Some(Significance::Differs) if reads_alike => Standing::Best,
                Some(Significance::WithinNoise) => Standing::WithinNoise,
                Some(Significance::Differs) => Standing::Worse,
                None => Standing::Unknown,
            };
        }
    }

    /// The difference of `first` over `second`, whichever way round it is kept.
    pub fn difference(&self, first: &str, second: &str) -> Option<LawDifference> {
        let is = |d: &&LawDifference, a: &str, b: &str| d.first == a && d.second == b;
        if let Some(found) = self.differences.iter().find(|d| is(d, first, second)) {
            return Some(found.clone());
        }
        let found = self.differences.iter().find(|d| is(d, second, first))?;
        let by = if found.by == 0.0 { 0.0 } else { -found.by };
        Some(LawDifference { first: first.into(), second: second.into(), by, ..found.clone() })
    }
}

impl LawMetric {
    /// As people read it: the mean and its margin, or from how many seeds there is a value at all.
    pub(crate) fn text(&self, unit: Unit) -> String {
        match (self.mean, self.values.iter().flatten().count()) {
            (Some(mean), _) => shown(unit, mean, self.margin),
            (None, _) if self.values.len() < 2 => crate::figure::NONE.into(),
            (None, known) => format!("{known} of {}", self.values.len()),
        }
    }
}

/// All of the values, unless one is missing.
fn whole(values: &[Option<f64>]) -> Option<Vec<f64>> {
    values.iter().copied().collect()
}

fn significance_name<S: serde::Serializer>(
    significance: &Significance,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.serialize_str(match significance {
        Significance::Same => "same",
        Significance::WithinNoise => "within_noise",
        Significance::Differs => "differs",
    })
}

#[cfg(test)]
mod tests;
