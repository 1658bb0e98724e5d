//! The sender's part: an object of the law's class for each flow.

use std::fmt;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ratewire::laws::{self, Acked, FlowContext, Reason, Signal, Source};
use ratewire::units::{Bytes, Duration, Throughput, Time};

use super::fault::Fault;
use super::seen::{Ack, Congestion, Flow, Interval, Sending};
use super::{ConfiguredLaw, PythonHeader, figures, info};

/// Interval of a law that works once a round trip, before there is one.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);

/// When a law's `on_interval` is called.
#[derive(Clone, Copy, Debug)]
enum Every {
    Seconds(Duration),
    RoundTrip,
}

/// One flow's sender.
pub struct PythonSource {
    law: Arc<ConfiguredLaw>,
    /// `None` if it could not be made.
    object: Option<Py<PyAny>>,
    mss: Bytes,
    /// What the object sends by, as it was after the last call.
    window: Bytes,
    pace: Option<f64>,
    every: Option<Every>,
    next: Time,
    begun: Option<Time>,
    sums: Sums,
    fault: Fault,
}

/// Sums over an interval.
#[derive(Debug, Default)]
struct Sums {
    interval: Interval,
    rtt_sum: f64,
    rtt_count: u64,
}

impl fmt::Debug for PythonSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonSource")
            .field("window", &self.window)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

impl PythonSource {
    pub fn new(law: &Arc<ConfiguredLaw>, flow: &FlowContext) -> PythonSource {
        let mut source = PythonSource {
            law: law.clone(),
            object: None,
            mss: flow.mss,
            window: flow.mss,
            pace: None,
            every: None,
            next: Time::NEVER,
            begun: None,
            sums: Sums::default(),
            fault: Fault::default(),
        };
        Python::attach(|py| {
            if let Err(error) = source.start(py, flow) {
                source.fault.raise("start", error);
            }
        });
        source
    }

    fn start(&mut self, py: Python<'_>, flow: &FlowContext) -> PyResult<()> {
        let class = self.law.info.get().class.bind(py);
        let object = class.call0()?;
        info::set(&object, &self.law.values, flow.mss.as_f64())?;
        self.object = Some(object.clone().unbind());
        object.call_method1(intern!(py, "start"), (Flow::from(flow),))?;
        // A flow may choose its interval as it starts.
        if self.law.what.on_interval {
            let every = object.getattr("interval")?;
            self.every = Some(match every.extract::<&str>() {
                Ok("rtt") => Every::RoundTrip,
                _ => Every::Seconds(info::interval(&every, ", and \"rtt\"")?),
            });
            self.next = Time::ZERO;
        }
        self.read(&object)
    }

    /// Reads what the object sends by.
    #[inline]
    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let given = object.getattr(intern!(py, "window"))?;
        let Ok(window) = given.extract::<f64>() else {
            self.fault.note(no_number(&given, "`window`", "a number of bytes, 0 or more"));
            return Ok(());
        };
        let given = object.getattr(intern!(py, "pace"))?;
        let Ok(pace) = given.extract::<Option<f64>>() else {
            let allowed = "None, and a number of bytes per second, 0 or more";
            self.fault.note(no_number(&given, "`pace`", allowed));
            return Ok(());
        };
        if window >= 0.0 {
            self.window = Bytes::new((window + 0.5) as u64).max(self.mss);
        } else {
            self.fault.note(format!("`window` is {window} bytes: allowed is 0 or more"));
        }
        match pace {
            Some(pace) if !(0.0..f64::INFINITY).contains(&pace) => self
                .fault
                .note(format!("`pace` is {pace} bytes per second: allowed is 0 or more, finite")),
            _ => {
                self.pace = pace;
                if pace.is_none() && self.window > laws::MAX_UNPACED_WINDOW {
                    self.refuse_window(window);
                }
            }
        }
        Ok(())
    }

    /// Notes a window that is too large without a pace, and sends a packet at a time.
    #[cold]
    fn refuse_window(&mut self, window: f64) {
        match laws::excess("`window` is", window, "`pace`") {
            Some(wrong) if window.is_infinite() => self.fault.note(wrong),
            Some(wrong) => self.fault.note_excess(wrong),
            None => {}
        }
        self.window = self.mss;
    }

    /// Calls a method, and reads what the object then sends by. After a fault nothing is called.
    #[inline]
    fn call<T>(
        &mut self,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.fault.is_there() {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.as_ref()?.bind(py).clone();
            let done = call(&object).and_then(|done| self.read(&object).map(|()| done));
            done.map_err(|error| self.fault.raise(method, error)).ok()
        })
    }

    /// The figures that the object gives.
    fn own_figures(&self) -> Vec<laws::Figure> {
        let Some(object) = self.object.as_ref().filter(|_| !self.fault.is_there()) else {
            return Vec::new();
        };
        let given = Python::attach(|py| figures::of(object.bind(py)));
        given.map_err(|error| self.fault.raise("figures", error)).unwrap_or_default()
    }

    fn add(&mut self, acked: &Acked) {
        let Sums { interval, rtt_sum, rtt_count } = &mut self.sums;
        interval.acks += 1;
        interval.acked = interval.acked.saturating_add(acked.bytes.get());
        interval.lost = interval.lost.saturating_add(acked.lost.get());
        interval.marked += u64::from(acked.marked);
        interval.in_flight = acked.in_flight.get();
        interval.srtt = Some(acked.srtt.secs());
        interval.limited |= acked.limited;
        interval.in_recovery = acked.in_recovery;
        if let Some(rtt) = acked.rtt.map(Duration::secs) {
            *rtt_sum += rtt;
            *rtt_count += 1;
            interval.rtt_min = Some(interval.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
    }
}

/// What is wrong with an attribute that is no number.
#[cold]
fn no_number(given: &Bound<'_, PyAny>, name: &str, allowed: &str) -> String {
    let given = given.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
    format!("{name} is {given}: allowed is {allowed}")
}

impl Source for PythonSource {
    type Header = PythonHeader;

    fn on_send(&mut self, sending: &laws::Sending) -> Option<PythonHeader> {
        if !self.law.what.on_send {
            return None;
        }
        let bytes: Option<Vec<u8>> = self.call("on_send", |object| {
            let py = object.py();
            let header = object.call_method1(intern!(py, "on_send"), (Sending::from(sending),))?;
            header.extract::<Option<Vec<u8>>>()
        })?;
        match PythonHeader::of(&bytes?, self.law.what.header_length) {
            Ok(header) => Some(header).filter(|_| self.law.what.header_length > 0),
            Err(wrong) => {
                self.fault.note(format!("`on_send` returned {wrong}"));
                None
            }
        }
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&PythonHeader>) {
        if self.every.is_some() {
            self.add(acked);
        }
        if !self.law.what.on_ack {
            return;
        }
        let length = self.law.what.header_length;
        self.call("on_ack", |object| {
            let py = object.py();
            let header = header.map(|header| PyBytes::new(py, &header.0[..length]).unbind());
            object.call_method1(intern!(py, "on_ack"), (Ack::new(acked, header),)).map(drop)
        });
    }

    fn on_congestion(&mut self, congestion: &laws::Congestion) {
        let method = match congestion.signal {
            Signal::Loss => "on_loss",
            Signal::Mark => "on_mark",
            Signal::Timeout => "on_timeout",
        };
        self.call(method, |object| {
            object.call_method1(method, (Congestion::from(congestion),)).map(drop)
        });
    }

    fn on_recovered(&mut self, now: Time) {
        if self.law.what.on_recovered {
            self.call("on_recovered", |object| {
                object.call_method1("on_recovered", (now.secs(),)).map(drop)
            });
        }
    }

    fn on_spurious(&mut self, now: Time) {
        if self.law.what.on_spurious {
            self.call("on_spurious", |object| {
                object.call_method1("on_spurious", (now.secs(),)).map(drop)
            });
        }
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        const METHOD: &str = "slow_start_threshold";
        let has_one = self.law.what.slow_start_threshold && !self.fault.is_there();
        let object = self.object.as_ref().filter(|_| has_one)?;
        let given =
            Python::attach(|py| object.bind(py).call_method0(METHOD)?.extract::<Option<f64>>());
        match given {
            Ok(Some(bytes)) if bytes >= 0.0 => Some(Bytes::new((bytes + 0.5) as u64)),
            Ok(Some(bytes)) => {
                self.fault.note(format!("`{METHOD}` returned {bytes}: allowed is 0 or more"));
                None
            }
            Ok(None) => None,
            Err(error) => {
                self.fault.raise(METHOD, error);
                None
            }
        }
    }

    fn next_timer(&self) -> Time {
        self.next
    }

    fn on_timer(&mut self, now: Time) {
        let Some(every) = self.every else { return };
        let wait = match every {
            Every::Seconds(wait) => wait,
            Every::RoundTrip => {
                let srtt = self.sums.interval.srtt.map(Duration::from_secs_f64);
                srtt.filter(|srtt| !srtt.is_zero()).unwrap_or(FIRST_INTERVAL)
            }
        };
        self.next = now + wait;
        // The first call only says when the flow began.
        let Some(begun) = self.begun.replace(now) else { return };
        let Sums { interval, rtt_sum, rtt_count } = std::mem::take(&mut self.sums);
        self.sums.interval.srtt = interval.srtt;
        let rtt_mean = (rtt_count > 0).then(|| rtt_sum / rtt_count as f64);
        let seconds = now.since(begun).secs();
        let interval = Interval { now: now.secs(), seconds, rtt_mean, ..interval };
        self.call("on_interval", |object| {
            let py = object.py();
            object.call_method1(intern!(py, "on_interval"), (interval,)).map(drop)
        });
    }

    #[inline]
    fn window(&self) -> Bytes {
        self.window
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.pace.map(Throughput::new)
    }

    fn reason(&self) -> Reason {
        use ratewire::laws::Figure;
        let mut figures = vec![Figure::bytes("window", self.window.as_f64())];
        figures.extend(self.pace.map(|pace| Figure::rate("pace", pace)));
        figures.extend(self.own_figures());
        Reason::new("what the law in Python has set", figures)
    }

    fn fault(&self) -> Option<String> {
        self.fault.message().or_else(|| self.law.fault.message())
    }
}
