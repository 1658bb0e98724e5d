//! Constants of laws that are set wrong on purpose, to learn which expectations notice.

use std::fmt;
use std::str::FromStr;

use ratewire_laws::options::OptionKind;
use ratewire_units::quantity;

use super::{Given, LawBook, Uses};

/// What becomes of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is multiplied: `2x`, `-1x`.
    Times(f64),
    /// It is this value.
    Value(String),
}

impl FromStr for Change {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Change, Self::Err> {
        let factor = text.strip_suffix('x').and_then(|factor| factor.trim().parse::<f64>().ok());
        Ok(match factor.filter(|factor| factor.is_finite()) {
            Some(factor) => Change::Times(factor),
            None => Change::Value(text.to_string()),
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Times(factor) => write!(f, "{factor}x"),
            Change::Value(value) => f.write_str(value),
        }
    }
}

impl Change {
    /// The changed value of what is written as `text`: a number, or a number with a unit. `None`
    /// where a word or a switch cannot be multiplied, or a quantity would be below 0.
    pub fn of(&self, text: &str) -> Option<String> {
        let factor = match self {
            Change::Value(value) => return Some(value.clone()),
            Change::Times(factor) => factor,
        };
        if let Ok(number) = text.trim().parse::<f64>() {
            return number.is_finite().then(|| (number * factor).to_string());
        }
        match quantity::split(text) {
            Ok((number, unit)) if *factor >= 0.0 => Some(format!("{} {unit}", number * factor)),
            _ => None,
        }
    }

    /// The changed value of an option of this kind; whole numbers are rounded.
    fn of_option(&self, kind: OptionKind, text: &str) -> Option<String> {
        let changed = self.of(text)?;
        match (kind, changed.parse::<f64>()) {
            (OptionKind::Count(..), Ok(number)) => Some(number.round().to_string()),
            _ => Some(changed),
        }
    }
}

/// A constant of a law, set wrong on purpose in all that speaks the law: its flows and ports, under
/// its own name and those of its variants.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongConstant {
    /// The law.
    pub law: String,
    /// The option that is the constant.
    pub option: String,
    /// What becomes of it.
    pub change: Change,
}

impl LawBook {
    /// The wrong value of a law with these options, if it has the constant, and if that changes it.
    pub(super) fn wrong_value(
        &self,
        wrong: &WrongConstant,
        base: &str,
        given: &Given<'_>,
    ) -> Option<String> {
        let info = self.laws.find(base).filter(|info| info.name == wrong.law)?;
        let spec = info.options.iter().find(|spec| spec.name == wrong.option)?;
        let last = given.iter().rev().find(|(key, _)| *key == wrong.option);
        let text = last.map_or(spec.default, |(_, text)| text);
        wrong.change.of_option(spec.kind, text).filter(|changed| changed != text)
    }

    /// The laws with this constant wrong.
    pub fn with_wrong(&self, wrong: &WrongConstant) -> LawBook {
        LawBook { wrong: Some(wrong.clone()), ..self.clone() }
    }
}

impl Uses {
    /// Whether a run of `law` has a law that the wrong constant changes.
    pub fn are_changed(&self, book: &LawBook, wrong: &WrongConstant, law: &str) -> bool {
        self.names(law).any(|(name, options)| {
            let (base, given) = book.given(name, options);
            book.wrong_value(wrong, base, &given).is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_multiplied_with_its_unit_or_replaced() {
        let of = |change: &str, text: &str| change.parse::<Change>().unwrap().of(text);
        assert_eq!(of("0.5x", "0.4").as_deref(), Some("0.2"));
        assert_eq!(of("-1x", "0.226").as_deref(), Some("-0.226"));
        assert_eq!(of("2x", "50 ms").as_deref(), Some("100 ms"));
        assert_eq!(of("2 x", "1 packets").as_deref(), Some("2 packets"));
        assert_eq!(of("0x", "8 KB").as_deref(), Some("0 KB"));
        assert_eq!(of("-1x", "50 ms"), None);
        assert_eq!(of("2x", "line"), None);
        assert_eq!(of("line", "10 Mbit/s").as_deref(), Some("line"));
        assert_eq!(of("10 ms", "line").as_deref(), Some("10 ms"));
        let change = |text: &str| text.parse::<Change>().unwrap();
        assert_eq!(change("infx"), Change::Value("infx".to_string()));
        assert_eq!(change("2x").to_string(), "2x");
        assert_eq!(change("3x").of_option(OptionKind::Count(0, 9), "2").as_deref(), Some("6"));
        assert_eq!(change("0.5x").of_option(OptionKind::Count(0, 9), "5").as_deref(), Some("3"));
    }
}
