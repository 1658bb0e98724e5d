//! A law's reason for a rate: an equation with its figures.

use alloc::vec::Vec;
use core::fmt;

/// A quantity with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Name of the quantity in the law's equations: `avg_rtt`.
    pub name: &'static str,
    /// Value in [`Figure::unit`].
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    One,
    /// Bytes per second; shown in bits per second.
    BytesPerSecond,
    /// Bytes per second, per second; shown in bits.
    BytesPerSecondSquared,
    /// Per second.
    PerSecond,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

impl Figure {
    /// A figure that is a plain number.
    pub fn one(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::One }
    }
    /// A figure in bytes per second.
    pub fn rate(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::BytesPerSecond }
    }
    /// A figure in bytes per second, per second.
    pub fn acceleration(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::BytesPerSecondSquared }
    }
    /// A figure per second.
    pub fn per_second(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::PerSecond }
    }
    /// A figure in bytes.
    pub fn bytes(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::Bytes }
    }
    /// A figure in seconds.
    pub fn seconds(name: &'static str, value: f64) -> Figure {
        Figure { name, value, unit: Unit::Seconds }
    }
    /// The value, for display. An infinite value stands for an absent limit or router.
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
            Unit::BytesPerSecondSquared => (
                figure.value * 8.0,
                &[(1e9, " Gbit/s/s"), (1e6, " Mbit/s/s"), (1e3, " kbit/s/s"), (1.0, " bit/s/s")],
            ),
            Unit::PerSecond => (figure.value, &[(1.0, " /s")]),
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
            // A count, or an identity.
            x if figure.unit == Unit::One && x >= 1.0 && libm::trunc(x) == x => 0,
            x if x >= 10.0 => 1,
            x if x >= 1.0 => 2,
            _ => 4,
        };
        if shown != 0.0 && shown.abs() < 1e-4 {
            return write!(f, "{shown:.2e}{unit}");
        }
        write!(f, "{shown:.decimals$}{unit}")
    }
}

/// An equation of a law, with the values of its quantities.
///
/// Each quantity that the equation names needs a figure; [`Reason::symbols`] distinguishes names of
/// quantities from words. A test of every law and `ratewire check-law` refuse an equation without.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The equation, as the law's documentation writes it: `R = R (1 + T/d (...))`.
    pub equation: &'static str,
    /// The equation's quantities.
    pub figures: Vec<Figure>,
    /// Port that binds the rate.
    pub bound: Bound,
}

/// Port that binds a flow's rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Bound {
    /// The last port on the path that changed the packet's congestion field. For laws in which each
    /// port can only lower the field.
    #[default]
    LastChange,
    /// The port of this index, from 0, among those that wrote into the header. For laws whose
    /// source computes from all entries.
    Hop(usize),
    /// The port with this [`LinkContext::id`](crate::LinkContext), chosen by the source.
    Port(u32),
    /// Each port states the share of packets that it passes unchanged. The port with the smallest
    /// share binds, if that is below 1, whether or not it changed this packet.
    Share(f64),
    /// No port: the source decides alone, as after a loss.
    Source,
    /// No port: queues on the path hold the source back by pausing each other.
    Queues,
}

impl Reason {
    /// An equation with its figures.
    pub fn new(equation: &'static str, figures: impl Into<Vec<Figure>>) -> Reason {
        Reason { equation, figures: figures.into(), bound: Bound::default() }
    }

    /// Names in the equation that stand for quantities: single letters, names with an underscore,
    /// and names beside an operator or a parenthesis.
    pub fn symbols(&self) -> impl Iterator<Item = &'static str> {
        let equation = self.equation;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = equation.split(move |c| !is_name(c)).filter(|name| !name.is_empty());
        names.filter(move |name| {
            let start = name.as_ptr() as usize - equation.as_ptr() as usize;
            stands_for_a_quantity(name, &equation[..start], &equation[start + name.len()..])
        })
    }

    /// Adds those of `quantities` that the equation names and no figure gives.
    pub fn with(mut self, quantities: impl IntoIterator<Item = Figure>) -> Reason {
        let mut missing: Vec<&str> = self.without_figure().collect();
        for quantity in quantities {
            if missing.contains(&quantity.name) {
                missing.retain(|symbol| *symbol != quantity.name);
                self.figures.push(quantity);
            }
        }
        self
    }

    /// Those of [`Reason::symbols`] that no figure gives, alone or in a product such as `gamma C`.
    pub fn without_figure(&self) -> impl Iterator<Item = &'static str> {
        let has_figure = |symbol: &&str| {
            self.figures.iter().any(|figure| figure.name.split(' ').any(|name| name == *symbol))
        };
        self.symbols().filter(move |symbol| !has_figure(symbol))
    }

    /// Sets the port that binds the rate.
    pub fn bound(self, bound: Bound) -> Reason {
        Reason { bound, ..self }
    }
}

/// Whether a name in an equation, with the text before and after it, stands for a quantity and is
/// not a word.
fn stands_for_a_quantity(name: &str, before: &str, after: &str) -> bool {
    let is_number = name.starts_with(|c: char| c.is_ascii_digit());
    // `max(`, and `ProbeBW_UP:`.
    if is_number || name == "a" || after.starts_with(['(', ':']) {
        return false;
    }
    let before_it = before.trim_end_matches([' ', '(']).chars().next_back();
    let after_it = after.trim_start_matches([' ', ')']).chars().next();
    let operates = |c: Option<char>| c.is_some_and(|c| "=<>+-*/".contains(c));
    // A hyphen joins words.
    let is_joined = after.starts_with('-') || before.ends_with('-') && !before.ends_with("(-");
    let is_operand = !is_joined && (operates(before_it) || operates(after_it));
    let is_enclosed = before.ends_with('(') || after.starts_with(')') || after.starts_with(" (");
    is_operand || is_enclosed || name.len() == 1 || name.contains('_')
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
        assert_eq!(Figure::acceleration("Cp", 1.25e6).to_string(), "Cp = 10.0 Mbit/s/s");
        assert_eq!(Figure::per_second("Cn", 0.5).to_string(), "Cn = 0.5000 /s");
        assert_eq!(Figure::one("gamma", 0.1).to_string(), "gamma = 0.1000");
        assert_eq!(Figure::one("N", 9.0).to_string(), "N = 9");
        assert_eq!(Figure::one("p", 1e-4).to_string(), "p = 0.0001");
        assert_eq!(Figure::one("p", -2.5e-7).to_string(), "p = -2.50e-7");
        assert_eq!(Figure::per_second("Cn", 3e-9).to_string(), "Cn = 3.00e-9 /s");
        assert_eq!(Figure::rate("cap", f64::INFINITY).amount().to_string(), "none");
    }

    #[test]
    fn symbols_are_distinguished_from_words() {
        let of = |equation| Reason::new(equation, []).symbols().collect::<Vec<_>>();
        assert_eq!(of("x = x_max exp(-q), q the largest on the path"), ["x", "x_max", "q", "q"]);
        assert_eq!(
            of("R (1 + (integral T/d0 (gamma C - y)) / (mu C))"),
            ["R", "integral", "T", "d0", "gamma", "C", "y", "mu", "C"]
        );
        assert_eq!(of("Up_2: pace 0.9 bw until the short-term bounds fall"), [""; 0]);
        assert_eq!(of("marked where q > min_q * size"), ["q", "min_q", "size"]);
    }

    #[test]
    fn only_named_quantities_without_a_figure_are_added() {
        let reason = Reason::new("x = gamma C - u", [Figure::one("gamma C", 1.0)]);
        let extra = ["u", "C", "other", "u"].map(|name| Figure::one(name, 2.0));
        let whole = reason.with(extra);
        let names: Vec<_> = whole.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["gamma C", "u"]);
        assert_eq!(whole.without_figure().collect::<Vec<_>>(), ["x"]);
    }
}
