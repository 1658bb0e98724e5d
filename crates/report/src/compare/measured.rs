//! A figure, and how it is read off a summary.

use super::{About, Better, FigureUnit, shown};
use crate::Summary;
use crate::figure::NONE;

/// Reads the value of a metric from a summary.
type Value = Box<dyn Fn(&Summary) -> Option<f64>>;

/// A figure, and how it is read off a summary.
pub(crate) struct Measured {
    pub(super) name: String,
    pub(super) title: String,
    /// Where it is taken, in words that follow the title; empty for a figure of the whole run.
    pub(super) at: String,
    pub(super) about: About,
    pub(super) unit: FigureUnit,
    pub(super) better: Better,
    pub(super) value: Value,
}

/// A figure of one link, flow or class of traffic.
pub(super) struct Named<S> {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: FigureUnit,
    pub(super) better: Better,
    pub(super) value: fn(&S) -> Option<f64>,
}

impl Measured {
    /// What programs and people call the figure.
    pub(crate) fn names(&self) -> (String, String) {
        (self.name.clone(), self.title.clone())
    }

    /// Where it is taken, in words that follow the title.
    pub(crate) fn at(&self) -> &str {
        &self.at
    }

    /// Whether it is a maximum or a percentile, whose mean over seeds has no interval.
    pub(crate) fn is_extreme(&self) -> bool {
        is_extreme(&self.name)
    }

    /// What people call the figure, with where it is taken.
    pub(crate) fn title(&self) -> String {
        format!("{}{}", self.title, self.at)
    }

    /// Unit of the values, and what the figure belongs to.
    pub(crate) fn kind(&self) -> (FigureUnit, About) {
        (self.unit, self.about)
    }

    /// The value of a run as people read it.
    pub(crate) fn text(&self, summary: &Summary) -> String {
        self.value(summary).map_or(NONE.to_string(), |value| shown(self.unit, value, None))
    }

    /// The value of a run; `None` where there was nothing to measure.
    pub(crate) fn value(&self, summary: &Summary) -> Option<f64> {
        (self.value)(summary).filter(|value| value.is_finite())
    }
}

/// Whether programs call a figure a maximum, a minimum or a percentile.
pub(crate) fn is_extreme(name: &str) -> bool {
    let figure = name.split('/').next().unwrap_or(name);
    figure.split('_').any(|word| ["max", "min", "least", "p95", "p99", "p999"].contains(&word))
}
