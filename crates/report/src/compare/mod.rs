//! Several laws on the same scenario from the same seeds: means, their margins, and which
//! differences are more than noise.
//!
//! A comparison is made of [`Summary`]s alone, so each of its values is that of a single run's
//! summary.

mod choice;
mod classes;
mod figures;
mod measured;
mod own;
mod show;

use std::collections::{BTreeMap, BTreeSet};

use ratewire_statistics::{Difference, Estimate, Significance};
use serde::{Deserialize, Serialize};

pub use crate::figure_name::{FigureName, Subject};
pub use crate::figures::{Better, FigureUnit};
use crate::{Summary, World};
#[cfg(feature = "parquet")]
pub(crate) use figures::measured_of_run;
pub(crate) use measured::{Measured, is_extreme};
#[cfg(feature = "parquet")]
pub(crate) use own::own;
pub(crate) use show::{shown, shown_with_range};

/// A comparison of laws.
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
    /// Beginning and end of the part of each run that figures are about, seconds, if they are not
    /// about all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<(f64, f64)>,
    /// The same as people read it.
    #[serde(skip)]
    pub(crate) lasted: String,
    /// Whether the scenario leaves anything to chance. If not, all seeds give the same run and
    /// differences are exact.
    pub has_chance: bool,
    /// The seeds that every law ran from.
    pub seeds: Vec<u64>,
    /// The links that utilisation and queue are of, by name or number.
    pub bottleneck: String,
    /// A link that was busier than those.
    pub busier_link: Option<String>,
    /// The laws, in the order in which they were given.
    pub laws: Vec<String>,
    /// Laws that gave the same run from each of several seeds, though others may not have. Seeds
    /// say nothing about how chance would change such a run, so it has no standing.
    pub without_chance: Vec<String>,
    /// What is compared.
    pub figures: Vec<Metric>,
}

/// One metric under every law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// What programs call the metric.
    pub name: String,
    /// What people call the metric.
    pub title: String,
    /// What the metric belongs to.
    pub about: About,
    /// The unit of the values.
    pub unit: FigureUnit,
    /// Which of two values is better.
    pub better: Better,
    /// One entry a law, in the order of laws.
    pub laws: Vec<LawMetric>,
    /// One entry a pair of laws that both have a value from every seed.
    pub differences: Vec<LawDifference>,
}

/// What a metric belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// What the user asks for.
    Chosen,
    /// The run as a whole.
    Run,
    /// Slowdowns of flows of about one size.
    Sizes,
    /// How soon flows shared fairly after a change.
    Changes,
    /// Flows together.
    Flows,
}

/// A metric under one law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawMetric {
    /// The law.
    pub law: String,
    /// One value a seed; `None` where there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// Mean of the values. `None` if a value is missing: a mean over the other seeds would flatter
    /// the law.
    pub mean: Option<f64>,
    /// Half the width of the 95 % interval around the mean; `None` for a single seed, if every seed
    /// gave the same value, and for maxima and percentiles.
    pub margin: Option<f64>,
    /// Least and largest value of a seed, for maxima and percentiles, if seeds differ.
    pub range: Option<[f64; 2]>,
    /// The law's standing beside the best law.
    pub standing: Standing,
}

/// Standing of a law beside the law with the best mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The best mean, or the same: from every seed, or in all digits shown.
    Best,
    /// Perhaps as good: the interval of the difference includes 0.
    WithinNoise,
    /// Not as good.
    Worse,
    /// Not known: a value is missing, or there is a single seed and chance.
    Unknown,
    /// No value of this metric is better than another.
    Unranked,
}

/// A difference between two laws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawDifference {
    /// One law.
    pub first: String,
    /// The other law.
    pub second: String,
    /// By how much the first exceeds the second, mean over the seeds.
    pub by: f64,
    /// Half the width of the 95 % interval of the paired difference; `None` if every seed gave the
    /// same difference.
    pub margin: Option<f64>,
    /// `same`, `within_noise` or `differs`.
    #[serde(rename = "verdict", serialize_with = "significance_name")]
    pub significance: Significance,
}

impl Comparison {
    /// A comparison of laws by name, each with one summary a seed, in the same order of seeds.
    pub fn of(laws: &[(String, Vec<Summary>)], has_chance: bool) -> Comparison {
        Comparison::with(&[], laws, has_chance)
    }

    /// As [`Comparison::of`], with figures that are asked for first.
    pub fn with(
        names: &[FigureName],
        laws: &[(String, Vec<Summary>)],
        has_chance: bool,
    ) -> Comparison {
        let all: Vec<&Summary> = laws.iter().flat_map(|(_, summaries)| summaries).collect();
        let Some(first) = all.first() else { return Comparison::default() };
        let bottlenecks = crate::headline::bottlenecks(&all);
        let mut figures = choice::chosen(names, &all, &bottlenecks);
        figures.extend(figures::figures(&all, &bottlenecks));
        figures.extend(own::of_flows(&all));
        figures.extend(classes::of_incasts(&all));
        each_once(&mut figures);
        classes::unrank_incomplete(&mut figures, &all);
        let is_same = |(_, runs): &&(String, Vec<Summary>)| has_chance && are_one(runs);
        let without_chance = laws.iter().filter(is_same).map(|(law, _)| law.clone());
        let without_chance: Vec<String> = without_chance.collect();
        let figures = figures.iter().map(|figure| figure.under(laws, has_chance, &without_chance));
        Comparison {
            scenario: first.scenario.clone(),
            world: first.world,
            version: first.version.clone(),
            duration_s: first.duration_s,
            measured_s: first.measured_from_s.zip(first.measured_to_s),
            lasted: first.lasted(),
            has_chance,
            seeds: laws[0].1.iter().map(|summary| summary.seed).collect(),
            bottleneck: crate::headline::bottleneck_label(&all, &bottlenecks),
            busier_link: crate::headline::busier(&all, &bottlenecks).map(str::to_string),
            laws: laws.iter().map(|(law, _)| law.clone()).collect(),
            figures: figures.collect(),
            without_chance,
        }
    }

    /// The links that utilisation and queue are of, as people read them.
    pub(crate) fn bottleneck_text(&self) -> String {
        let runs = self.laws.len() * self.seeds.len();
        crate::headline::with_busier(&self.bottleneck, self.busier_link.as_deref(), runs)
    }

    /// What a reader has to know of the seeds.
    pub(crate) fn about_seeds(&self) -> String {
        match self.seeds.as_slice() {
            _ if !self.has_chance => {
                "Nothing in this scenario is left to chance: every seed gives the same run. Each law \
                 ran once, figures have no interval, and differences are exact, but hold for this \
                 scenario only."
                    .into()
            }
            [_] => "One seed: chance may have made any difference.".into(),
            many => {
                let ranges = self.figures.iter().flat_map(|figure| &figure.laws);
                let (of_ranges, none) = match ranges.into_iter().any(|law| law.range.is_some()) {
                    true => (
                        ", and (a to b), of maxima, minima, p95 and above, the least and the largest of the \
                         seeds",
                        "neither",
                    ),
                    false => ("", "none"),
                };
                let about = format!(
                    "± is half the 95 % interval of the mean over {} seeds (Student’s t){of_ranges}; \
                     where there is {none}, every seed gave the same. All laws met the same arrivals \
                     and sizes.",
                    many.len()
                );
                match &self.without_chance[..] {
                    [] => about,
                    same => format!(
                        "{about} Unmarked because all seeds gave the same run: {}.",
                        same.join(", ")
                    ),
                }
            }
        }
    }

    /// The seeds: `seed 1`, `seeds 1 to 5`, `seeds 1, 3, 7`.
    pub(crate) fn seeds_text(&self) -> String {
        let follow = self.seeds.windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
        match self.seeds.as_slice() {
            [] => "no seeds".into(),
            [one] => format!("seed {one}"),
            [first, .., last] if follow => format!("seeds {first} to {last}"),
            several => {
                let several: Vec<String> = several.iter().map(u64::to_string).collect();
                format!("seeds {}", several.join(", "))
            }
        }
    }
}

/// The figures that are asked for.
pub(crate) fn asked(names: &[FigureName], all: &[&Summary]) -> Vec<Measured> {
    choice::chosen(names, all, &crate::headline::bottlenecks(all))
}

/// The figures that are asked for, and those that any of the summaries of one network has.
pub(crate) fn measured(names: &[FigureName], all: &[&Summary]) -> Vec<Measured> {
    let has_any = |own: &Measured| all.iter().any(|summary| own.value(summary).is_some());
    let mut list = asked(names, all);
    list.extend(figures::figures(all, &crate::headline::bottlenecks(all)));
    list.extend(own::own().into_iter().filter(has_any));
    list.extend(classes::of_incasts(all));
    each_once(&mut list);
    list
}

/// Leaves out figures that have been asked for by the same name.
fn each_once(figures: &mut Vec<Measured>) {
    let mut known = BTreeSet::new();
    figures.retain(|figure| known.insert(figure.name.clone()));
}

impl Summary {
    /// Values of figures that are asked for.
    pub fn asked(&self, names: &[FigureName]) -> BTreeMap<String, Option<f64>> {
        let figures = asked(names, &[self]);
        figures.iter().map(|figure| (figure.names().0, figure.value(self))).collect()
    }
}

impl Measured {
    fn under(
        &self,
        laws: &[(String, Vec<Summary>)],
        has_chance: bool,
        without_chance: &[String],
    ) -> Metric {
        let of_law = |(law, summaries): &(String, Vec<Summary>)| {
            let values: Vec<Option<f64>> = summaries.iter().map(|s| self.value(s)).collect();
            let known = whole(&values);
            let estimate = known.as_ref().and_then(|values| Estimate::of(values));
            let (margin, range) = match self.is_extreme() {
                true => (None, known.and_then(|values| range(&values))),
                false => (estimate.and_then(|e| e.margin), None),
            };
            LawMetric {
                law: law.clone(),
                values,
                mean: estimate.map(|e| e.mean),
                margin,
                range,
                standing: Standing::Unknown,
            }
        };
        let mut figure = Metric {
            name: self.name.clone(),
            title: self.title(),
            about: self.about,
            unit: self.unit,
            better: self.better,
            laws: laws.iter().map(of_law).collect(),
            differences: Vec::new(),
        };
        figure.compare(has_chance, without_chance);
        figure
    }
}

impl Metric {
    /// Fills in differences and standings.
    fn compare(&mut self, has_chance: bool, without_chance: &[String]) {
        let is_known = |law: &&LawMetric| !without_chance.contains(&law.law);
        let known = |law: &LawMetric| Some(law).filter(is_known).and_then(|l| whole(&l.values));
        let values: Vec<Option<Vec<f64>>> = self.laws.iter().map(known).collect();
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
            // Of two laws whose figures read the same, neither is called better.
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

    /// The difference of `first` over `second`, whichever order is stored.
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
    /// Where the mean may be, or the values of seeds are. No value is below 0, no share above 1.
    pub(crate) fn span(&self, unit: FigureUnit) -> Option<[f64; 2]> {
        let (mean, margin) = (self.mean?, self.margin.unwrap_or(0.0));
        let most = match unit {
            FigureUnit::Share | FigureUnit::Index => 1.0,
            _ => f64::INFINITY,
        };
        let around = [(mean - margin).max(mean.min(0.0)), (mean + margin).min(mean.max(most))];
        Some(self.range.unwrap_or(around))
    }

    /// The metric as people read it: mean and margin or range, or how many seeds gave a value.
    pub(crate) fn text(&self, unit: FigureUnit) -> String {
        match (self.mean, self.values.iter().flatten().count()) {
            (Some(mean), _) => match self.range {
                Some(range) => shown_with_range(unit, mean, range),
                None => shown(unit, mean, self.margin),
            },
            (None, _) if self.values.len() < 2 => crate::figure::NONE.into(),
            (None, known) => format!("{known} of {}", self.values.len()),
        }
    }
}

/// Whether several seeds gave the same run, to the byte.
fn are_one(runs: &[Summary]) -> bool {
    runs.windows(2).all(|two| Summary { seed: two[0].seed, ..two[1].clone() } == two[0])
        && runs.len() > 1
}

/// The least and the largest of values that differ.
pub(crate) fn range(values: &[f64]) -> Option<[f64; 2]> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    (low < high).then_some([low, high])
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
