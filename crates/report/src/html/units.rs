//! The unit of a plot: the one that fits the largest point.

use crate::plots::{Family, Plot, Scale};
use crate::{Run, Series};

/// A unit that fits the largest value: its name, and its size in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlotUnit(pub(super) &'static str, pub(super) f64);

const RATES: [PlotUnit; 4] = [
    PlotUnit("Gbit/s", 1e9),
    PlotUnit("Mbit/s", 1e6),
    PlotUnit("kbit/s", 1e3),
    PlotUnit("bit/s", 1.0),
];
const SIZES: [PlotUnit; 4] =
    [PlotUnit("GB", 1e9), PlotUnit("MB", 1e6), PlotUnit("KB", 1e3), PlotUnit("B", 1.0)];
const TIMES: [PlotUnit; 4] =
    [PlotUnit("s", 1.0), PlotUnit("ms", 1e-3), PlotUnit("µs", 1e-6), PlotUnit("ns", 1e-9)];

/// The units of a family, and the one for a plot with nothing to measure.
fn units_of(family: Family) -> (&'static [PlotUnit], &'static str) {
    match family {
        Family::Rates => (&RATES, "Mbit/s"),
        Family::Sizes => (&SIZES, "KB"),
        Family::Times => (&TIMES, "ms"),
    }
}

/// The unit of each series that takes one by its largest point, family by family.
pub(super) fn units<'a>(
    runs: impl Iterator<Item = &'a Run> + Clone,
) -> Vec<(&'static str, PlotUnit)> {
    let mut found: Vec<(Family, &str, PlotUnit)> = Vec::new();
    for source in Plot::all().map(|plot| &plot.entry().source) {
        for (key, scale) in source.scales() {
            let series = || {
                let tracks = runs.clone().flat_map(|run| source.collected(run));
                tracks.filter_map(|tracks| tracks.get(key))
            };
            let (family, most) = match scale {
                Scale::Fixed(_) => continue,
                Scale::Fits(family) => (family, peak(series())),
                Scale::FitsLasting(family) => (family, lasting_peak(series())),
            };
            if found.iter().all(|(_, known, _)| *known != key) {
                let (units, usual) = units_of(family);
                found.push((family, key, fit(most, units, usual)));
            }
        }
    }
    found.sort_by_key(|(family, ..)| *family);
    found.into_iter().map(|(_, key, unit)| (key, unit)).collect()
}

fn peak<'a>(all: impl Iterator<Item = &'a Series>) -> f64 {
    all.filter_map(Series::peak).fold(0.0, f64::max)
}

/// The largest mean of eight neighbouring points; see [`Scale::FitsLasting`].
fn lasting_peak<'a>(all: impl Iterator<Item = &'a Series>) -> f64 {
    let merged: Vec<Series> = all.map(|series| series.coarse(3)).collect();
    peak(merged.iter())
}

/// The largest unit that `peak` has at least one of; `usual` if there is none.
fn fit(peak: f64, units: &[PlotUnit], usual: &str) -> PlotUnit {
    let fits = units.iter().find(|u| peak >= u.1);
    let usual = || units.iter().find(|u| u.0 == usual);
    fits.or_else(usual).copied().unwrap_or(PlotUnit("", 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_the_largest_value() {
        assert_eq!(fit(24e6, &RATES, "Mbit/s"), PlotUnit("Mbit/s", 1e6));
        assert_eq!(fit(0.1e9, &RATES, "Mbit/s"), PlotUnit("Mbit/s", 1e6));
        assert_eq!(fit(1e9, &RATES, "Mbit/s"), PlotUnit("Gbit/s", 1e9));
        assert_eq!(fit(0.05, &TIMES, "ms"), PlotUnit("ms", 1e-3));
        assert_eq!(fit(0.0, &SIZES, "KB"), PlotUnit("KB", 1e3));
    }
}
