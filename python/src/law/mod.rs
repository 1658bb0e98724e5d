//! Laws that are classes in Python.
//!
//! A class makes an object for each flow, and one for each port and receiver. Their methods are
//! called with Python's lock, which runs do not hold otherwise. What an object sends by is read
//! after each call, so that the transport's many questions cost nothing.

mod fault;
mod figures;
mod info;
mod port;
mod receiver;
mod seen;
mod source;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyType;
use ratewire::laws::options::{OptionError, Options};
use ratewire::laws::{
    Books, FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawFile, LawSet, LinkContext,
    MAX_EXTERNAL_HEADER, MAX_HEADER, PackedHeader, Promises, Properties,
};
use ratewire::scenario::is_law_file;
use ratewire::units::Bytes;
use ratewire::{BenchedPort, Error, LawCheck, TimeSpread, load_law, port_costs};

use crate::errors::exception;
use crate::work::quietly;
use fault::Fault;
use figures::PythonBooks;
pub use info::LawInfo;
use info::Value;
use port::PythonPort;
use receiver::PythonReceiver;
pub use seen::{Ack, Congestion, Flow, Interval, Link, Sending};
use source::PythonSource;

/// A congestion header as Python's laws see it: bytes of the law's own length.
#[derive(Clone, Copy, Debug)]
pub struct PythonHeader([u8; MAX_EXTERNAL_HEADER]);

impl PackedHeader for PythonHeader {
    const LEN: usize = MAX_EXTERNAL_HEADER;

    fn pack(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0);
    }
    fn unpack(bytes: &[u8]) -> Result<PythonHeader, HeaderError> {
        <[u8; MAX_EXTERNAL_HEADER]>::unpack(bytes).map(PythonHeader)
    }
}

impl PythonHeader {
    /// A header of these bytes, which must be `length`.
    fn of(bytes: &[u8], length: usize) -> Result<PythonHeader, String> {
        if bytes.len() != length {
            return Err(format!("a header of {} bytes where {length} are said", bytes.len()));
        }
        let mut header = PythonHeader([0; MAX_EXTERNAL_HEADER]);
        header.0[..length].copy_from_slice(bytes);
        Ok(header)
    }
}

/// What the parts of a law share: its class and the values of its options.
#[derive(Debug)]
struct ConfiguredLaw {
    info: Py<LawInfo>,
    what: info::What,
    values: Vec<(&'static str, Value)>,
    /// Fault that no part can report: one of the receiver's.
    fault: Fault,
}

/// A law in Python with its options set.
#[derive(Clone, Debug)]
struct PythonLaw(Arc<ConfiguredLaw>);

impl Law for PythonLaw {
    type Header = PythonHeader;
    type Source = PythonSource;
    type Port = PythonPort;
    type Sink = PythonReceiver;

    fn source(&self, flow: &FlowContext) -> PythonSource {
        PythonSource::new(&self.0, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<PythonPort> {
        self.0.what.has_port.then(|| PythonPort::new(&self.0, link))
    }
    fn sink(&self, _flow: &FlowContext) -> Option<PythonReceiver> {
        self.has_header().then(|| PythonReceiver::new(&self.0))
    }
    fn properties(&self) -> Properties {
        Properties {
            goes_by_pace: self.0.what.goes_by_pace,
            goes_by_losses: self.0.what.goes_by_losses,
            small_queues: self.0.what.small_queues,
            ..Properties::default()
        }
    }
    fn has_header(&self) -> bool {
        self.0.what.header_length > 0
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = PythonHeader>> {
        self.has_header().then_some(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = PythonHeader>> {
        Some(self)
    }
}

impl Invariants for PythonLaw {
    type Header = PythonHeader;

    fn promises(&self) -> Promises {
        Promises {
            equal_shares: self.0.what.equal_shares,
            any_speed: self.0.what.any_speed,
            any_scale: false,
            bounded_window: false,
            ..Promises::default()
        }
    }
    fn books(&self) -> Option<Box<dyn Books<Header = PythonHeader>>> {
        self.0.what.has_books.then(|| Box::new(PythonBooks::new(&self.0)) as _)
    }
}

impl HeaderFormat for PythonLaw {
    type Header = PythonHeader;

    fn length(&self) -> Bytes {
        Bytes::new(self.0.what.header_length as u64)
    }
    fn encode(&self, header: &PythonHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let length = self.0.what.header_length;
        bytes[..length].copy_from_slice(&header.0[..length]);
        length
    }
    fn decode(&self, bytes: &[u8], _: Bytes) -> Result<PythonHeader, HeaderError> {
        let length = self.0.what.header_length;
        let Some(own) = bytes.get(..length) else {
            let found = bytes.len();
            return Err(HeaderError::new(format!("{found} bytes of a header of {length}")));
        };
        PythonHeader::of(own, length).map_err(HeaderError::new)
    }
}

/// Adds the laws of classes to a set.
pub fn register(laws: &mut LawSet, classes: &[Bound<'_, PyType>]) -> PyResult<()> {
    for class in classes {
        let py = class.py();
        let info: Bound<'_, LawInfo> = class.getattr("_info")?.cast_into()?;
        let native = info.get();
        if laws.find(native.law.name).is_some_and(|known| std::ptr::eq(known, native.law)) {
            continue;
        }
        let (law, what) = (native.law, native.what);
        // As a file, so that a finished run of another class is not taken for this one's.
        let path = law.name.to_string();
        let file = LawFile { law: law.name, path, sha256: native.sha256.clone() };
        let info = info.unbind();
        let make = move |options: &Options| -> Result<PythonLaw, OptionError> {
            let values = info::values(law, options);
            let info = Python::attach(|py| info.clone_ref(py));
            Ok(PythonLaw(Arc::new(ConfiguredLaw { info, what, values, fault: Fault::default() })))
        };
        // Making a law takes the lock again.
        let registered = py.detach(|| laws.register_as(law, make));
        registered.map_err(|wrong| exception(py, Error::Law(wrong)))?;
        laws.note_file(file);
    }
    Ok(())
}

/// The laws in the tree, and the one of a class or a file.
fn known(py: Python<'_>, class: Option<Bound<'_, PyType>>, name: &str) -> PyResult<LawSet> {
    let mut laws = if is_law_file(name) {
        py.detach(|| load_law(name)).map_err(|e| exception(py, e))?
    } else {
        LawSet::default()
    };
    if let Some(class) = class {
        register(&mut laws, &[class])?;
    }
    Ok(laws)
}

fn no_law(py: Python<'_>, name: &str) -> PyErr {
    let known: Vec<&str> = ratewire::laws::list().iter().map(|law| law.name).collect();
    exception(py, Error::unknown("law", "law", name, &known))
}

/// Explains a law of a class, or one by its name or file, and its options.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    class: Option<Bound<'_, PyType>>,
    name: String,
    width: usize,
) -> PyResult<String> {
    let laws = known(py, class, &name)?;
    let explained = ratewire::explain(&laws, &name, width);
    explained.map_err(|reason| exception(py, Error::Setting { setting: "law".to_string(), reason }))
}

/// Least and median time of a packet at the law's port, in nanoseconds; `None` if it has no port.
#[pyfunction]
pub fn law_cost(
    py: Python<'_>,
    class: Option<Bound<'_, PyType>>,
    name: String,
    rounds: u32,
) -> PyResult<Option<(f64, f64)>> {
    let laws = known(py, class, &name)?;
    let Some(info) = laws.find(&name) else { return Err(no_law(py, &name)) };
    let measured = quietly(py, || {
        catch_unwind(AssertUnwindSafe(|| {
            let Some(mut port) = BenchedPort::new(&laws, info) else { return Ok(None) };
            // One that fails is not timed.
            let times = match port.fault() {
                None => port_costs(std::slice::from_mut(&mut port), rounds).0,
                Some(_) => Vec::new(),
            };
            port.fault().map_or(Ok(times.first().copied()), Err)
        }))
    })?;
    let measured = measured.unwrap_or_else(|panic| Err(text_of(&*panic)));
    let times = |found: Option<TimeSpread>| found.map(|times| (times.least, times.median));
    let setting = || "law".to_string();
    measured
        .map(times)
        .map_err(|reason| exception(py, Error::Setting { setting: setting(), reason }))
}

/// Checks a law of a class, or one by its name or file: name of each check, whether it passes, and
/// what was done or is wrong; `None` for a promise that the law does not make.
#[pyfunction]
pub fn check_law(
    py: Python<'_>,
    class: Option<Bound<'_, PyType>>,
    name: String,
    seed: u64,
    events: usize,
    only: Option<String>,
) -> PyResult<Vec<(&'static str, Option<bool>, String)>> {
    let laws = known(py, class, &name)?;
    let check = |check: &LawCheck| match check.is_due(&laws, &name) {
        Err(error) => Err(error),
        Ok(false) => Ok((check.name, None, check.about.to_string())),
        Ok(true) => {
            let checked =
                catch_unwind(AssertUnwindSafe(|| check.check_with(&laws, &name, seed, events)));
            let verdict = checked.unwrap_or_else(|panic| Err(text_of(&*panic)));
            Ok((check.name, Some(verdict.is_ok()), verdict.unwrap_or_else(|wrong| wrong)))
        }
    };
    let wanted = |check: &&LawCheck| only.as_deref().is_none_or(|only| only == check.name);
    let wanted: Vec<&LawCheck> = LawCheck::all().iter().filter(wanted).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = LawCheck::all().iter().map(|check| check.name).collect();
        let reason = format!("the checks are {}", names.join(", "));
        return Err(exception(py, Error::Setting { setting: "only".to_string(), reason }));
    }
    let all = quietly(py, || wanted.into_iter().map(check).collect::<Result<Vec<_>, _>>())?;
    all.map_err(|error| exception(py, error))
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}
