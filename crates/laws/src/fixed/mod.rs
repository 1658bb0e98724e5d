//! No congestion control: a set rate, a set window, or both.
//!
//! The baseline for traffic that does not react to congestion, and the load generator for tests of
//! links and queues.

use ratewire_units::{Bytes, Rate, Throughput};

use crate::law::{
    Acked, Congestion, FlowContext, Invariants, Law, LawInfo, Named, NoHeader, NoPort, NoSink,
    Promises, Properties, Sending, Source,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part, Size};
use crate::reason::{Figure, Reason};

/// A set rate, a set window, or both.
#[derive(Clone, Debug)]
pub struct Fixed {
    rate: Option<Rate>,
    window: Option<Size>,
}

/// Sends at the set rate or window, whatever happens.
#[derive(Clone, Debug)]
pub struct FixedSource {
    rate: Option<Throughput>,
    window: Bytes,
}

impl Named for Fixed {
    const INFO: LawInfo = LawInfo {
        name: "fixed",
        title: "Fixed",
        summary: "no congestion control: a set rate, a set window, or both",
        explanation: "Fixed (no congestion control)\n\n\
            Sends at a set network-layer rate, or keeps a set window outstanding, whatever the\n\
            network says. Losses are still repaired. With neither set, it sends at the rate\n\
            of its own link.\n",
        operations: "",
        options: &[
            OptionSpec {
                name: "rate",
                kind: OptionKind::Rate(Some("none")),
                default: "none",
                part: Part::Source,
                doc: "network-layer rate to send at.",
            },
            OptionSpec {
                name: "window",
                kind: OptionKind::Size(Some("none")),
                default: "none",
                part: Part::Source,
                doc: "data that may be outstanding.",
            },
        ],
    };

    fn from_options(o: &Options) -> Result<Fixed, OptionError> {
        if o.rate("rate") == Some(Rate::ZERO) {
            return Err(OptionError::new("rate", "must be above 0: such a flow never sends"));
        }
        Ok(Fixed { rate: o.rate("rate"), window: o.size("window") })
    }
}

impl Law for Fixed {
    type Header = NoHeader;
    type Source = FixedSource;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> FixedSource {
        // With neither set, the sender is paced at its own link's rate. Otherwise an unlimited
        // window would put all its data on that link's queue at once.
        let rate = match (self.rate, self.window) {
            (None, None) => Some(flow.line_rate).filter(|rate| *rate != Rate::ZERO),
            (rate, _) => rate,
        };
        FixedSource {
            rate: rate.map(Rate::throughput),
            window: self.window.map_or(Bytes::MAX, |size| size.bytes(flow.mss)).max(flow.mss),
        }
    }
    fn properties(&self) -> Properties {
        Properties { reacts: false, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = NoHeader>> {
        Some(self)
    }
}

impl Invariants for Fixed {
    type Header = NoHeader;

    /// No promises: the law reacts to nothing, has only the limits that are set, and takes any
    /// window.
    fn promises(&self) -> Promises {
        Promises {
            equal_shares: false,
            any_speed: false,
            any_scale: false,
            bounded_window: false,
            ..Promises::default()
        }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[&[("rate", "12 Mbit/s")], &[("window", "0 B")]]
    }
}

impl Source for FixedSource {
    type Header = NoHeader;
    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, _: &Acked, _: Option<&NoHeader>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn window(&self) -> Bytes {
        self.window
    }
    fn pacing(&self) -> Option<Throughput> {
        self.rate
    }
    fn reason(&self) -> Reason {
        match self.rate {
            Some(rate) => Reason::new("rate as set", [Figure::rate("rate", rate.get())]),
            None => Reason::new("window as set", [Figure::bytes("window", self.window.as_f64())]),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::AnyLaw;
    use crate::law::{Draw, FlowContext};
    use ratewire_units::{Bytes, Rate};

    #[test]
    fn a_window_in_packets_is_in_packets_of_the_flow() {
        let flow = FlowContext {
            mss: Bytes::new(960),
            packet: Bytes::new(1000),
            line_rate: Rate::from_mbps(1),
            back_pressured: false,
            draw: Draw::new(0),
        };
        let law = AnyLaw::new("fixed", &[("window", "10 packets")]).unwrap();
        assert_eq!(law.source(&flow).window(), Bytes::new(9600));
        let law = AnyLaw::new("fixed", &[("rate", "8 Mbit/s")]).unwrap();
        assert_eq!(law.source(&flow).pacing().unwrap().get(), 1e6);
        assert!(AnyLaw::new("fixed", &[("rate", "0 bit/s")]).is_err());
    }
}
