//! Mean numbers of waiting messages, as daemons tell them.

use serde::{Deserialize, Serialize};

use crate::price::Occupancy;

/// A mean number of waiting messages as daemons tell it: in sixty-fourths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level(pub u16);

impl Level {
    /// A queue beyond its limit.
    pub const FULL: Level = Level(u16::MAX);

    const STEPS: f64 = 64.0;
    /// A quarter of a message: a few cents of price.
    const NEWS: u16 = 16;
    /// Eight messages: from none, that is a price of a dollar.
    const LEAP: u16 = 512;

    /// The nearest level; the highest is 1,023 and some.
    pub fn of(waiting: Occupancy) -> Level {
        Level(((waiting.get() * Self::STEPS + 0.5) as u16).min(Level::FULL.0 - 1))
    }
    /// Whether the level differs enough from the last one sent to be sent.
    pub fn is_news(self, told: Level) -> bool {
        self.0.abs_diff(told.0) >= Self::NEWS
    }
    /// Whether the level is so far from the last one sent that it should not wait.
    pub fn has_leapt(self, told: Level) -> bool {
        self.0.abs_diff(told.0) >= Self::LEAP.max(told.0 / 4)
    }
    /// Whether the queue has no price any more, and the last one sent said that it has one.
    pub fn has_gone(self, told: Level) -> bool {
        self == Level::default() && told != self
    }
    /// The level as a number of messages.
    pub fn occupancy(self) -> Occupancy {
        Occupancy::new(f64::from(self.0) / Self::STEPS)
    }
}
