//! A law outside the workspace, with a header that routers write.
//!
//! Each router offers all flows the same rate. It adjusts the rate until its link is nearly full
//! and its queue empty.
//!
//! `cargo run --release -p ratewire --example own_law`

use ratewire::laws::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use ratewire::laws::{
    Acked, Congestion, Figure, FlowContext, HeaderError, HeaderFormat, Law, LawInfo, LinkContext,
    Named, PackedFormat, PackedHeader, Port, PortQueue, Properties, Reason, Sending, Sink, Source,
};
use ratewire::units::{Bytes, Duration, Rate, Throughput, Time};
use ratewire::{Error, Experiment};

/// The congestion header: the least rate that routers on the route offer.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// Rate in bytes per second.
    rate: f64,
    /// Whether the header is on its way back to the sender, where routers do not change it.
    returned: bool,
}

impl PackedHeader for Offer {
    const LEN: usize = 9;

    fn pack(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.rate.to_be_bytes());
        bytes[8] = self.returned.into();
    }

    fn unpack(bytes: &[u8]) -> Result<Offer, HeaderError> {
        let [rate @ .., returned] = bytes else { return Err(HeaderError::new("it is empty")) };
        let rate = rate.try_into().map_err(|_| HeaderError::new("it is not nine bytes long"))?;
        Ok(Offer { rate: f64::from_be_bytes(rate), returned: *returned == 1 })
    }
}

/// The law with its options.
#[derive(Debug)]
struct Offers {
    /// Share of each link's rate that flows should fill.
    fill: f64,
}

impl Named for Offers {
    const INFO: LawInfo = LawInfo {
        name: "offers",
        title: "Offers",
        summary: "each router offers all flows one rate",
        explanation: "Each 20 ms a router raises its offer by a tenth of its link's free share.\n",
        operations: "",
        options: &[OptionSpec {
            name: "fill",
            kind: OptionKind::Number(0.1, 1.0),
            default: "0.95",
            part: Part::Port,
            doc: "share of a link's rate that flows are to fill.",
        }],
    };

    fn from_options(options: &Options) -> Result<Offers, OptionError> {
        Ok(Offers { fill: options.number("fill") })
    }
}

impl Law for Offers {
    type Header = Offer;
    type Source = Sender;
    type Port = Router;
    type Sink = Receiver;

    fn source(&self, flow: &FlowContext) -> Sender {
        let own_link = flow.line_rate.throughput().get();
        Sender { mss: flow.mss, own_link, rate: own_link / 100.0 }
    }

    fn port(&self, link: &LinkContext) -> Option<Router> {
        let target = self.fill * link.rate.throughput().get();
        let end = Time::ZERO + INTERVAL;
        Some(Router { fill: self.fill, target, offer: target / 20.0, arrived: 0.0, end })
    }

    fn sink(&self, _flow: &FlowContext) -> Option<Receiver> {
        Some(Receiver { last: None })
    }

    fn headers(&self) -> Option<&dyn HeaderFormat<Header = Offer>> {
        Some(PackedFormat::of())
    }

    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
}

/// Least rate of a sender, in bytes per second, so that it gets new offers. A sender whose own
/// link is slower fills that link.
const LEAST_RATE: f64 = 1000.0;

/// Sends at the offer of the last acknowledgement. Rates are in bytes per second.
#[derive(Debug)]
struct Sender {
    mss: Bytes,
    own_link: f64,
    rate: f64,
}

impl Source for Sender {
    type Header = Offer;

    fn on_send(&mut self, _packet: &Sending) -> Option<Offer> {
        Some(Offer { rate: self.own_link, returned: false })
    }

    fn on_ack(&mut self, _ack: &Acked, header: Option<&Offer>) {
        if let Some(offer) = header {
            self.rate = offer.rate.max(LEAST_RATE).min(self.own_link);
        }
    }

    fn on_congestion(&mut self, _congestion: &Congestion) {}

    fn window(&self) -> Bytes {
        self.mss * 1000
    }

    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.rate))
    }

    fn reason(&self) -> Reason {
        // The last router that changed the header made the least offer, so it binds. A law of which
        // that is not true calls `Reason::bound` with `Bound::Hop` or `Bound::Port`.
        Reason::new("sends at the least offer on its path", [Figure::rate("rate", self.rate)])
    }
}

/// Time between two adjustments of a router's offer.
const INTERVAL: Duration = Duration::from_millis(20);

/// Offers one rate to all flows. Rates are in bytes per second.
#[derive(Debug)]
struct Router {
    fill: f64,
    target: f64,
    offer: f64,
    /// Bytes that arrived in this interval.
    arrived: f64,
    end: Time,
}

impl Port for Router {
    type Header = Offer;

    fn on_arrival(&mut self, _: Time, size: Bytes, header: Option<&mut Offer>, _: PortQueue) {
        self.arrived += size.as_f64();
        if let Some(offer) = header.filter(|offer| !offer.returned) {
            offer.rate = offer.rate.min(self.offer);
        }
    }

    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut Offer>, _: PortQueue) {}

    fn next_timer(&self) -> Time {
        self.end
    }

    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        // The queue should drain within 0.5 s.
        let free = self.target - self.arrived / INTERVAL.secs() - queue.bytes.as_f64() / 0.5;
        if self.target > 0.0 {
            let change = (0.1 * free / self.target).clamp(-0.5, 0.5);
            self.offer = (self.offer * (1.0 + change)).clamp(0.001 * self.target, self.target);
        }
        self.arrived = 0.0;
        self.end = now + INTERVAL;
    }

    fn on_rate_change(&mut self, _: Time, rate: Rate) {
        self.target = self.fill * rate.throughput().get();
    }

    fn reason(&self) -> Reason {
        Reason::new("the offer grows with what is free", [Figure::rate("offer", self.offer)])
    }
}

/// Returns the offer that arrived last.
#[derive(Debug)]
struct Receiver {
    last: Option<Offer>,
}

impl Sink for Receiver {
    type Header = Offer;

    fn on_data(&mut self, _: Time, header: &Offer) {
        self.last = Some(Offer { returned: true, ..*header });
    }

    fn on_ack(&mut self, _: Time) -> Option<Offer> {
        self.last
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-flows.toml");
    let experiment = Experiment::load(path)?.register::<Offers>()?;
    let results = experiment.laws(["offers", "xcp"]).run_with(&())?;
    for run in results.runs() {
        let link = run.link("bottleneck")?;
        println!(
            "{:6} utilisation {:.3}, queue {:.1} packets on average, Jain's index {:.3}",
            run.law(),
            link.utilisation,
            link.queue_packets_mean,
            run.summary().jain_index.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
