//! Series that are recorded for plots: what a sample adds to each, and how each is scaled.

use std::borrow::Cow;

use ratewire_units::{Duration, Time};
use serde::{Deserialize, Serialize};

use crate::{Aggregation, Series};

/// A series that is recorded of samples `R`.
#[derive(Debug)]
pub(crate) struct Recorded<R> {
    /// The series' name in the page's data.
    pub(crate) key: &'static str,
    /// Position of the series in the page's data, among those of the same samples. A new series
    /// takes the next number.
    pub(crate) number: u8,
    /// How samples become a point.
    pub(crate) aggregation: Aggregation,
    /// What the points are divided by.
    pub(crate) scale: Scale,
    /// Whether the page leaves out a series that is zero under every law; the page's script then
    /// draws a sentence instead.
    pub(crate) is_left_out_if_zero: bool,
    /// Whether the series begins with the first value above zero: for quantities that are 0 in most
    /// runs.
    pub(crate) begins_above_zero: bool,
    /// The value of a sample; NaN where there is none, which leaves a gap.
    pub(crate) value: fn(&R) -> f64,
}

impl<R> Recorded<R> {
    /// A series of means.
    pub(crate) const fn mean(
        number: u8,
        key: &'static str,
        scale: Scale,
        value: fn(&R) -> f64,
    ) -> Recorded<R> {
        Recorded {
            key,
            number,
            aggregation: Aggregation::Mean,
            scale,
            is_left_out_if_zero: false,
            begins_above_zero: false,
            value,
        }
    }
    /// A series of maxima.
    pub(crate) const fn max(
        number: u8,
        key: &'static str,
        scale: Scale,
        value: fn(&R) -> f64,
    ) -> Recorded<R> {
        Recorded { aggregation: Aggregation::Max, ..Recorded::mean(number, key, scale, value) }
    }
    /// A series of amounts a second.
    pub(crate) const fn rate(
        number: u8,
        key: &'static str,
        scale: Scale,
        value: fn(&R) -> f64,
    ) -> Recorded<R> {
        Recorded { aggregation: Aggregation::Rate, ..Recorded::mean(number, key, scale, value) }
    }
}

/// What the points of a series are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// The unit of the family that fits the largest point.
    Fits(Family),
    /// The unit that fits the largest mean of eight points: packets come in clumps of a round trip,
    /// and one sample may be ten times the lasting value.
    FitsLasting(Family),
    /// A fixed amount.
    Fixed(f64),
}

/// Units of one quantity, of which a page takes the one that fits. The page's data lists units in
/// this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// From bit/s to Gbit/s.
    Rates,
    /// From B to GB.
    Sizes,
    /// From ns to s.
    Times,
}

/// The recorded series of one flow, link, group or connection, or of all flows together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tracks(Vec<(Cow<'static, str>, Series)>);

impl Tracks {
    /// Empty series of at most `points` points, whose first width is `base`.
    pub(crate) fn new<R>(of: &[&Recorded<R>], points: usize, base: Duration) -> Tracks {
        let series = |one: &&Recorded<R>| {
            (Cow::Borrowed(one.key), Series::new(one.aggregation, points).starting_from(base))
        };
        Tracks(of.iter().map(series).collect())
    }

    /// Adds a sample of the interval that ended `at`. `of` must be the list that [`Tracks::new`]
    /// got.
    pub(crate) fn push<R>(&mut self, of: &[&Recorded<R>], at: Time, dt: Duration, sample: &R) {
        for (recorded, (_, series)) in of.iter().zip(&mut self.0) {
            let value = (recorded.value)(sample);
            if !recorded.begins_above_zero || value > 0.0 || !series.is_empty() {
                series.push(at, dt, value);
            }
        }
    }

    /// The series that plots call `key`: `goodput` and `cwnd` of a flow, `qmean` of a link.
    pub fn get(&self, key: &str) -> Option<&Series> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, series)| series)
    }

    /// Whether there are points of the series `key`.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|series| !series.is_empty())
    }

    /// All series.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Series> {
        self.0.iter().map(|(_, series)| series)
    }

    /// All series, to be changed.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Series> {
        self.0.iter_mut().map(|(_, series)| series)
    }

    /// The largest point of a series; `None` without points.
    pub(crate) fn peak(&self, key: &str) -> Option<f64> {
        self.get(key)?.peak()
    }
}
