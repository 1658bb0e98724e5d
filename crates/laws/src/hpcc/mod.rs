//! HPCC, High Precision Congestion Control (Li et al., SIGCOMM 2019).
//!
//! Ports stamp their byte count and queue into each packet (in-band network telemetry, INT), and
//! receivers return the stamps. A sender computes from them how much of each link is in use, and
//! sets its window by the most used link. Units: network-layer bytes, seconds, bytes per second.
//!
//! # Port
//! - stamps a departing packet with the link's speed `B`, the time `ts`, the bytes sent before,
//!   `txBytes`, and the bytes in the queue behind it, `qlen`.
//!
//! # Sender (algorithm 1), for each acknowledgement
//! - each hop, from its stamp and the one before:
//!   `u = min(qlen, qlen') / (B T) + (txBytes - txBytes') / (ts - ts') / B`.
//! - for the hop with the largest `u`, with `tau = min(ts - ts', T)`: `U = (1 - tau / T) U + (tau /
//!   T) u`, 1 at first.
//! - `W = Wc / (U / eta) + W_AI` if `U >= eta` or the last `max_stage` RTTs only added; otherwise
//!   `W = Wc + W_AI`. `W` is at most the bandwidth-delay product of the sender's own link, `B_NIC
//!   T`.
//! - `Wc = W` once an RTT: all acknowledgements of a round start from the same `Wc`, so that the
//!   source does not react twice to the same queue.
//! - starts with `W = B_NIC T`, paced at `W / T`; `W_AI = B_NIC T (1 - eta) / N` for up to `N`
//!   flows on a link without a queue.
//!
//! # Equilibrium
//! `n` flows with `W_AI` each and `sum W` in all: `U = eta / (1 - n W_AI / sum W)`. One flow alone
//! on a link as fast as its own stays at `eta`, and there is no queue while `n < N`.
//!
//! # Deliberate differences
//! - `T` is the smallest RTT measured, unless `base_rtt` sets it. The paper sets one value for a
//!   data centre.
//! - Speeds below 25 Gbit/s have longer ticks, and links of any rate can be stated: see [`header`].
//! - The top bit of the path ID marks stamps on their way back, which ports do not change. In the
//!   paper acknowledgements are packets of another kind.
//! - With more than five hops the last five count: a sixth stamp overwrites the first, and so on.
//!   Here the sender's own queue is the first hop, so in a fat tree the sixth hop's stamp replaces
//!   it. The authors' simulator ignores such packets.
//! - While a loss is repaired, cumulative acknowledgements stand still, and an RTT ends by time. In
//!   the paper's network switches lose nothing, so this case does not occur.
//! - If two stamps are more than half of a counter's range apart by the sender's clock, the
//!   measurement restarts.
//! - The paper's network loses no packets. Here losses, for example at a bottleneck that takes no
//!   part, cap the rate (`after_loss`).
//! - A packet may be sent while less than `W` is outstanding, as in the authors' simulator:
//!   fractions of a packet are used too.

pub mod header;
mod invariants;
mod port;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use header::{HopStamp, HpccHeader};
pub use port::HpccPort;
pub use sink::HpccSink;
pub use source::HpccSource;

use alloc::vec;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration};

use crate::law::{
    FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo, LinkContext, MAX_HEADER,
    Named, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part, Size};
use crate::paced::AFTER_LOSS;
use crate::reason::Figure;
use crate::trust::Trust;
use header::{HEADER_LEN, PLACES};

/// HPCC with its parameters.
#[derive(Clone, Debug)]
pub struct Hpcc {
    options: Options,
    eta: f64,
    max_stage: u32,
    flows: f64,
    base_rtt: Duration,
    initial_window: Option<Size>,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "eta",
        kind: OptionKind::Number(0.01, 1.0),
        default: "0.95",
        part: Part::Source,
        doc: "share of a link that is the target. SIGCOMM 2019.",
    },
    OptionSpec {
        name: "max_stage",
        kind: OptionKind::Number(0.0, 1000.0),
        default: "5",
        part: Part::Source,
        doc: "RTTs in a row that only add before the window is multiplied. SIGCOMM 2019; the \
              authors' simulator ships with 0.",
    },
    OptionSpec {
        name: "flows",
        kind: OptionKind::Number(1.0, 1e9),
        default: "100",
        part: Part::Source,
        doc: "N, flows that a link is to bear without a queue; a flow adds (1 - eta) / N of what \
              its own link holds each RTT. 100 comes near the 80 bytes an RTT of SIGCOMM 2019.",
    },
    OptionSpec {
        name: "base_rtt",
        kind: OptionKind::Time,
        default: "0 s",
        part: Part::Source,
        doc: "T, the RTT without queueing; 0 for the smallest measured.",
    },
    OptionSpec {
        name: "initial_window",
        kind: OptionKind::Size(Some("line")),
        default: "line",
        part: Part::Source,
        doc: "window at first; \"line\": what the sender's own link holds, B_NIC T (SIGCOMM \
              2019), or ten packets until T is known.",
    },
    AFTER_LOSS,
];

impl Named for Hpcc {
    const INFO: LawInfo = LawInfo {
        name: "hpcc",
        title: "HPCC",
        summary: "High Precision Congestion Control: routers stamp what they sent and what waits, senders work out the rest",
        explanation: include_str!("explain.md"),
        operations: "1 addition",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Hpcc, OptionError> {
        Ok(Hpcc {
            options: o.clone(),
            eta: o.number("eta"),
            max_stage: o.number("max_stage") as u32,
            flows: o.number("flows"),
            base_rtt: o.time("base_rtt"),
            initial_window: o.size("initial_window"),
        })
    }
}

impl Law for Hpcc {
    type Header = HpccHeader;
    type Source = HpccSource;
    type Port = HpccPort;
    type Sink = HpccSink;

    fn source(&self, flow: &FlowContext) -> HpccSource {
        HpccSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<HpccPort> {
        Some(HpccPort::new(link))
    }
    fn sink(&self, _: &FlowContext) -> Option<HpccSink> {
        Some(HpccSink::default())
    }
    fn properties(&self) -> Properties {
        Properties { most_ports: Some(PLACES), ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = HpccHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = HpccHeader>, &'static str> {
        Err("its ports grant nothing; each sender works its window out from what they measure")
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = HpccHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Hpcc {
    type Header = HpccHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }
    fn encode(&self, header: &HpccHeader, _packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        HEADER_LEN
    }
    fn decode(&self, bytes: &[u8], _packet: Bytes) -> Result<HpccHeader, HeaderError> {
        HpccHeader::from_bytes(bytes)
    }
    /// The header is kept as it is on the wire, so nothing is rounded.
    fn quantise(&self, header: HpccHeader, _packet: Bytes) -> HpccHeader {
        header
    }
    fn fields(&self, header: &HpccHeader) -> Vec<Figure> {
        let mut fields = vec![
            Figure::one("nHop", f64::from(header.hops())),
            Figure::one("pathID", f64::from(header.path())),
            Figure::one("returning", f64::from(u8::from(header.returning()))),
        ];
        for (_, stamp) in header.stamps() {
            fields.extend([
                Figure::rate("B", stamp.rate()),
                Figure::seconds("TS", stamp.ts()),
                Figure::bytes("txBytes", stamp.tx_bytes()),
                Figure::bytes("qLen", stamp.queue()),
            ]);
        }
        fields
    }
}
