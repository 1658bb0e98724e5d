//! ABC, Accel-Brake Control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan, NSDI 2020).
//!
//! Each packet carries one bit. Routers turn the bit from accelerate to brake so often that senders
//! together send at a target rate. The law is made for wireless links, whose capacity changes
//! faster than a router could work out rates for its flows. Units: packets at the sender; bytes,
//! seconds, bytes per second at the port.
//!
//! # Port, at each departure
//! - target rate `tr = eta mu - (mu / delta) max(x - d_t, 0)`, `mu` the link's capacity,
//!   `x = q / mu` the delay in the queue `q`; that is `eta mu - max(q - mu d_t, 0) / delta`.
//! - share to accelerate `f = min(tr / (2 cr), 1)`, `cr` the rate of departures over the last
//!   `window`.
//! - `token = min(token + f, token_limit)`; an accelerating packet stays one if `token > 1`, which
//!   costs a token; otherwise it leaves with brake. A brake set upstream stays.
//!
//! # Receiver
//! - echoes on each acknowledgement the number of accelerating and of braking packets.
//!
//! # Sender, for each packet acknowledged
//! - accelerate: `w += 1 + 1/w`; brake: `w += -1 + 1/w`. With a share `f` of the packets
//!   accelerating the next RTT has `2 f` times as many: senders arrive at `tr` one RTT later. `1/w`
//!   adds one packet an RTT to each flow, and so brings them to equal shares.
//! - for bottlenecks that do not take part, a second window, CUBIC's, answers losses and marks. The
//!   smaller of the two counts. Neither grows beyond twice the outstanding data.
//!
//! # Header
//! One bit, which takes no byte: ABC gives the two values of ECN-capable packets (RFC 3168) to
//! accelerate and brake, and the echo rides on the bits that acknowledgements have for ECN. There
//! is nothing to encode, and packets are as long as those of the TCPs.
//!
//! # Steady state
//! `delta > 2/3 RTT` is stable (the paper's theorem): RTTs up to 200 ms with the default. `N` flows
//! with `W` packets in all add `N` an RTT, so `2 f = 1 - N / W`. While the queue is busy `cr = mu`,
//! so it settles at `x = d_t + delta (N / W - (1 - eta))`. If that is below `d_t`, the queue is
//! empty and the utilisation is `eta / (1 - N / W)`.
//!
//! There are then `N` more brakes than accelerates each RTT, and the token bucket spaces them by `W
//! / N` packets. If flows send in trains and nothing disturbs them, each flow can get one brake,
//! whatever its share. Shares then do not become equal. Measured with three flows that join at 100
//! Mbit/s and 48 ms: 18, 58 and 20 Mbit/s after five minutes, and 29, 33 and 33 with 1 % of other
//! packets in between.
//!
//! # Deliberate differences
//! - If the capacity varies, a port does not know `mu`. It measures `mu` from packets that left
//!   back to back, over the same window (`capacity = "measured"`). The authors' emulator counts
//!   unused opportunities to send too.
//! - The window over which rates are measured is never shorter than the time of ten full packets at
//!   the link's rate: a count of two or three is too coarse. The authors' code has 20 ms at 12
//!   Mbit/s.
//! - Departures are summed in sixteen slots, not kept in a list, and `cr` is the bytes between two
//!   departures over the time between them; the authors' code divides by the window's nominal
//!   length.
//! - CUBIC runs without HyStart++, which takes varying capacity for a full queue. Beyond twice the
//!   outstanding data it stops growing, instead of being cut back.

mod invariants;
mod meter;
mod port;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use port::AbcPort;
pub use sink::AbcSink;
pub use source::AbcSource;

use alloc::vec;
use alloc::vec::Vec;

use ratewire_units::{Duration, Rate};

use crate::law::{FlowContext, HeaderFormat, Invariants, Law, LawInfo, LinkContext, Named};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use crate::reason::Figure;
use crate::tcp::cubic::Cubic;
use crate::trust::Trust;

/// Content of an ABC packet's ECN bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbcHeader {
    /// On a data packet.
    Data {
        /// Whether the bit is accelerate; otherwise it is brake.
        accelerate: bool,
    },
    /// On an acknowledgement: counts of the packets that it acknowledges.
    Echo {
        /// Accelerating packets.
        accelerated: u32,
        /// Braking packets.
        braked: u32,
    },
}

/// ABC with its parameters.
#[derive(Clone, Debug)]
pub struct Abc {
    cubic: Option<Cubic>,
    additive: f64,
    eta: f64,
    delta: f64,
    allowed_delay: f64,
    token_limit: f64,
    window: Duration,
    capacity: Option<Rate>,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "additive",
        kind: OptionKind::Number(0.0, 100.0),
        default: "1",
        part: Part::Source,
        doc: "packets added each RTT, which makes shares equal; 0 leaves them as they are. \
              NSDI 2020: 1.",
    },
    OptionSpec {
        name: "fallback",
        kind: OptionKind::Word(&["cubic", "none"]),
        default: "cubic",
        part: Part::Source,
        doc: "for bottlenecks that do not take part. \"cubic\": a second window, CUBIC's, that \
              hears of losses and marks; \"none\": they are ignored.",
    },
    OptionSpec {
        name: "eta",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0.98",
        part: Part::Port,
        doc: "share of the capacity that is the target while the queue is short. NSDI 2020.",
    },
    OptionSpec {
        name: "delta",
        kind: OptionKind::Time,
        default: "133 ms",
        part: Part::Port,
        doc: "time in which to drain a queue; stable above 2/3 RTT. NSDI 2020.",
    },
    OptionSpec {
        name: "queue_delay",
        kind: OptionKind::Time,
        default: "50 ms",
        part: Part::Port,
        doc: "delay in the queue that is let be, d_t. 50 ms in the authors' experiments (their \
              repository).",
    },
    OptionSpec {
        name: "token_limit",
        kind: OptionKind::Number(2.0, 1e6),
        default: "5",
        part: Part::Port,
        doc: "most tokens that can be saved up, in packets; a packet needs more than one. The authors' code.",
    },
    OptionSpec {
        name: "window",
        kind: OptionKind::Time,
        default: "20 ms",
        part: Part::Port,
        doc: "time over which rates are measured, or ten packets of 1500 bytes at the link's \
              rate where that is longer. The authors' code; choose a fraction of the RTT.",
    },
    OptionSpec {
        name: "capacity",
        kind: OptionKind::Rate(Some("measured")),
        default: "measured",
        part: Part::Port,
        doc: "capacity it believes in; \"measured\" is the link's rate at first, then what left \
              the busy queue in the window before.",
    },
];

impl Named for Abc {
    const INFO: LawInfo = LawInfo {
        name: "abc",
        title: "ABC",
        summary: "Accel-Brake Control: routers tell each packet's sender to send one packet more or one less",
        explanation: include_str!("explain.md"),
        operations: "6 additions, 3 multiplications, 1 division",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Abc, OptionError> {
        for name in ["delta", "window"] {
            if o.time(name) < Duration::from_micros(1) {
                return Err(OptionError::new(name, "must be 1 us or more"));
            }
        }
        let cubic = if o.word("fallback") == "cubic" {
            let mut options = Options::defaults(Cubic::INFO.options);
            options.set("profile", "rfc")?;
            options.set("hystart", "false")?;
            Some(Cubic::from_options(&options)?)
        } else {
            None
        };
        Ok(Abc {
            cubic,
            additive: o.number("additive"),
            eta: o.number("eta"),
            delta: o.time("delta").secs(),
            allowed_delay: o.time("queue_delay").secs(),
            token_limit: o.number("token_limit"),
            window: o.time("window"),
            capacity: o.rate("capacity"),
        })
    }
}

impl Law for Abc {
    type Header = AbcHeader;
    type Source = AbcSource;
    type Port = AbcPort;
    type Sink = AbcSink;

    fn source(&self, flow: &FlowContext) -> AbcSource {
        AbcSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<AbcPort> {
        Some(AbcPort::new(self, link))
    }
    fn sink(&self, _: &FlowContext) -> Option<AbcSink> {
        Some(AbcSink::default())
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = AbcHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = AbcHeader>, &'static str> {
        Err(
            "its ports say faster or slower, and no packet says how fast its flow is or how long its round trip",
        )
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = AbcHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Abc {
    type Header = AbcHeader;

    fn fields(&self, header: &AbcHeader) -> Vec<Figure> {
        match *header {
            AbcHeader::Data { accelerate } => {
                vec![Figure::one("accelerate", f64::from(u8::from(accelerate)))]
            }
            AbcHeader::Echo { accelerated, braked } => vec![
                Figure::one("accelerated", f64::from(accelerated)),
                Figure::one("braked", f64::from(braked)),
            ],
        }
    }
}
