//! Reads single values by the kind of their key.

use std::str::FromStr;

use ratewire_laws::options::{Size, parse_size};
use ratewire_units::quantity::{self, QuantityError};
use ratewire_units::{Bytes, Duration, Rate};

use super::Section;
use ratewire_config::nearest;

use crate::document::{At, Item, Value};
use crate::keys::KeyKind;

impl<'a> Section<'a> {
    /// The value `name` as text, if it is one that its key may hold.
    pub fn option(&self, name: &'static str) -> Option<String> {
        let is_allowed = match self.key(name).kind {
            KeyKind::Switch => self.switch(name).is_some(),
            KeyKind::Count(..) => self.count(name).is_some(),
            KeyKind::Number(..) => self.number(name).is_some(),
            KeyKind::Time => self.time(name).is_some(),
            KeyKind::Rate => self.rate(name).is_some(),
            KeyKind::Bytes => self.bytes(name).is_some(),
            KeyKind::Size => self.size(name).is_some(),
            KeyKind::Word(_) => self.word(name).is_some(),
            _ => self.text(name).is_some(),
        };
        self.get(name).filter(|_| is_allowed).and_then(|entry| entry.item.value.as_option())
    }

    pub fn text(&self, name: &'static str) -> Option<At<&'a str>> {
        let item = self.item(name)?;
        match &item.value {
            Value::Text(text) => Some(At { value: text, span: item.span }),
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    /// The `name` of a new thing; an error if it is empty. `what` is the thing in the message.
    pub fn name(&self, what: &str) -> Option<At<&'a str>> {
        let name = self.text("name")?;
        (!self.refuse_empty(name, what)).then_some(name)
    }

    /// Notes an error if a name is empty; returns whether it is.
    pub fn refuse_empty(&self, name: At<&str>, what: &str) -> bool {
        if name.value.is_empty() {
            self.context
                .error(name.span, format!("{what} needs a name"))
                .help(format!("for example {}", self.key("name").example));
        }
        name.value.is_empty()
    }

    fn parsed<T>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<At<T>> {
        let item = self.item(name)?;
        match &item.value {
            Value::Text(text) => match parse(text) {
                Ok(value) => Some(At { value, span: item.span }),
                Err(why) => {
                    self.complain(name, item, &why);
                    None
                }
            },
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    pub fn time(&self, name: &'static str) -> Option<At<Duration>> {
        self.quantity(name, quantity::TIME_UNITS)
    }

    pub fn rate(&self, name: &'static str) -> Option<At<Rate>> {
        self.quantity(name, quantity::RATE_UNITS)
    }

    pub fn bytes(&self, name: &'static str) -> Option<At<Bytes>> {
        self.quantity(name, quantity::SIZE_UNITS)
    }

    fn quantity<T: FromStr<Err = QuantityError>>(
        &self,
        name: &'static str,
        units: &[(&'static str, f64)],
    ) -> Option<At<T>> {
        let item = self.item(name)?;
        let Value::Text(text) = &item.value else {
            self.refuse(name, item);
            return None;
        };
        match text.parse() {
            Ok(value) => Some(At { value, span: item.span }),
            Err(why) => {
                let error = self.complain(name, item, &why.to_string());
                let _ = error.nearest(unit_meant(text, units));
                None
            }
        }
    }

    pub fn size(&self, name: &'static str) -> Option<At<Size>> {
        self.parsed(name, parse_size)
    }

    /// The time `name`, or its default.
    pub fn time_or(&self, name: &'static str) -> Duration {
        let default = || self.default(name).and_then(|text| text.parse().ok()).unwrap_or_default();
        self.time(name).map_or_else(default, |at| at.value)
    }

    /// The time or range of times `name`, or the list of these: the first and the last allowed time
    /// of each.
    pub fn times(&self, name: &'static str) -> Option<At<Vec<(Duration, Duration)>>> {
        let item = self.item(name)?;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let times = items.iter().map(|item| self.time_range(name, item)).collect::<Option<_>>()?;
        Some(At { value: times, span: item.span })
    }

    fn time_range(&self, name: &'static str, item: &Item) -> Option<(Duration, Duration)> {
        let Value::Text(text) = &item.value else {
            self.refuse(name, item);
            return None;
        };
        let one = |text: &str| {
            text.trim().parse::<Duration>().map_err(|why| {
                let meant = unit_meant(text.trim(), quantity::TIME_UNITS);
                (why.to_string(), meant)
            })
        };
        let parsed = match text.split_once("..") {
            None => one(text).map(|at| (at, at)),
            Some((first, last)) => one(first).and_then(|first| one(last).map(|last| (first, last))),
        };
        match parsed {
            Ok((first, last)) if first > last => {
                self.complain(name, item, &format!("a range from {first} to {last} is empty"))
                    .help("write the earlier time first");
                None
            }
            Ok(range) => Some(range),
            Err((why, meant)) => {
                let _ = self.complain(name, item, &why).nearest(meant);
                None
            }
        }
    }

    /// The size `name`, or its default.
    pub fn size_or(&self, name: &'static str) -> Size {
        let default = || {
            let parsed = self.default(name).and_then(|text| parse_size(text).ok());
            parsed.unwrap_or(Size::Packets(1.0))
        };
        self.size(name).map_or_else(default, |at| at.value)
    }

    pub fn switch(&self, name: &'static str) -> Option<bool> {
        let item = self.item(name)?;
        match item.value {
            Value::Switch(value) => Some(value),
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    /// The switch `name`, or its default.
    pub fn switch_or(&self, name: &'static str) -> bool {
        self.switch(name).unwrap_or_else(|| self.default(name) == Some("true"))
    }

    pub fn count(&self, name: &'static str) -> Option<At<u64>> {
        let item = self.item(name)?;
        let KeyKind::Count(min, max) = self.key(name).kind else { return None };
        match item.value {
            Value::Integer(n) => match u64::try_from(n) {
                Ok(value) if value >= min && value <= max => Some(At { value, span: item.span }),
                _ => {
                    self.refuse(name, item);
                    None
                }
            },
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    /// The count `name`, or its default.
    pub fn count_or(&self, name: &'static str) -> u64 {
        let default = || self.default(name).and_then(|text| text.parse().ok()).unwrap_or(1);
        self.count(name).map_or_else(default, |at| at.value)
    }

    pub fn number(&self, name: &'static str) -> Option<At<f64>> {
        let item = self.item(name)?;
        let KeyKind::Number(min, max) = self.key(name).kind else { return None };
        let value = match item.value {
            Value::Integer(n) => n as f64,
            Value::Float(n) => n,
            _ => f64::NAN,
        };
        if value >= min && value <= max {
            return Some(At { value, span: item.span });
        }
        self.refuse(name, item);
        None
    }

    /// The number `name`, or its default.
    pub fn number_or(&self, name: &'static str) -> f64 {
        let default = || self.default(name).and_then(|text| text.parse().ok()).unwrap_or(0.0);
        self.number(name).map_or_else(default, |at| at.value)
    }

    pub fn word(&self, name: &'static str) -> Option<At<&'static str>> {
        let item = self.item(name)?;
        let KeyKind::Word(words) = self.key(name).kind else { return None };
        let Value::Text(text) = &item.value else {
            self.refuse(name, item);
            return None;
        };
        if let Some(word) = words.iter().find(|word| *word == text) {
            return Some(At { value: word, span: item.span });
        }
        let message = format!("`{name}` cannot be {text:?}");
        self.context.unknown(item.span, message, text, words.iter().copied());
        None
    }

    /// The word `name`, or its default.
    pub fn word_or(&self, name: &'static str) -> &'static str {
        self.word(name).map_or_else(|| self.default(name).unwrap_or(""), |at| at.value)
    }
}

/// The unit probably meant in `text`. Bits are never offered for bytes.
fn unit_meant(text: &str, units: &[(&'static str, f64)]) -> Option<String> {
    let (_, unit) = quantity::split(text).ok()?;
    let mut spelled = unit.to_string();
    for byte in ["bytes", "Bytes", "byte", "Byte"] {
        spelled = spelled.replace(byte, "B");
    }
    for bit in ["Bit", "BIT"] {
        spelled = spelled.replace(bit, "bit");
    }
    let known = || units.iter().map(|(name, _)| *name);
    if known().any(|name| name == spelled) {
        return (spelled != unit).then_some(spelled);
    }
    nearest(&spelled, known().filter(|name| name.contains('B') == spelled.contains('B')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_are_nearly_right_are_told_and_bits_are_no_bytes() {
        let meant = |text: &str| unit_meant(text, quantity::RATE_UNITS);
        for (text, unit) in [
            ("10 mbit", Some("Mbit/s")),
            ("10 Mbits", Some("Mbit/s")),
            ("10 MBit/s", Some("Mbit/s")),
            ("10 MBITS", Some("Mbit/s")),
            ("10 Mbyte/s", Some("MB/s")),
            ("10 kbytes/s", Some("kB/s")),
            ("10 furlongs", None),
            ("10", None),
            ("fast", None),
        ] {
            assert_eq!(meant(text).as_deref(), unit, "{text}");
        }
    }
}
