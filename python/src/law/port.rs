//! The router's part: an object of the class `Port` in the law's class for each port.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use ratewire::laws::{LinkContext, Port, PortQueue, Reason};
use ratewire::units::{Bytes, Duration, Rate, Time};

use super::fault::Fault;
use super::seen::Link;
use super::{ConfiguredLaw, PythonHeader, figures, info};

/// Bytes of a packet, for options of ports that are sizes in packets.
const PACKET: f64 = 1500.0;

/// One link's port.
pub struct PythonPort {
    law: Arc<ConfiguredLaw>,
    /// `None` if it could not be made.
    object: Option<Py<PyAny>>,
    every: Option<Duration>,
    next: Time,
    fault: Fault,
}

impl fmt::Debug for PythonPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonPort").field("next", &self.next).finish_non_exhaustive()
    }
}

impl PythonPort {
    pub fn new(law: &Arc<ConfiguredLaw>, link: &LinkContext<'_>) -> PythonPort {
        let mut port = PythonPort {
            law: law.clone(),
            object: None,
            every: None,
            next: Time::NEVER,
            fault: Fault::default(),
        };
        Python::attach(|py| {
            if let Err(error) = port.start(py, link) {
                port.fault.raise("Port.start", error);
            }
        });
        port
    }

    fn start(&mut self, py: Python<'_>, link: &LinkContext<'_>) -> PyResult<()> {
        let class = self.law.info.get().class.bind(py);
        let object = class.getattr("Port")?.call0()?;
        info::set(&object, &self.law.values, PACKET)?;
        object.call_method1("start", (Link::from(link),))?;
        // A port may choose its interval as it starts.
        self.every = interval(&object)?;
        if self.every.is_none() && self.law.what.port_on_interval {
            return Err(PyValueError::new_err(
                "the port has a method `on_interval`, but its `interval` is None: allowed are \
                 seconds above 0 and text such as \"5 ms\"",
            ));
        }
        self.next = self.every.map_or(Time::NEVER, |every| Time::ZERO + every);
        self.object = Some(object.unbind());
        Ok(())
    }

    #[inline]
    fn call<T>(
        &self,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.fault.is_there() {
            return None;
        }
        Python::attach(|py| {
            let done = call(self.object.as_ref()?.bind(py));
            done.map_err(|error| self.fault.raise(method, error)).ok()
        })
    }

    fn on_packet(
        &self,
        method: &str,
        (now, size): (Time, Bytes),
        header: Option<&mut PythonHeader>,
        queue: PortQueue,
    ) {
        let length = self.law.what.header_length;
        let own = header.as_deref().map(|header| header.0);
        let after = self.call(method, |object| {
            let py = object.py();
            let bytes = own.map(|own| PyByteArray::new(py, &own[..length]));
            let waiting = (queue.bytes.get(), queue.packets);
            object.call_method1(method, (now.secs(), size.get(), &bytes, waiting))?;
            Ok(bytes.map(|bytes| bytes.to_vec()))
        });
        if let (Some(header), Some(Some(bytes))) = (header, after) {
            match PythonHeader::of(&bytes, length) {
                Ok(changed) => *header = changed,
                Err(wrong) => self.fault.note(format!("`Port.{method}` made {wrong}")),
            }
        }
    }
}

/// The port's interval as it is now; `None` for none.
fn interval(object: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let every = object.getattr(intern!(object.py(), "interval"))?;
    if every.is_none() { Ok(None) } else { info::interval(&every, ", and None").map(Some) }
}

impl Port for PythonPort {
    type Header = PythonHeader;

    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut PythonHeader>,
        queue: PortQueue,
    ) {
        self.on_packet("on_arrival", (now, size), header, queue);
    }

    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut PythonHeader>,
        queue: PortQueue,
    ) {
        self.on_packet("on_departure", (now, size), header, queue);
    }

    fn next_timer(&self) -> Time {
        self.next
    }

    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        let every = self.call("Port.on_interval", |object| {
            let py = object.py();
            let waiting = (queue.bytes.get(), queue.packets);
            object.call_method1(intern!(py, "on_interval"), (now.secs(), waiting))?;
            interval(object)
        });
        // After a fault the clock goes on as it was, to the run's next look.
        if let Some(every) = every {
            self.every = every;
        }
        self.next = self.every.map_or(Time::NEVER, |every| now + every.max(Duration::from_ps(1)));
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        self.call("Port.on_rate_change", |object| {
            object.call_method1("on_rate_change", (rate.throughput().get(),)).map(drop)
        });
    }

    fn reason(&self) -> Reason {
        let figures = self.call("Port.figures", figures::of).unwrap_or_default();
        Reason::new("what the port in Python has set", figures)
    }

    fn fault(&self) -> Option<String> {
        self.fault.message().or_else(|| self.law.fault.message())
    }
}
