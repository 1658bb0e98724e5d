//! Parameters of a law or a queue discipline. One table describes them for scenarios, for `ratewire
//! explain` and for the reference.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use ratewire_units::{Bytes, Duration, Rate, quantity};

/// The values that a parameter may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// `true` or `false`.
    Switch,
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A whole number from the first to the second, both included.
    Count(u64, u64),
    /// A length of time, `"50 ms"`.
    Time,
    /// A rate, `"10 Mbit/s"`, or the given word, which means that the law finds the rate by itself.
    Rate(Option<&'static str>),
    /// An amount of data, `"64 KB"` or `"10 packets"`, or the given word, which means that none is
    /// set.
    Size(Option<&'static str>),
    /// One of these words.
    Word(&'static [&'static str]),
}

/// One parameter of a law or a queue discipline.
#[derive(Debug)]
pub struct OptionSpec {
    /// Key of the parameter.
    pub name: &'static str,
    /// The values that the parameter may hold.
    pub kind: OptionKind,
    /// Default value, as a user would write it.
    pub default: &'static str,
    /// The part of the law that reads the parameter.
    pub part: Part,
    /// Effect of the parameter in that part, with unit and source, in one or two sentences.
    pub doc: &'static str,
}

impl OptionSpec {
    /// Effect of the parameter, and the part that reads it.
    pub fn description(&self) -> String {
        format!("{}: {}", self.part, self.doc)
    }

    /// Checks that the default is a value of its kind.
    ///
    /// # Errors
    /// When the default is not a valid value.
    pub fn check(&self) -> Result<(), String> {
        self.kind.parse(self.default).map(drop)
    }

    /// Whether only ports read the parameter, with these given options of the law. Later options
    /// replace earlier ones.
    pub fn is_of_ports(&self, given: &[(&str, &str)]) -> bool {
        match self.part {
            Part::Port => true,
            Part::PortAndSink { with: (option, value) } => {
                let last = given.iter().rev().find(|(key, _)| *key == option);
                last.is_none_or(|(_, text)| *text != value)
            }
            _ => false,
        }
    }
}

/// Checks that names of options differ, and that each default is a value of its option.
///
/// # Errors
/// What is wrong with the first option that is not as it should be.
pub fn check_specs(options: &[OptionSpec]) -> Result<(), String> {
    for (i, option) in options.iter().enumerate() {
        if options[..i].iter().any(|before| before.name == option.name) {
            return Err(format!("two options are called {:?}", option.name));
        }
        option.check().map_err(|e| format!("default of option {:?}: {e}", option.name))?;
    }
    Ok(())
}

/// The part of a law, or the queue discipline, that reads a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The source.
    Source,
    /// The sink.
    Sink,
    /// The port. The option has no effect in a flow's own law.
    Port,
    /// The source and the port.
    Both,
    /// The port, and with a certain value of another option the sink too.
    PortAndSink {
        /// The other option, and that value.
        with: (&'static str, &'static str),
    },
    /// The code that writes and reads headers as bytes.
    Header,
    /// A queue discipline.
    Queue,
}

impl Part {
    /// Whether ports read the parameter.
    pub fn has_port(self) -> bool {
        matches!(self, Part::Port | Part::Both | Part::PortAndSink { .. })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Source => f.write_str("Source"),
            Part::Sink => f.write_str("Sink"),
            Part::Port => f.write_str("Port"),
            Part::Both => f.write_str("Both"),
            Part::PortAndSink { with: (option, value) } => {
                write!(f, "Port, and sink with {option} = {value:?}")
            }
            Part::Header => f.write_str("Header"),
            Part::Queue => f.write_str("Queue"),
        }
    }
}

/// An amount of data as users write it: bytes, or packets of the flow's own size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of full-size packets.
    Packets(f64),
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bytes(bytes) => bytes.fmt(f),
            Size::Packets(n) => write!(f, "{n} packets"),
        }
    }
}

impl Size {
    /// The amount in bytes, for packets of `packet` bytes.
    pub fn bytes(self, packet: Bytes) -> Bytes {
        match self {
            Size::Bytes(b) => b,
            Size::Packets(n) => Bytes::new((n * packet.as_f64() + 0.5) as u64),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Switch(bool),
    Number(f64),
    Count(u64),
    Time(Duration),
    Rate(Option<Rate>),
    Size(Option<Size>),
    Word(&'static str),
}

/// Error of a refused option. The text names the option and its allowed values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("option {option:?}: {message}")]
pub struct OptionError {
    /// The option's key.
    pub option: String,
    /// What is wrong with the option, and what is allowed.
    pub message: String,
    /// The other option that this one contradicts; `None` if the value is wrong by itself.
    pub other: Option<&'static str>,
}

impl OptionError {
    /// An error about `option`.
    pub fn new(option: &str, message: impl Into<String>) -> OptionError {
        OptionError { option: option.to_string(), message: message.into(), other: None }
    }

    /// An error about `option`, which contradicts `other`.
    pub fn between(option: &str, other: &'static str, message: impl Into<String>) -> OptionError {
        OptionError { other: Some(other), ..OptionError::new(option, message) }
    }
}

impl fmt::Display for OptionKind {
    /// Writes the allowed values in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Switch => f.write_str("true or false"),
            OptionKind::Number(min, max) if *max == f64::INFINITY => {
                write!(f, "a number, {min} or more")
            }
            OptionKind::Number(min, max) => write!(f, "a number from {min} to {max}"),
            OptionKind::Count(min, max) => write!(f, "a whole number from {min} to {max}"),
            OptionKind::Time => f.write_str("a time such as \"50 ms\""),
            OptionKind::Rate(None) => f.write_str("a rate such as \"10 Mbit/s\""),
            OptionKind::Rate(Some(word)) => {
                write!(f, "a rate such as \"10 Mbit/s\", or \"{word}\"")
            }
            OptionKind::Size(None) => f.write_str("a size such as \"64 KB\" or \"10 packets\""),
            OptionKind::Size(Some(word)) => {
                write!(f, "a size such as \"64 KB\" or \"10 packets\", or \"{word}\"")
            }
            OptionKind::Word(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl OptionKind {
    fn parse(self, text: &str) -> Result<Value, String> {
        let allowed = || format!("found {text:?}; allowed is {self}");
        match self {
            OptionKind::Switch => text.parse().map(Value::Switch).map_err(|_| allowed()),
            OptionKind::Number(min, max) => match text.parse::<f64>() {
                Ok(n) if n >= min && n <= max => Ok(Value::Number(n)),
                _ => Err(allowed()),
            },
            OptionKind::Count(min, max) => match text.parse::<u64>() {
                Ok(n) if n >= min && n <= max => Ok(Value::Count(n)),
                _ => Err(allowed()),
            },
            OptionKind::Time => text.parse().map(Value::Time).map_err(|e| e.to_string()),
            OptionKind::Rate(Some(word)) if text == word => Ok(Value::Rate(None)),
            OptionKind::Rate(_) => {
                text.parse().map(|r| Value::Rate(Some(r))).map_err(|e| e.to_string())
            }
            OptionKind::Size(Some(word)) if text == word => Ok(Value::Size(None)),
            OptionKind::Size(_) => parse_size(text).map(|s| Value::Size(Some(s))),
            OptionKind::Word(words) => {
                words.iter().find(|w| **w == text).map(|w| Value::Word(w)).ok_or_else(allowed)
            }
        }
    }
}

/// Reads `"64 KB"` or `"10 packets"`.
///
/// # Errors
/// When the text is neither. The error names what is allowed.
pub fn parse_size(text: &str) -> Result<Size, String> {
    match quantity::split(text) {
        Ok((n, "packets" | "packet")) => Ok(Size::Packets(n)),
        Ok(_) => text.parse().map(Size::Bytes).map_err(|e| format!("{e}, packets")),
        Err(e) => Err(e.to_string()),
    }
}

/// The options of a law or a queue discipline, each present and within its range.
#[derive(Clone, Debug)]
pub struct Options {
    specs: &'static [OptionSpec],
    values: Vec<Value>,
    /// The values as they were written.
    texts: Vec<String>,
}

impl Options {
    /// Options at their defaults.
    ///
    /// # Panics
    /// When a default in the table is not valid itself, which a test rules out.
    pub fn defaults(specs: &'static [OptionSpec]) -> Options {
        let parse = |s: &OptionSpec| match s.kind.parse(s.default) {
            Ok(value) => value,
            Err(e) => panic!("default of option {}: {e}", s.name),
        };
        let texts = specs.iter().map(|spec| spec.default.to_string()).collect();
        Options { specs, values: specs.iter().map(parse).collect(), texts }
    }

    /// Options at their defaults, except those given as users write them. Later options replace
    /// earlier ones.
    ///
    /// # Errors
    /// When there is no such option or a value is not allowed.
    pub fn given(
        specs: &'static [OptionSpec],
        given: &[(&str, &str)],
    ) -> Result<Options, OptionError> {
        let mut all = Options::defaults(specs);
        for (name, text) in given {
            all.set(name, text)?;
        }
        Ok(all)
    }

    /// Sets an option, given as users write it.
    ///
    /// # Errors
    /// When there is no such option or the value is not allowed.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        self.set_as(name, text, OptionKind::parse)
    }

    /// Sets an option to a value that breaks the law: a number may be any, below 0 too.
    ///
    /// # Errors
    /// When there is no such option, the number is not finite, or another value is not allowed.
    pub fn set_wrong(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        self.set_as(name, text, |kind, text| match kind {
            OptionKind::Number(..) => OptionKind::Number(f64::MIN, f64::MAX).parse(text),
            _ => kind.parse(text),
        })
    }

    fn set_as(
        &mut self,
        name: &str,
        text: &str,
        parse: impl Fn(OptionKind, &str) -> Result<Value, String>,
    ) -> Result<(), OptionError> {
        let Some(at) = self.specs.iter().position(|s| s.name == name) else {
            let known: Vec<&str> = self.specs.iter().map(|s| s.name).collect();
            let message = if known.is_empty() {
                "there are no options".to_string()
            } else {
                format!("no such option; known: {}", known.join(", "))
            };
            return Err(OptionError::new(name, message));
        };
        self.values[at] =
            parse(self.specs[at].kind, text).map_err(|message| OptionError::new(name, message))?;
        self.texts[at] = text.to_string();
        Ok(())
    }

    fn place(&self, name: &str) -> usize {
        let at = self.specs.iter().position(|s| s.name == name);
        at.unwrap_or_else(|| panic!("the table has no option {name}"))
    }

    fn value(&self, name: &str) -> Value {
        self.values[self.place(name)]
    }

    /// The option `name` as a user wrote it, or its default.
    pub fn text(&self, name: &str) -> &str {
        &self.texts[self.place(name)]
    }

    /// The switch `name`. This reader, like the others, panics if the table holds no such option of
    /// that kind. That is a mistake in the law or discipline, and the first test that makes it
    /// fails.
    pub fn switch(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Switch(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The number `name`.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The whole number `name`.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Count(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The time `name`.
    pub fn time(&self, name: &str) -> Duration {
        match self.value(name) {
            Value::Time(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The rate `name`, which no word may replace.
    pub fn plain_rate(&self, name: &str) -> Rate {
        self.rate(name).unwrap_or_else(|| panic!("option {name} is a word"))
    }
    /// The rate `name`; `None` for its word.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        match self.value(name) {
            Value::Rate(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The size `name`, which no word may replace.
    pub fn plain_size(&self, name: &str) -> Size {
        self.size(name).unwrap_or_else(|| panic!("option {name} is a word"))
    }
    /// The size `name`; `None` for its word.
    pub fn size(&self, name: &str) -> Option<Size> {
        match self.value(name) {
            Value::Size(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
    /// The word `name`.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Word(v) => v,
            other => panic!("option {name} is {other:?}"),
        }
    }
}
