//! A law's class as the library sees it: its name, its options, and which methods it has.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use ratewire::laws::options::{OptionKind, OptionSpec, Options, Part, Size};
use ratewire::laws::{self, MAX_EXTERNAL_HEADER};
use ratewire::units::Duration;

use crate::quantity::Quantity;

/// An option of a class: name, kind, least and largest value, words, default, documentation.
type OptionRow = (String, String, f64, f64, Vec<String>, String, String);

/// What a class is and has.
#[derive(Clone, Copy, Debug, FromPyObject)]
pub struct What {
    pub header_length: usize,
    pub has_port: bool,
    pub has_books: bool,
    pub goes_by_pace: bool,
    pub goes_by_losses: bool,
    pub small_queues: bool,
    pub equal_shares: bool,
    pub any_speed: bool,
    /// Methods that the class has of its own: others need no call.
    pub on_send: bool,
    pub on_ack: bool,
    pub on_recovered: bool,
    pub on_spurious: bool,
    pub slow_start_threshold: bool,
    pub on_interval: bool,
    pub returned: bool,
    /// Whether the class of ports has a method `on_interval` of its own.
    pub port_on_interval: bool,
}

/// A class of Python as a law. It is made once a class, with the class, and never freed: the names
/// of laws stay for the whole process.
#[pyclass(frozen, module = "ratewire._ratewire")]
#[derive(Debug)]
pub struct LawInfo {
    pub class: Py<PyType>,
    pub law: &'static laws::LawInfo,
    pub what: What,
    /// Of what the class does.
    pub sha256: String,
}

fn kept(text: String) -> &'static str {
    text.leak()
}

#[pymethods]
impl LawInfo {
    #[new]
    fn new(
        class: Py<PyType>,
        name: String,
        summary: String,
        explanation: String,
        options: Vec<OptionRow>,
        what: What,
        sha256: String,
    ) -> PyResult<LawInfo> {
        if what.header_length > MAX_EXTERNAL_HEADER {
            return Err(PyValueError::new_err(format!(
                "a header of {} bytes is too long: {MAX_EXTERNAL_HEADER} fit",
                what.header_length
            )));
        }
        let options = options.into_iter().map(spec).collect::<PyResult<Vec<_>>>()?;
        let name = kept(name);
        let law = laws::LawInfo {
            name,
            title: name,
            summary: kept(summary),
            explanation: kept(explanation),
            operations: "",
            options: options.leak(),
        };
        Ok(LawInfo { class, law: Box::leak(Box::new(law)), what, sha256 })
    }

    #[getter]
    fn name(&self) -> &str {
        self.law.name
    }
}

fn spec((name, kind, min, max, words, default, doc): OptionRow) -> PyResult<OptionSpec> {
    let kind = match kind.as_str() {
        "switch" => OptionKind::Switch,
        "number" => OptionKind::Number(min, max),
        "count" => OptionKind::Count(min as u64, max as u64),
        "time" => OptionKind::Time,
        "rate" => OptionKind::Rate(None),
        "size" => OptionKind::Size(None),
        "word" => OptionKind::Word(words.into_iter().map(kept).collect::<Vec<_>>().leak()),
        other => {
            let known = "switch, number, count, time, rate, size and word";
            let text = format!("option {name:?} is of the kind {other:?}; known are {known}");
            return Err(PyValueError::new_err(text));
        }
    };
    let (name, default, doc) = (kept(name), kept(default), kept(doc));
    let spec = OptionSpec { name, kind, default, part: Part::Both, doc };
    spec.check().map_err(|why| PyValueError::new_err(format!("option {name:?}: {why}")))?;
    Ok(spec)
}

/// The value of an option, as Python's laws get it.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Switch(bool),
    Number(f64),
    Count(u64),
    Word(&'static str),
    /// In full packets, whose size a flow knows.
    Packets(f64),
}

/// The values of all options of a law: times in seconds, rates in bytes per second, sizes in bytes.
pub fn values(law: &laws::LawInfo, options: &Options) -> Vec<(&'static str, Value)> {
    let value = |spec: &OptionSpec| {
        let name = spec.name;
        let value = match spec.kind {
            OptionKind::Switch => Value::Switch(options.switch(name)),
            OptionKind::Number(..) => Value::Number(options.number(name)),
            OptionKind::Count(..) => Value::Count(options.count(name)),
            OptionKind::Time => Value::Number(options.time(name).secs()),
            OptionKind::Rate(_) => {
                let rate = options.rate(name);
                Value::Number(rate.map_or(f64::INFINITY, |rate| rate.throughput().get()))
            }
            OptionKind::Size(_) => match options.size(name) {
                Some(Size::Bytes(bytes)) => Value::Number(bytes.as_f64()),
                Some(Size::Packets(packets)) => Value::Packets(packets),
                None => Value::Number(f64::INFINITY),
            },
            OptionKind::Word(_) => Value::Word(options.word(name)),
        };
        (name, value)
    };
    law.options.iter().map(value).collect()
}

/// Sets the options as attributes of an object; a packet has this many bytes.
pub fn set(
    object: &Bound<'_, PyAny>,
    values: &[(&'static str, Value)],
    packet: f64,
) -> PyResult<()> {
    values.iter().try_for_each(|(name, value)| match *value {
        Value::Switch(on) => object.setattr(*name, on),
        Value::Number(number) => object.setattr(*name, number),
        Value::Count(count) => object.setattr(*name, count),
        Value::Word(word) => object.setattr(*name, word),
        Value::Packets(packets) => object.setattr(*name, packets * packet),
    })
}

/// The time of an attribute `interval`: seconds, or text with a unit. `also` is what else is
/// allowed.
pub fn interval(value: &Bound<'_, PyAny>, also: &str) -> PyResult<Duration> {
    let time = value.extract::<Quantity>().ok().and_then(|given| given.time("interval").ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| {
        let given = value.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
        PyValueError::new_err(format!(
            "`interval` is {given}: allowed are seconds above 0 and text such as \"5 ms\"{also}"
        ))
    })
}
