//! A law as another crate would write it: each port offers all flows one rate, senders take it.

use std::vec::Vec;

use ratewire_laws::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use ratewire_laws::{
    Acked, Congestion, Figure, FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo,
    LinkContext, Named, PackedFormat, PackedHeader, Port, PortQueue, Promises, Properties, Reason,
    Sending, Sink, Source,
};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

/// The least rate that ports on the path offer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Bytes per second.
    pub rate: f64,
    /// On its way back: ports leave it alone.
    pub returned: bool,
}

impl PackedHeader for Offer {
    const LEN: usize = 9;

    fn pack(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.rate.to_be_bytes());
        bytes[8] = self.returned.into();
    }
    fn unpack(bytes: &[u8]) -> Result<Offer, HeaderError> {
        let rate = f64::from_be_bytes(bytes[..8].try_into().expect("eight of nine bytes"));
        match bytes[8] {
            returned @ (0 | 1) if rate >= 0.0 => Ok(Offer { rate, returned: returned == 1 }),
            _ => Err(HeaderError::new("no offer")),
        }
    }
    fn fields(&self) -> Vec<Figure> {
        Vec::from([Figure::rate("offer", self.rate)])
    }
}

/// The law with its parameters.
#[derive(Clone, Debug)]
pub struct Toy {
    gamma: f64,
}

impl Named for Toy {
    const INFO: LawInfo = LawInfo {
        name: "toy",
        title: "Toy",
        summary: "each port offers all flows one rate",
        explanation: "Toy\n\nR grows by half of what is left of gamma C each round trip of 100 ms.\n",
        operations: "",
        options: &[OptionSpec {
            name: "gamma",
            kind: OptionKind::Number(0.1, 1.0),
            default: "0.9",
            part: Part::Port,
            doc: "share of the capacity to fill.",
        }],
    };

    fn from_options(options: &Options) -> Result<Toy, OptionError> {
        Ok(Toy { gamma: options.number("gamma") })
    }
}

impl Law for Toy {
    type Header = Offer;
    type Source = ToySource;
    type Port = ToyPort;
    type Sink = ToySink;

    fn source(&self, flow: &FlowContext) -> ToySource {
        let line = flow.line_rate.throughput().get();
        ToySource { mss: flow.mss, line, rate: (line / 100.0).max(1.0) }
    }
    fn port(&self, link: &LinkContext) -> Option<ToyPort> {
        let capacity = self.gamma * link.rate.throughput().get();
        Some(ToyPort {
            gamma: self.gamma,
            capacity,
            rate: capacity / 20.0,
            bytes: 0.0,
            end: INTERVAL,
        })
    }
    fn sink(&self, _: &FlowContext) -> Option<ToySink> {
        Some(ToySink { last: None })
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = Offer>> {
        Some(PackedFormat::of())
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = Offer>> {
        Some(self)
    }
}

impl Invariants for Toy {
    type Header = Offer;

    fn promises(&self) -> Promises {
        Promises { pace_within_line: true, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[&[("gamma", "0.1")]]
    }
    fn returns(&self, header: &Offer) -> bool {
        header.returned
    }
}

/// Sends at the rate that came back last.
#[derive(Clone, Debug)]
pub struct ToySource {
    mss: Bytes,
    /// Rate of its own link, B/s.
    line: f64,
    /// B/s.
    rate: f64,
}

impl Source for ToySource {
    type Header = Offer;

    fn on_send(&mut self, _: &Sending) -> Option<Offer> {
        Some(Offer { rate: self.line, returned: false })
    }
    fn on_ack(&mut self, _: &Acked, header: Option<&Offer>) {
        if let Some(offer) = header {
            self.rate = offer.rate.max(1000.0).min(self.line);
        }
    }
    fn on_congestion(&mut self, _: &Congestion) {}
    fn window(&self) -> Bytes {
        self.mss * 1000
    }
    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.rate))
    }
    fn reason(&self) -> Reason {
        Reason::new("sends at the least offer on the path", [Figure::rate("rate", self.rate)])
    }
}

/// How long a port measures for.
const INTERVAL: Time = Time::from_ps(20_000_000_000);

/// `R`, moved by what is left of `gamma C` each interval.
#[derive(Clone, Debug)]
pub struct ToyPort {
    gamma: f64,
    /// `gamma C`, B/s.
    capacity: f64,
    /// `R`, B/s.
    rate: f64,
    /// Arrived in this interval.
    bytes: f64,
    end: Time,
}

impl Port for ToyPort {
    type Header = Offer;

    fn on_arrival(&mut self, _: Time, size: Bytes, header: Option<&mut Offer>, _: PortQueue) {
        self.bytes += size.as_f64();
        if let Some(offer) = header.filter(|offer| !offer.returned) {
            offer.rate = offer.rate.min(self.rate);
        }
    }
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut Offer>, _: PortQueue) {}
    fn next_timer(&self) -> Time {
        self.end
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        const RTT: f64 = 0.1;
        const SECONDS: f64 = 0.02;
        let arrived = self.bytes / SECONDS;
        let spare = self.capacity - arrived - 0.2 * queue.bytes.as_f64() / RTT;
        if self.capacity > 0.0 {
            let growth = (0.5 * SECONDS / RTT * spare / self.capacity).clamp(-0.5, 0.5);
            self.rate = (self.rate * (1.0 + growth)).clamp(0.001 * self.capacity, self.capacity);
        }
        self.bytes = 0.0;
        self.end = now + Duration::from_secs_f64(SECONDS);
    }
    fn on_rate_change(&mut self, _: Time, rate: Rate) {
        self.capacity = self.gamma * rate.throughput().get();
    }
    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("R", self.rate),
            Figure::rate("capacity", self.capacity),
            Figure::bytes("arrived", self.bytes),
        ];
        Reason::new("R grows with capacity - arrived", figures)
    }
}

/// Sends back what came last.
#[derive(Clone, Debug)]
pub struct ToySink {
    last: Option<Offer>,
}

impl Sink for ToySink {
    type Header = Offer;

    fn on_data(&mut self, _: Time, header: &Offer) {
        self.last = Some(Offer { returned: true, ..*header });
    }
    fn on_ack(&mut self, _: Time) -> Option<Offer> {
        self.last
    }
}
