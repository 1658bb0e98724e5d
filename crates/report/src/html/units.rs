//! The unit of a plot: the one that fits the largest point.

use crate::plots::{Family, Plot, Scale};
use crate::{Run, Series};

/// A unit that fits the largest value: its name, and its size in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit(pub(super) &'static str, pub(super) f64);

const RATES: [Unit; 4] =
    [Unit("Gbit/s", 1e9), Unit("Mbit/s", 1e6), Unit("kbit/s", 1e3), Unit("bit/s", 1.0)];
const SIZES: [Unit; 4] = [Unit("GB", 1e9), Unit("MB", 1e6), Unit("KB", 1e3), Unit("B", 1.0)];
const TIMES: [Unit; 4] = [Unit("s", 1.0), Unit("ms", 1e-3), Unit("µs", 1e-6), Unit("ns", 1e-9)];

/// The units of a family, and the one for a plot with nothing to measure.
fn units_of(family: Family) -> (&'static [Unit], &'static str) {
    match family {
        Family::Rates => (&RATES, "Mbit/s"),
        Family::Sizes => (&SIZES, "KB"),
        Family::Times => (&TIMES, "ms"),
    }
}

/// The unit of each series that takes one by its largest point, family by family.
pub(super) fn units(runs: &[Run]) -> Vec<(&'static str, Unit)> {
    let mut found: Vec<(Family, &str, Unit)> = Vec::new();
    for source in Plot::all().map(|plot| &plot.entry().source) {
        for (key, scale) in source.scales() {
            let series = || {
                let tracks = runs.iter().flat_map(|run| source.collected(run));
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
fn fit(peak: f64, units: &[Unit], usual: &str) -> Unit {
    let fits = units.iter().find(|u| peak >= u.1);
    let usual = || units.iter().find(|u| u.0 == usual);
    fits.or_else(usual).copied().unwrap_or(Unit("", 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_the_largest_value() {
        assert_eq!(fit(24e6, &RATES, "Mbit/s"), Unit("Mbit/s", 1e6));
        assert_eq!(fit(0.1e9, &RATES, "Mbit/s"), Unit("Mbit/s", 1e6));
        assert_eq!(fit(1e9, &RATES, "Mbit/s"), Unit("Gbit/s", 1e9));
        assert_eq!(fit(0.05, &TIMES, "ms"), Unit("ms", 1e-3));
        assert_eq!(fit(0.0, &SIZES, "KB"), Unit("KB", 1e3));
    }
}
