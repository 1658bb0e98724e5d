//! What a law says when asked why it sends, or lets others send, at the rate it does.

use alloc::vec::Vec;
use core::fmt;

/// A quantity with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// As the law's equations call it: `avg_rtt`.
    pub name: &'static str,
    /// In `unit`.
    pub value: f64,
    /// What it is in.
    pub unit: Unit,
}

/// What a figure is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    One,
    /// Bytes per second; shown in bits per second.
    BytesPerSecond,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

impl Figure {
    /// A plain number.
    pub fn one(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::One }
    }
    /// Bytes per second.
    pub fn rate(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::BytesPerSecond }
    }
    /// Bytes.
    pub fn bytes(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::Bytes }
    }
    /// Seconds.
    pub fn seconds(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::Seconds }
    }
    /// Its value, for people. One that is infinite stands for a limit, or a router, that there is not.
    pub fn amount(&self) -> Amount<'_> {
        Amount(self)
    }
}

/// The value of a figure without its name: `10 Mbit/s`.
#[derive(Clone, Copy, Debug)]
pub struct Amount<'a>(&'a Figure);

impl fmt::Display for Figure {
    /// `C = 10 Mbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.amount())
    }
}

impl fmt::Display for Amount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount(figure) = self;
        if !figure.value.is_finite() {
            return f.write_str("none");
        }
        let (value, units): (f64, &[(f64, &str)]) = match figure.unit {
            Unit::One => (figure.value, &[(1.0, "")]),
            Unit::BytesPerSecond => (
                figure.value * 8.0,
                &[(1e9, " Gbit/s"), (1e6, " Mbit/s"), (1e3, " kbit/s"), (1.0, " bit/s")],
            ),
            Unit::Bytes => (figure.value, &[(1e6, " MB"), (1e3, " KB"), (1.0, " B")]),
            Unit::Seconds => (figure.value, &[(1.0, " s"), (1e-3, " ms"), (1e-6, " us")]),
        };
        let fits = |(scale, _): &&(f64, &str)| value.abs() >= *scale;
        let plain = |(scale, _): &&(f64, &str)| *scale == 1.0;
        let small = if value == 0.0 { units.iter().find(plain) } else { units.last() };
        let (scale, unit) = units.iter().find(fits).or(small).copied().unwrap_or((1.0, ""));
        let shown = value / scale;
        let decimals = match shown.abs() {
            x if x >= 100.0 || x == 0.0 => 0,
            // A number of something, or a name.
            x if figure.unit == Unit::One && x >= 1.0 && libm::trunc(x) == x => 0,
            x if x >= 10.0 => 1,
            x if x >= 1.0 => 2,
            _ => 4,
        };
        write!(f, "{shown:.decimals$}{unit}")
    }
}

/// An equation of a law, and what its quantities are.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// As the law's documentation writes it: `R = R (1 + T/d (...))`.
    pub equation: &'static str,
    /// Its quantities.
    pub figures: Vec<Figure>,
    /// Which port it speaks of.
    pub bound: Bound,
}

/// Which port binds a flow's rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Bound {
    /// The last on the way that changed what the packet says of congestion: where each port may only
    /// take from what those before it have left.
    #[default]
    LastChange,
    /// This one, counted from 0, of those that wrote into the header: the source works it out from
    /// what all have written.
    Hop(usize),
    /// That whose [`LinkContext::id`](crate::LinkContext) this is: the source has chosen it.
    Port(u32),
    /// Said by a port that lets this share of the packets pass unchanged: that with the least share,
    /// if below 1, whichever this packet is among.
    Share(f64),
    /// None: the source goes by what is its own, as after a loss.
    Source,
    /// None: the source sends what the queues on the way take, and these pause each other.
    Queues,
}

impl Reason {
    /// An equation with its figures.
    pub fn new(equation: &'static str, figures: impl Into<Vec<Figure>>) -> Reason {
        Reason { equation, figures: figures.into(), bound: Bound::default() }
    }

    /// The same, of that port.
    pub fn bound(self, bound: Bound) -> Reason {
        Reason { bound, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn figures_have_units_people_read() {
        assert_eq!(Figure::rate("C", 1.25e6).to_string(), "C = 10.0 Mbit/s");
        assert_eq!(Figure::rate("R", 12.5).to_string(), "R = 100 bit/s");
        assert_eq!(Figure::seconds("d", 0.05).to_string(), "d = 50.0 ms");
        assert_eq!(Figure::seconds("d", 0.0).to_string(), "d = 0 s");
        assert_eq!(Figure::rate("R", 0.0).to_string(), "R = 0 bit/s");
        assert_eq!(Figure::bytes("q", -1500.0).to_string(), "q = -1.50 KB");
        assert_eq!(Figure::one("gamma", 0.1).to_string(), "gamma = 0.1000");
        assert_eq!(Figure::one("N", 9.0).to_string(), "N = 9");
        assert_eq!(Figure::rate("cap", f64::INFINITY).amount().to_string(), "none");
    }
}
