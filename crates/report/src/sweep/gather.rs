//! Gathers the figures of runs as they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{MeasuredRun, Sweep, SweepAxis, SweepBottleneck, SweepFigure, SweepRun};
use crate::Summary;
use crate::compare::{FigureName, measured};

/// Where figures of bottlenecks are taken that are not the same links at all points.
const EACH: &str = " at each point’s bottleneck";

/// Gathers the runs of a sweep in any order.
///
/// The bottlenecks of a point are known when all of its runs are there. Until then their summaries
/// are kept, afterwards only figures.
#[derive(Debug)]
pub struct SweepGatherer {
    /// Figures that are asked for.
    names: Vec<FigureName>,
    /// The sweep without figures and runs.
    sweep: Sweep,
    /// By point: the first axis counts most.
    points: BTreeMap<Vec<usize>, Gathered>,
    /// The figures of the point that was completed last: most points share theirs.
    last: Arc<[SweepFigure]>,
    /// Point, law and seed of the first run in the grid's order, which names the sweep.
    first: Option<(Vec<usize>, usize, usize)>,
}

#[derive(Debug)]
enum Gathered {
    /// By law and place of the seed among the seeds.
    Waiting(BTreeMap<(usize, usize), Summary>),
    Whole(OfPoint),
}

/// Runs of a point, in the order of laws and seeds, with a value of each figure.
#[derive(Debug)]
struct OfPoint {
    figures: Arc<[SweepFigure]>,
    runs: Vec<SweepRun>,
    /// The links that figures of bottlenecks are of.
    links: String,
    measured_s: Option<(f64, f64)>,
}

impl SweepGatherer {
    /// Gathers runs over these axes.
    pub fn new(axes: Vec<SweepAxis>, laws: Vec<String>, seeds: Vec<u64>) -> SweepGatherer {
        let sweep = Sweep { axes, laws, seeds, ..Sweep::default() };
        let (names, points, last) = (Vec::new(), BTreeMap::new(), Arc::default());
        SweepGatherer { names, sweep, points, last, first: None }
    }

    /// Adds figures that are asked for, which are the first.
    pub fn figures(self, names: &[FigureName]) -> SweepGatherer {
        SweepGatherer { names: names.to_vec(), ..self }
    }

    /// Adds a run. A run that has been added before is left as it is, and so is the sweep if the
    /// run's seed is none of its seeds.
    pub fn add(&mut self, run: MeasuredRun) {
        let seeds = &self.sweep.seeds;
        let Some(seed) = seeds.iter().position(|seed| *seed == run.summary.seed) else { return };
        let place = (run.point.clone(), run.law, seed);
        if self.first.as_ref().is_none_or(|first| place < *first) {
            self.first = Some(place);
            self.sweep.scenario.clone_from(&run.summary.scenario);
            self.sweep.version.clone_from(&run.summary.version);
        }
        let all = self.sweep.laws.len() * seeds.len();
        let empty = || Gathered::Waiting(BTreeMap::new());
        let gathered = self.points.entry(run.point.clone()).or_insert_with(empty);
        if let Gathered::Waiting(waiting) = gathered {
            waiting.entry((run.law, seed)).or_insert(run.summary);
            if waiting.len() == all {
                let whole = OfPoint::of(&self.names, &run.point, waiting, &self.last);
                self.last = Arc::clone(&whole.figures);
                *gathered = Gathered::Whole(whole);
            }
        }
    }

    /// The sweep of all runs that were added.
    pub fn finish(self) -> Sweep {
        let SweepGatherer { names, mut sweep, points, last, .. } = self;
        let mut measured = Vec::new();
        for (point, gathered) in points {
            let of = match gathered {
                Gathered::Whole(whole) => whole,
                Gathered::Waiting(waiting) => OfPoint::of(&names, &point, &waiting, &last),
            };
            measured.push(of.measured_s);
            sweep.bottlenecks.push(SweepBottleneck { point, links: of.links.clone() });
            sweep.append(of);
        }
        if sweep.bottlenecks.windows(2).all(|two| two[0].links == two[1].links) {
            let first = sweep.bottlenecks.drain(..).next();
            sweep.bottleneck = first.map_or(String::new(), |first| first.links);
        }
        if measured.windows(2).all(|two| two[0] == two[1]) {
            sweep.measured_s = measured.into_iter().next().flatten();
        }
        for figure in &mut sweep.figures {
            figure.title += &core::mem::take(&mut figure.at);
        }
        for run in &mut sweep.runs {
            run.values.resize(sweep.figures.len(), None);
        }
        let points: usize = sweep.axes.iter().map(|axis| axis.values.len()).product();
        let all = points * sweep.laws.len() * sweep.seeds.len();
        sweep.missing_runs = all.saturating_sub(sweep.runs.len());
        sweep
    }
}

impl OfPoint {
    /// `known` are the figures of another point, which are shared if they are the same.
    fn of(
        names: &[FigureName],
        point: &[usize],
        waiting: &BTreeMap<(usize, usize), Summary>,
        known: &Arc<[SweepFigure]>,
    ) -> OfPoint {
        let all: Vec<&Summary> = waiting.values().collect();
        let list = measured(names, &all);
        let figures: Vec<SweepFigure> = list.iter().map(SweepFigure::of).collect();
        let run = |((law, _), summary): (&(usize, usize), &Summary)| SweepRun {
            point: point.to_vec(),
            law: *law,
            seed: summary.seed,
            values: list.iter().map(|figure| figure.value(summary)).collect(),
        };
        let runs = waiting.iter().map(run).collect();
        let is_known = known[..] == figures[..];
        let first = all.first();
        OfPoint {
            figures: if is_known { Arc::clone(known) } else { figures.into() },
            runs,
            links: crate::headline::bottleneck_names(&all),
            measured_s: first.and_then(|s| s.measured_from_s.zip(s.measured_to_s)),
        }
    }
}

impl Sweep {
    /// Adds the runs of a point, and figures that only they have.
    fn append(&mut self, of_point: OfPoint) {
        let places: Vec<usize> = of_point.figures.iter().map(|figure| self.place(figure)).collect();
        for run in of_point.runs {
            let mut values = vec![None; self.figures.len()];
            for (place, value) in places.iter().zip(run.values) {
                values[*place] = value;
            }
            self.runs.push(SweepRun { values, ..run });
        }
    }

    /// Index of a figure, which is added if it is new.
    fn place(&mut self, figure: &SweepFigure) -> usize {
        let known = self.figures.iter().position(|known| known.name == figure.name);
        let Some(at) = known else {
            self.figures.push(figure.clone());
            return self.figures.len() - 1;
        };
        if self.figures[at].at != figure.at {
            self.figures[at].at = EACH.to_string();
        }
        at
    }
}
