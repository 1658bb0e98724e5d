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
    ///
    /// The discipline that is made of its options knows their defaults.
    pub fn option(&self, name: &'static str) -> Option<String> {
        let item = &self.get(name)?.item;
        let is_allowed = match self.key(name).kind {
            KeyKind::Switch => self.switch_of(name, item).is_some(),
            KeyKind::Count(..) => self.count_of(name, item).is_some(),
            KeyKind::Number(..) => self.number_of(name, item).is_some(),
            KeyKind::Time => self.time_of(name, item).is_some(),
            KeyKind::Rate => self.rate_of(name, item).is_some(),
            KeyKind::Bytes => self.bytes_of(name, item).is_some(),
            KeyKind::Size => self.size_of(name, item).is_some(),
            KeyKind::Word(_) => self.word_of(name, item).is_some(),
            _ => self.text_of(name, item).is_some(),
        };
        if is_allowed { item.value.as_option() } else { None }
    }

    pub fn text(&self, name: &'static str) -> Option<At<&'a str>> {
        self.given(name, |entry| self.text_of(name, &entry.item))
    }

    /// The text of `item`, which is the value of `name` or a part of it.
    pub fn text_of<'i>(&self, name: &'static str, item: &'i Item) -> Option<&'i str> {
        match &item.value {
            Value::Text(text) => Some(text),
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

    pub fn time(&self, name: &'static str) -> Option<At<Duration>> {
        self.given(name, |entry| self.time_of(name, &entry.item))
    }

    /// The time `name`, or its default.
    pub fn time_or(&self, name: &'static str) -> Duration {
        self.or_default(name, |entry| self.time_of(name, &entry.item))
    }

    pub fn time_of(&self, name: &'static str, item: &Item) -> Option<Duration> {
        self.quantity(name, item, quantity::TIME_UNITS)
    }

    pub fn rate(&self, name: &'static str) -> Option<At<Rate>> {
        self.given(name, |entry| self.rate_of(name, &entry.item))
    }

    /// The rate `name`, or its default.
    pub fn rate_or(&self, name: &'static str) -> Rate {
        self.or_default(name, |entry| self.rate_of(name, &entry.item))
    }

    fn rate_of(&self, name: &'static str, item: &Item) -> Option<Rate> {
        self.quantity(name, item, quantity::RATE_UNITS)
    }

    pub fn bytes(&self, name: &'static str) -> Option<At<Bytes>> {
        self.given(name, |entry| self.bytes_of(name, &entry.item))
    }

    /// The amount of data `name`, or its default.
    pub fn bytes_or(&self, name: &'static str) -> Bytes {
        self.or_default(name, |entry| self.bytes_of(name, &entry.item))
    }

    fn bytes_of(&self, name: &'static str, item: &Item) -> Option<Bytes> {
        self.quantity(name, item, quantity::SIZE_UNITS)
    }

    fn quantity<T: FromStr<Err = QuantityError>>(
        &self,
        name: &'static str,
        item: &Item,
        units: &[(&'static str, f64)],
    ) -> Option<T> {
        let text = self.text_of(name, item)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(why) => {
                let error = self.complain(name, item, &why.to_string());
                let _ = error.nearest(unit_meant(text, units));
                None
            }
        }
    }

    pub fn size(&self, name: &'static str) -> Option<At<Size>> {
        self.given(name, |entry| self.size_of(name, &entry.item))
    }

    /// The size `name`, or its default.
    pub fn size_or(&self, name: &'static str) -> Size {
        self.or_default(name, |entry| self.size_of(name, &entry.item))
    }

    pub fn size_of(&self, name: &'static str, item: &Item) -> Option<Size> {
        match parse_size(self.text_of(name, item)?) {
            Ok(size) => Some(size),
            Err(why) => {
                self.complain(name, item, &why);
                None
            }
        }
    }

    /// A time or a range of times, or a list of these: the first and the last allowed time of each.
    pub fn times_of(&self, name: &'static str, item: &Item) -> Option<Vec<(Duration, Duration)>> {
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        items.iter().map(|item| self.time_range(name, item)).collect()
    }

    fn time_range(&self, name: &'static str, item: &Item) -> Option<(Duration, Duration)> {
        let text = self.text_of(name, item)?;
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

    pub fn switch(&self, name: &'static str) -> Option<At<bool>> {
        self.given(name, |entry| self.switch_of(name, &entry.item))
    }

    /// The switch `name`, or its default.
    pub fn switch_or(&self, name: &'static str) -> bool {
        self.or_default(name, |entry| self.switch_of(name, &entry.item))
    }

    fn switch_of(&self, name: &'static str, item: &Item) -> Option<bool> {
        match item.value {
            Value::Switch(value) => Some(value),
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    pub fn count(&self, name: &'static str) -> Option<At<u64>> {
        self.given(name, |entry| self.count_of(name, &entry.item))
    }

    /// The count `name`, or its default.
    pub fn count_or(&self, name: &'static str) -> u64 {
        self.or_default(name, |entry| self.count_of(name, &entry.item))
    }

    fn count_of(&self, name: &'static str, item: &Item) -> Option<u64> {
        let KeyKind::Count(min, max) = self.key(name).kind else { return None };
        let value = match item.value {
            Value::Integer(n) => u64::try_from(n).ok(),
            _ => None,
        };
        let value = value.filter(|value| (min..=max).contains(value));
        if value.is_none() {
            self.refuse(name, item);
        }
        value
    }

    pub fn number(&self, name: &'static str) -> Option<At<f64>> {
        self.given(name, |entry| self.number_of(name, &entry.item))
    }

    /// The number `name`, or its default.
    pub fn number_or(&self, name: &'static str) -> f64 {
        self.or_default(name, |entry| self.number_of(name, &entry.item))
    }

    fn number_of(&self, name: &'static str, item: &Item) -> Option<f64> {
        let KeyKind::Number(min, max) = self.key(name).kind else { return None };
        let value = match item.value {
            Value::Integer(n) => n as f64,
            Value::Float(n) => n,
            _ => f64::NAN,
        };
        if value >= min && value <= max {
            return Some(value);
        }
        self.refuse(name, item);
        None
    }

    pub fn word(&self, name: &'static str) -> Option<At<&'static str>> {
        self.given(name, |entry| self.word_of(name, &entry.item))
    }

    /// The word `name`, or its default.
    pub fn word_or(&self, name: &'static str) -> &'static str {
        self.or_default(name, |entry| self.word_of(name, &entry.item))
    }

    fn word_of(&self, name: &'static str, item: &Item) -> Option<&'static str> {
        let KeyKind::Word(words) = self.key(name).kind else { return None };
        let text = self.text_of(name, item)?;
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Some(word);
        }
        let message = format!("`{name}` cannot be {text:?}");
        self.context.unknown(item.span, message, text, words.iter().copied());
        None
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
    fn units_that_are_nearly_right_are_reported_and_bits_are_no_bytes() {
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
