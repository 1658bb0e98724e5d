//! Times and rates as users write them: numbers, or text with a unit.

use pyo3::prelude::*;
use ratewire::Error;
use ratewire::units::{Duration, Rate};

use crate::errors::exception;

/// The error of a setting.
pub fn setting(name: &str, reason: impl ToString) -> Error {
    Error::Setting { setting: name.to_string(), reason: reason.to_string() }
}

/// Numbers of seconds are below this one.
pub const MOST_SECONDS: f64 = 1e7;

/// A time that a user wrote: seconds as a number, or text with a unit.
#[derive(FromPyObject)]
pub enum Quantity {
    Number(f64),
    Text(String),
}

impl Quantity {
    /// A time.
    pub fn time(&self, name: &str) -> Result<Duration, Error> {
        match self {
            Quantity::Text(text) => text.parse().map_err(|wrong| setting(name, wrong)),
            Quantity::Number(s) if *s >= 0.0 && *s < MOST_SECONDS => {
                Ok(Duration::from_secs_f64(*s))
            }
            Quantity::Number(s) => {
                Err(setting(name, format!("{s} seconds are not between 0 and 10,000,000")))
            }
        }
    }

    /// A rate.
    pub fn rate(&self, name: &str) -> Result<Rate, Error> {
        match self {
            Quantity::Text(text) => text.parse().map_err(|wrong| setting(name, wrong)),
            Quantity::Number(bps) if *bps >= 0.0 && *bps < 1e18 => {
                Ok(Rate::from_bps(bps.round() as u64))
            }
            Quantity::Number(bps) => {
                Err(setting(name, format!("{bps} bit/s are not between 0 and 10^18")))
            }
        }
    }
}

/// A time in seconds, of text with a unit or a number.
#[pyfunction]
pub fn seconds(py: Python<'_>, name: &str, time: Quantity) -> PyResult<f64> {
    time.time(name).map(Duration::secs).map_err(|error| exception(py, error))
}
