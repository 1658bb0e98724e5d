//! stub, replaced by the helper
use crate::law::*;
use crate::options::*;
use ratewire_units::{Bytes, Throughput, Time};
/// stub
#[derive(Clone, Debug)]
pub struct Cubic;
/// stub
#[derive(Clone, Debug)]
pub struct CubicSource {
    mss: f64,
    window: f64,
    ssthresh: f64,
}
impl Law for Cubic {
    type Header = NoHeader;
    type Source = CubicSource;
    type Port = NoPort;
    type Sink = NoSink;
    const INFO: LawInfo =
        LawInfo { name: "cubic", title: "Cubic", summary: "", explanation: "", options: &[] };
    fn from_options(_: &Options) -> Result<Self, OptionError> {
        Ok(Cubic)
    }
    fn source(&self, f: &FlowContext) -> CubicSource {
        CubicSource { mss: f.mss.as_f64(), window: 10.0 * f.mss.as_f64(), ssthresh: 1e18 }
    }
    fn port(&self, _: &LinkContext) -> Option<NoPort> {
        None
    }
    fn sink(&self, _: &FlowContext) -> Option<NoSink> {
        None
    }
}
impl Source for CubicSource {
    type Header = NoHeader;
    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, a: &Acked, _: Option<&NoHeader>) {
        if a.in_recovery || a.limited {
            return;
        }
        if self.window < self.ssthresh {
            self.window += a.bytes.as_f64();
        } else {
            self.window += self.mss * a.bytes.as_f64() / self.window;
        }
    }
    fn on_congestion(&mut self, c: &Congestion) {
        self.ssthresh = (c.in_flight.as_f64() / 2.0).max(2.0 * self.mss);
        self.window = if c.signal == Signal::Timeout { self.mss } else { self.ssthresh };
    }
    fn on_recovered(&mut self, _: Time) {}
    fn window(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }
    fn pacing(&self) -> Option<Throughput> {
        None
    }
}
