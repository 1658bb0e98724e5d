//! The list of laws, and the enums that dispatch to them.
//!
//! Dispatch is by enum, not through a pointer: ports and sources run once a packet.

use alloc::string::String;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::junction::{Declared, Junction};
use crate::law::{
    Acked, Buffer, Congestion, FlowContext, HeaderError, Law, LawInfo, LinkContext, MAX_HEADER,
    Port, PortQueue, Sending, Sink, Source,
};
use crate::options::{OptionError, Options, Size};
use crate::reason::{Figure, Reason};
use crate::trust::{Claim, Grant, Hand, Lie};

macro_rules! registry {
    ($($variant:ident => $law:ty,)*) => {
        /// Any law, made from its options.
        #[derive(Clone, Debug)]
        pub enum AnyLaw { $(#[doc = stringify!($law)] $variant($law),)* }

        /// The congestion header of any law.
        #[derive(Clone, Copy, Debug, PartialEq, Default)]
        pub enum Header {
            /// The packet carries none.
            #[default]
            None,
            $(#[doc = stringify!($law)] $variant(<$law as Law>::Header),)*
        }

        /// The source of any law.
        #[derive(Clone, Debug)]
        pub enum AnySource { $(#[doc = stringify!($law)] $variant(<$law as Law>::Source),)* }

        // Ports lie side by side in a row, so that a packet finds its own without a further step; and which law's
        // it is stands in a word of its own, not in what a port's field cannot be, which takes more to look up.
        /// The port of any law, in whole cache lines.
        #[allow(clippy::large_enum_variant)]
        #[repr(u32, align(64))]
        #[derive(Clone, Debug)]
        pub enum AnyPort { $(#[doc = stringify!($law)] $variant(<$law as Law>::Port),)* }

        /// The sink of any law.
        #[derive(Clone, Debug)]
        pub enum AnySink { $(#[doc = stringify!($law)] $variant(<$law as Law>::Sink),)* }

        const INFOS: &[&LawInfo] = &[$(&<$law as Law>::INFO,)*];

        // The header of a law without one is uninhabited, which makes its arms unreachable.
        #[allow(unreachable_code)]
        impl AnyLaw {
            /// Makes the law called `name`, its options as users write them.
            ///
            /// # Errors
            /// When there is no such law, no such option, or a value is not allowed.
            pub fn new(name: &str, options: &[(&str, &str)]) -> Result<AnyLaw, OptionError> {
                $(if <$law as Law>::INFO.name == name {
                    let mut all = Options::defaults(<$law as Law>::INFO.options);
                    for (key, value) in options {
                        all.set(key, value)?;
                    }
                    return <$law as Law>::from_options(&all).map(AnyLaw::$variant);
                })*
                Err(OptionError::new("law", unknown(name)))
            }
            /// What the law says of itself.
            pub fn info(&self) -> &'static LawInfo {
                match self { $(AnyLaw::$variant(_) => &<$law as Law>::INFO,)* }
            }
            /// See [`Law::source`].
            pub fn source(&self, flow: &FlowContext) -> AnySource {
                match self { $(AnyLaw::$variant(law) => AnySource::$variant(law.source(flow)),)* }
            }
            /// See [`Law::port`].
            pub fn port(&self, link: &LinkContext) -> Option<AnyPort> {
                match self { $(AnyLaw::$variant(law) => law.port(link).map(AnyPort::$variant),)* }
            }
            /// See [`Law::sink`].
            pub fn sink(&self, flow: &FlowContext) -> Option<AnySink> {
                match self { $(AnyLaw::$variant(law) => law.sink(flow).map(AnySink::$variant),)* }
            }
            /// See [`Law::header_len`].
            pub fn header_len(&self) -> Bytes {
                match self { $(AnyLaw::$variant(law) => law.header_len(),)* }
            }
            /// See [`Law::marks_above`].
            pub fn marks_above(&self) -> Option<Size> {
                match self { $(AnyLaw::$variant(law) => law.marks_above(),)* }
            }
            /// Whether its packets may be marked (ECN) whatever the scenario says of the transport.
            pub fn marks(&self) -> bool {
                self.marks_above().is_some()
            }
            /// See [`Law::goes_by_pace`].
            pub fn goes_by_pace(&self) -> bool {
                match self { $(AnyLaw::$variant(law) => law.goes_by_pace(),)* }
            }
            /// See [`Law::weight`].
            pub fn weight(&self) -> f64 {
                match self { $(AnyLaw::$variant(law) => law.weight(),)* }
            }
            /// See [`Law::leaves_it_to_queues`].
            pub fn leaves_it_to_queues(&self) -> bool {
                match self { $(AnyLaw::$variant(law) => law.leaves_it_to_queues(),)* }
            }
            /// See [`Law::encode`]; a header of another law takes no bytes.
            pub fn encode(&self, header: &Header, packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.encode(h, packet, bytes),)*
                    _ => 0,
                }
            }
            /// See [`Law::decode`].
            ///
            /// # Errors
            /// When the bytes are not a header of this law.
            pub fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<Header, HeaderError> {
                match self {
                    $(AnyLaw::$variant(law) => law.decode(bytes, packet).map(Header::$variant),)*
                }
            }
            /// See [`Law::fields`]; none of another law's header.
            pub fn fields(&self, header: &Header) -> Vec<Figure> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.fields(h),)*
                    _ => Vec::new(),
                }
            }
            /// See [`Law::lies`].
            pub fn lies(&self) -> &'static [&'static str] {
                match self { $(AnyLaw::$variant(law) => law.lies(),)* }
            }
            /// See [`Law::unjoined`].
            pub fn unjoined(&self) -> &'static str {
                match self { $(AnyLaw::$variant(law) => law.unjoined(),)* }
            }
            /// See [`Law::unpoliced`].
            pub fn unpoliced(&self) -> Option<&'static str> {
                match self { $(AnyLaw::$variant(law) => law.unpoliced(),)* }
            }
            /// See [`Law::falsify`]; a header of another law is left as it is.
            pub fn falsify(&self, header: &mut Header, lie: &Lie, hand: Hand) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.falsify(h, lie, hand),)*
                    _ => {}
                }
            }
            /// See [`Law::claim`]; none of another law's header.
            pub fn claim(&self, header: &Header) -> Option<Claim> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.claim(h),)*
                    _ => None,
                }
            }
            /// See [`Law::correct`]; a header of another law is left as it is.
            pub fn correct(&self, header: &mut Header, spacing: Duration) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.correct(h, spacing),)*
                    _ => {}
                }
            }
            /// See [`Law::grant`]; none of another law's header.
            pub fn grant(&self, header: &Header) -> Option<Grant> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.grant(h),)*
                    _ => None,
                }
            }
            /// See [`Law::junction`].
            pub fn junction(&self) -> Junction {
                match self { $(AnyLaw::$variant(law) => law.junction(),)* }
            }
            /// See [`Law::declared`]; nothing of another law's header.
            pub fn declared(&self, header: &Header, packet: Bytes) -> Option<Declared> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.declared(h, packet),)*
                    _ => None,
                }
            }
            /// See [`Law::redeclare`]; a header of another law is left as it is.
            pub fn redeclare(&self, header: &mut Header, factor: f64, rtt: Duration) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.redeclare(h, factor, rtt),)*
                    _ => {}
                }
            }
            /// See [`Law::fed_back`]; nothing of another law's header.
            pub fn fed_back(&self, header: &Header) -> Option<Throughput> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.fed_back(h),)*
                    _ => None,
                }
            }
            /// See [`Law::feed_back`]; a header of another law is left as it is.
            pub fn feed_back(&self, header: &mut Header, feedback: Throughput) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.feed_back(h, feedback),)*
                    _ => {}
                }
            }
            /// See [`Law::quantise`]; a header of another law is left as it is.
            pub fn quantise(&self, header: Header, packet: Bytes) -> Header {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        Header::$variant(law.quantise(h, packet))
                    })*
                    (_, other) => other,
                }
            }
        }

        impl AnySource {
            /// See [`Source::on_open`].
            pub fn on_open(&mut self, now: Time) -> Header {
                match self { $(AnySource::$variant(s) => {
                    s.on_open(now).map_or(Header::None, Header::$variant)
                })* }
            }
            /// See [`Source::on_opened`].
            pub fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: &Header) {
                match self { $(AnySource::$variant(s) => match header {
                    Header::$variant(h) => s.on_opened(now, rtt, Some(h)),
                    _ => s.on_opened(now, rtt, None),
                })* }
            }
            /// See [`Source::on_send`].
            #[inline]
            pub fn on_send(&mut self, sending: &Sending) -> Header {
                match self { $(AnySource::$variant(s) => {
                    s.on_send(sending).map_or(Header::None, Header::$variant)
                })* }
            }
            /// See [`Source::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, acked: &Acked, header: &Header) {
                match self { $(AnySource::$variant(s) => match header {
                    Header::$variant(h) => s.on_ack(acked, Some(h)),
                    _ => s.on_ack(acked, None),
                })* }
            }
            /// See [`Source::on_congestion`].
            pub fn on_congestion(&mut self, congestion: &Congestion) {
                match self { $(AnySource::$variant(s) => s.on_congestion(congestion),)* }
            }
            /// See [`Source::on_recovered`].
            pub fn on_recovered(&mut self, now: Time) {
                match self { $(AnySource::$variant(s) => s.on_recovered(now),)* }
            }
            /// See [`Source::window`].
            #[inline]
            pub fn window(&self) -> Bytes {
                match self { $(AnySource::$variant(s) => s.window(),)* }
            }
            /// See [`Source::pacing`].
            #[inline]
            pub fn pacing(&self) -> Option<Throughput> {
                match self { $(AnySource::$variant(s) => s.pacing(),)* }
            }
            /// See [`Source::reason`].
            pub fn reason(&self) -> Reason {
                match self { $(AnySource::$variant(s) => s.reason(),)* }
            }
        }

        impl AnyPort {
            // With a call of its own for each packet and hop, XCP's packets take 4 % longer.
            /// See [`Port::on_arrival`].
            #[inline(always)]
            pub fn on_arrival(&mut self, now: Time, size: Bytes, header: &mut Header, queue: PortQueue) {
                match self { $(AnyPort::$variant(p) => match header {
                    Header::$variant(h) => p.on_arrival(now, size, Some(h), queue),
                    _ => p.on_arrival(now, size, None, queue),
                })* }
            }
            /// See [`Port::mark`].
            #[inline]
            pub fn mark(&mut self, now: Time, size: Bytes, queue: PortQueue) -> bool {
                match self { $(AnyPort::$variant(p) => p.mark(now, size, queue),)* }
            }
            /// See [`Port::on_departure`].
            #[inline(always)]
            pub fn on_departure(&mut self, now: Time, size: Bytes, header: &mut Header, queue: PortQueue) {
                match self { $(AnyPort::$variant(p) => match header {
                    Header::$variant(h) => p.on_departure(now, size, Some(h), queue),
                    _ => p.on_departure(now, size, None, queue),
                })* }
            }
            /// A packet that comes to an empty queue and leaves at once: the three above in one. Returns whether it is to
            /// be marked, where it may be.
            #[inline(always)]
            pub fn on_passage(
                &mut self,
                now: Time,
                size: Bytes,
                header: &mut Header,
                may_be_marked: bool,
            ) -> bool {
                let none = PortQueue { bytes: Bytes::ZERO, packets: 0 };
                match self { $(AnyPort::$variant(p) => {
                    let mut header = match header { Header::$variant(h) => Some(h), _ => None };
                    p.on_arrival(now, size, header.as_deref_mut(), none);
                    let marked = may_be_marked && p.mark(now, size, none);
                    p.on_departure(now, size, header, none);
                    marked
                })* }
            }
            /// See [`Port::next_timer`].
            #[inline]
            pub fn next_timer(&self) -> Time {
                match self { $(AnyPort::$variant(p) => p.next_timer(),)* }
            }
            /// See [`Port::on_timer`].
            pub fn on_timer(&mut self, now: Time, queue: PortQueue) {
                match self { $(AnyPort::$variant(p) => p.on_timer(now, queue),)* }
            }
            /// See [`Port::on_rate_change`].
            pub fn on_rate_change(&mut self, now: Time, rate: Rate) {
                match self { $(AnyPort::$variant(p) => p.on_rate_change(now, rate),)* }
            }
            /// See [`Port::reason`].
            pub fn reason(&self) -> Reason {
                match self { $(AnyPort::$variant(p) => p.reason(),)* }
            }
        }

        impl AnySink {
            /// See [`Sink::watches_buffer`].
            pub fn watches_buffer(&self) -> bool {
                match self { $(AnySink::$variant(s) => s.watches_buffer(),)* }
            }
            /// See [`Sink::on_buffer`].
            pub fn on_buffer(&mut self, now: Time, payload: Bytes, buffer: &Buffer) {
                match self { $(AnySink::$variant(s) => s.on_buffer(now, payload, buffer),)* }
            }
            /// See [`Sink::on_data`].
            #[inline]
            pub fn on_data(&mut self, now: Time, header: &Header) {
                match (self, header) {
                    $((AnySink::$variant(s), Header::$variant(h)) => s.on_data(now, h),)*
                    _ => {}
                }
            }
            /// See [`Sink::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, now: Time) -> Header {
                match self { $(AnySink::$variant(s) => {
                    s.on_ack(now).map_or(Header::None, Header::$variant)
                })* }
            }
        }
    };
}

registry! {
    Xcp => crate::xcp::Xcp,
    Rcp => crate::rcp::Rcp,
    PiqiRcp => crate::piqi_rcp::PiqiRcp,
    Jetmax => crate::jetmax::Jetmax,
    Emkc => crate::emkc::Emkc,
    Maxnet => crate::maxnet::Maxnet,
    Hpcc => crate::hpcc::Hpcc,
    Abc => crate::abc::Abc,
    Dctcp => crate::tcp::dctcp::Dctcp,
    NewReno => crate::tcp::newreno::NewReno,
    Cubic => crate::tcp::cubic::Cubic,
    Bbr => crate::bbr::Bbr,
    Noq => crate::noq::Noq,
    Fixed => crate::fixed::Fixed,
    XcpKernel => crate::kernel::XcpKernel,
    RcpKernel => crate::kernel::RcpKernel,
    PiqiRcpKernel => crate::kernel::PiqiRcpKernel,
    JetmaxKernel => crate::kernel::JetmaxKernel,
}

/// All laws, in the order of the registry.
pub fn list() -> &'static [&'static LawInfo] {
    INFOS
}

/// The law called `name`.
pub fn find(name: &str) -> Option<&'static LawInfo> {
    INFOS.iter().copied().find(|info| info.name == name)
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = INFOS.iter().map(|info| info.name).collect();
    alloc::format!("no law is called {name:?}; known: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_can_be_made_with_its_defaults() {
        for info in list() {
            let law = AnyLaw::new(info.name, &[]).expect(info.name);
            assert_eq!(law.info().name, info.name);
        }
    }

    /// A flow may pass a port of its own at each of four links and more: a law whose port is larger is to
    /// keep what few packets touch in a box.
    #[test]
    fn a_port_takes_four_cache_lines() {
        assert_eq!(size_of::<AnyPort>(), 256);
    }

    #[test]
    fn unknown_names_and_values_are_explained() {
        let e = AnyLaw::new("xpc", &[]).unwrap_err();
        assert!(e.message.contains("known: xcp, rcp"), "{e}");
        let e = AnyLaw::new("xcp", &[("alfa", "1")]).unwrap_err();
        assert!(e.message.contains("no such option; known: "), "{e}");
        let e = AnyLaw::new("xcp", &[("alpha", "7")]).unwrap_err();
        assert!(e.message.contains("allowed is a number from"), "{e}");
    }
}
