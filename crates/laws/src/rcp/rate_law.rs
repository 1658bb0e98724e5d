//! RCP and PIQI-RCP, which differ only in the rule of a router's rate and in the sender's approach
//! to it.

use alloc::boxed::Box;
use core::marker::PhantomData;

use ratewire_units::{Bytes, Duration, Rate};

use super::header::{Formats, RcpHeader, RcpKind};
use super::{Ramp, RatePort, RcpSink, RcpSource, Rule};
use crate::junction::Divisible;
use crate::law::invariants::figure;
use crate::law::{
    Books, FlowContext, HeaderFormat, Invariants, Law, LawInfo, LinkContext, Named, Promises,
    Properties,
};
use crate::options::{OptionError, Options};
use crate::reason::Reason;
use crate::trust::Trust;

/// Differences between these laws.
pub trait Variant: Rule + Sized {
    /// See [`Named::INFO`].
    const INFO: LawInfo;
    /// The codes of its headers.
    const FORMATS: Formats;
    /// See [`Invariants::extremes`].
    const EXTREMES: &'static [&'static [(&'static str, &'static str)]];

    /// The rule of a port whose law has these options.
    fn new(options: &Options) -> Self;
    /// How a sender approaches the routers' rate; `None` to take it at once.
    fn ramp(_options: &Options) -> Option<Ramp> {
        None
    }
}

/// Shortest slot: shorter ones would cost more computing than the packets.
const SHORTEST_SLOT: Duration = Duration::from_micros(1);

/// A law of this kind with its parameters.
#[derive(Clone, Debug)]
pub struct RateLaw<V> {
    options: Options,
    formats: Formats,
    variant: PhantomData<V>,
}

impl<V: Variant> Named for RateLaw<V> {
    const INFO: LawInfo = V::INFO;

    fn from_options(o: &Options) -> Result<RateLaw<V>, OptionError> {
        for name in ["slot", "initial_rtt", "probe"] {
            if o.time(name) < SHORTEST_SLOT {
                return Err(OptionError::new(name, "must be 1 us or more: a timer runs on it"));
            }
        }
        if o.rate("desired") == Some(Rate::ZERO) {
            return Err(OptionError::new("desired", "must be above 0: such a flow never sends"));
        }
        Ok(RateLaw { options: o.clone(), formats: V::FORMATS, variant: PhantomData })
    }
}

impl<V: Variant> Law for RateLaw<V> {
    type Header = RcpHeader;
    type Source = RcpSource;
    type Port = RatePort<V>;
    type Sink = RcpSink;

    fn source(&self, flow: &FlowContext) -> RcpSource {
        RcpSource::new(&self.options, V::ramp(&self.options), flow)
    }
    fn port(&self, link: &LinkContext) -> Option<RatePort<V>> {
        Some(RatePort::new(V::new(&self.options), &self.options, link))
    }
    fn sink(&self, _: &FlowContext) -> Option<RcpSink> {
        Some(RcpSink::default())
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = RcpHeader>> {
        Some(&self.formats)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = RcpHeader>, &'static str> {
        Ok(&self.formats)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = RcpHeader>, &'static str> {
        Ok(&self.formats)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = RcpHeader>> {
        Some(self)
    }
}

impl<V: Variant> Invariants for RateLaw<V> {
    type Header = RcpHeader;

    fn promises(&self) -> Promises {
        Promises { pace_within_line: true, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        V::EXTREMES
    }
    fn returns(&self, header: &RcpHeader) -> bool {
        header.kind == RcpKind::Reply
    }
    fn books(&self) -> Option<Box<dyn Books<Header = RcpHeader>>> {
        Some(Box::new(RateBooks))
    }
}

/// A packet leaves a port with the lesser of its rate and `R`.
struct RateBooks;

impl Books for RateBooks {
    type Header = RcpHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&RcpHeader, &Reason),
        (is, after): (&RcpHeader, &Reason),
    ) {
        assert_eq!(is.rate.get(), was.rate.get().min(figure(after, "R")), "rate");
    }
}
