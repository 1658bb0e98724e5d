//! Enums that hold any law and its parts, and their calls.
//!
//! Dispatch is by enum, not through a pointer: ports and sources run once a packet.

/// Writes the enums of these laws.
macro_rules! dispatch {
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

        /// The source of any law, with the window and the pace that it gave last: a sender asks for
        /// them more often than they change.
        #[derive(Debug)]
        #[repr(C)]
        pub struct AnySource {
            window: Bytes,
            pacing: Option<Throughput>,
            kind: SourceKind,
        }

        #[derive(Debug)]
        enum SourceKind { $(#[doc = stringify!($law)] $variant(<$law as Law>::Source),)* }

        // Ports lie in an array, so that a packet finds its port without a pointer. `repr(u32)`
        // gives the discriminant a word of its own: in a niche of a field it would take longer to
        // decode.
        /// The port of any law, in whole cache lines.
        #[allow(clippy::large_enum_variant)]
        #[repr(u32, align(64))]
        #[derive(Debug)]
        pub enum AnyPort { $(#[doc = stringify!($law)] $variant(<$law as Law>::Port),)* }

        /// The sink of any law.
        #[derive(Debug)]
        pub enum AnySink { $(#[doc = stringify!($law)] $variant(<$law as Law>::Sink),)* }

        /// Books on a port or sink of any law.
        pub(crate) enum AnyBooks {
            $($variant(Box<dyn Books<Header = <$law as Law>::Header>>),)*
        }

        // The header of a law without one is uninhabited, which makes its arms unreachable.
        #[allow(unreachable_code)]
        impl AnyLaw {
            /// See [`Law::source`].
            pub fn source(&self, flow: &FlowContext) -> AnySource {
                let kind = match self { $(AnyLaw::$variant(law) => {
                    SourceKind::$variant(law.source(flow))
                })* };
                let mut source = AnySource { window: Bytes::ZERO, pacing: None, kind };
                source.ask();
                source
            }
            /// See [`Law::port`].
            pub fn port(&self, link: &LinkContext) -> Option<AnyPort> {
                match self { $(AnyLaw::$variant(law) => law.port(link).map(AnyPort::$variant),)* }
            }
            /// See [`Law::sink`].
            pub fn sink(&self, flow: &FlowContext) -> Option<AnySink> {
                match self { $(AnyLaw::$variant(law) => law.sink(flow).map(AnySink::$variant),)* }
            }
            /// See [`Law::properties`].
            pub fn properties(&self) -> Properties {
                match self { $(AnyLaw::$variant(law) => law.properties(),)* }
            }
            /// See [`Law::has_header`].
            pub fn has_header(&self) -> bool {
                match self { $(AnyLaw::$variant(law) => law.has_header(),)* }
            }
            /// Whether the law has a header format, which a law with a header must have.
            #[cfg(test)]
            fn has_format(&self) -> bool {
                match self { $(AnyLaw::$variant(law) => law.headers().is_some(),)* }
            }
            /// Bytes that the congestion header adds to each packet.
            pub fn header_len(&self) -> Bytes {
                match self { $(AnyLaw::$variant(law) => {
                    law.headers().map_or(Bytes::ZERO, |headers| headers.length())
                })* }
            }
            /// See [`HeaderFormat::encode`](crate::HeaderFormat::encode); a header of another law
            /// takes no bytes.
            pub fn encode(&self, header: &Header, packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.headers().map_or(0, |headers| headers.encode(h, packet, bytes))
                    })*
                    _ => 0,
                }
            }
            /// See [`HeaderFormat::decode`](crate::HeaderFormat::decode).
            ///
            /// # Errors
            /// When the bytes are not a header of this law.
            pub fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<Header, HeaderError> {
                match self {
                    $(AnyLaw::$variant(law) => match law.headers() {
                        Some(headers) => headers.decode(bytes, packet).map(Header::$variant),
                        None => Err(HeaderError::new(NO_BYTES)),
                    },)*
                }
            }
            /// See [`HeaderFormat::ip_protocol`](crate::HeaderFormat::ip_protocol).
            pub fn ip_protocol(&self) -> Option<u8> {
                match self { $(AnyLaw::$variant(law) => law.headers()?.ip_protocol(),)* }
            }
            /// See [`HeaderFormat::quantise`](crate::HeaderFormat::quantise); a header of another
            /// law is left as it is.
            pub fn quantise(&self, header: Header, packet: Bytes) -> Header {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => Header::$variant(
                        law.headers().map_or(h, |headers| headers.quantise(h, packet)),
                    ),)*
                    (_, other) => other,
                }
            }
            /// See [`HeaderFormat::fields`](crate::HeaderFormat::fields); none of another law's
            /// header.
            pub fn fields(&self, header: &Header) -> Vec<Figure> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.headers().map_or(Vec::new(), |headers| headers.fields(h))
                    })*
                    _ => Vec::new(),
                }
            }
            /// See [`Trust::lies`](crate::trust::Trust::lies).
            pub fn lies(&self) -> &'static [&'static str] {
                match self { $(AnyLaw::$variant(law) => law.trust().map_or(&[], |trust| trust.lies()),)* }
            }
            /// See [`Trust::unpoliced`](crate::trust::Trust::unpoliced).
            pub fn unpoliced(&self) -> Option<&'static str> {
                match self { $(AnyLaw::$variant(law) => match law.trust() {
                    Ok(trust) => trust.unpoliced(),
                    Err(why) => Some(why),
                },)* }
            }
            /// See [`Trust::falsify`](crate::trust::Trust::falsify); a header of another law is
            /// left as it is.
            pub fn falsify(&self, header: &mut Header, lie: &Lie, hand: Hand) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        if let Ok(trust) = law.trust() {
                            trust.falsify(h, lie, hand);
                        }
                    })*
                    _ => {}
                }
            }
            /// See [`Trust::claim`](crate::trust::Trust::claim); none of another law's header.
            pub fn claim(&self, header: &Header) -> Option<Claim> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.trust().ok()?.claim(h),)*
                    _ => None,
                }
            }
            /// See [`Trust::correct`](crate::trust::Trust::correct); a header of another law is
            /// left as it is.
            pub fn correct(&self, header: &mut Header, spacing: Duration) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        if let Ok(trust) = law.trust() {
                            trust.correct(h, spacing);
                        }
                    })*
                    _ => {}
                }
            }
            /// See [`Trust::grant`](crate::trust::Trust::grant); none of another law's header.
            pub fn grant(&self, header: &Header) -> Option<Grant> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => law.trust().ok()?.grant(h),)*
                    _ => None,
                }
            }
            /// See [`Law::junction`].
            pub fn junction(&self) -> Junction {
                match self { $(AnyLaw::$variant(law) => match law.junction() {
                    Ok(headers) => match headers.feedback() {
                        Feedback::Change => Junction::Changes,
                        Feedback::Rate => Junction::Rates,
                    },
                    Err(_) if !law.has_header() => Junction::Untouched,
                    Err(why) => Junction::Refuses(why),
                },)* }
            }
            /// See [`Divisible::declared`](crate::junction::Divisible::declared); nothing of
            /// another law's header.
            pub fn declared(&self, header: &Header, packet: Bytes) -> Option<Declared> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.junction().ok()?.declared(h, packet)
                    })*
                    _ => None,
                }
            }
            /// See [`Divisible::redeclare`](crate::junction::Divisible::redeclare); a header of
            /// another law is left as it is.
            pub fn redeclare(&self, header: &mut Header, factor: f64, rtt: Duration) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        if let Ok(headers) = law.junction() {
                            headers.redeclare(h, factor, rtt);
                        }
                    })*
                    _ => {}
                }
            }
            /// See [`Divisible::part`](crate::junction::Divisible::part); a header of another law
            /// is left as it is.
            pub fn part(&self, header: &mut Header, share: f64) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        if let Ok(headers) = law.junction() {
                            headers.part(h, share);
                        }
                    })*
                    _ => {}
                }
            }
            /// See [`Divisible::join`](crate::junction::Divisible::join). Returns whether the two
            /// are headers of one packet now: both must be of this law, or none.
            pub fn join(&self, header: &mut Header, other: &Header) -> bool {
                match (self, header, other) {
                    (_, Header::None, Header::None) => true,
                    $((AnyLaw::$variant(law), Header::$variant(h), Header::$variant(o)) => {
                        law.junction().map(|headers| headers.join(h, o)).is_ok()
                    })*
                    _ => false,
                }
            }
            /// See [`Divisible::fed_back`](crate::junction::Divisible::fed_back); nothing of
            /// another law's header.
            pub fn fed_back(&self, header: &Header) -> Option<Throughput> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.junction().ok().map(|headers| headers.fed_back(h))
                    })*
                    _ => None,
                }
            }
            /// See [`Divisible::feed_back`](crate::junction::Divisible::feed_back); a header of
            /// another law is left as it is.
            pub fn feed_back(&self, header: &mut Header, feedback: Throughput) {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        if let Ok(headers) = law.junction() {
                            headers.feed_back(h, feedback);
                        }
                    })*
                    _ => {}
                }
            }
            /// See [`Invariants::promises`](crate::Invariants::promises).
            pub fn promises(&self) -> Promises {
                match self { $(AnyLaw::$variant(law) => {
                    law.invariants().map_or_else(Promises::default, |law| law.promises())
                })* }
            }
            /// See [`Invariants::extremes`](crate::Invariants::extremes).
            pub fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
                match self { $(AnyLaw::$variant(law) => {
                    law.invariants().map_or(&[], |law| law.extremes())
                })* }
            }
            /// See [`Invariants::returns`](crate::Invariants::returns); false of another law's
            /// header.
            pub(crate) fn returns(&self, header: &Header) -> bool {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.invariants().is_some_and(|law| law.returns(h))
                    })*
                    _ => false,
                }
            }
            /// See [`Invariants::tampered`](crate::Invariants::tampered); nothing of another law's
            /// header.
            pub(crate) fn tampered(&self, header: &Header, seed: [u32; 2]) -> Option<Header> {
                match (self, header) {
                    $((AnyLaw::$variant(law), Header::$variant(h)) => {
                        law.invariants()?.tampered(h, seed).map(Header::$variant)
                    })*
                    _ => None,
                }
            }
            /// See [`Invariants::books`](crate::Invariants::books).
            pub(crate) fn books(&self) -> Option<AnyBooks> {
                match self { $(AnyLaw::$variant(law) => {
                    law.invariants()?.books().map(AnyBooks::$variant)
                })* }
            }
            /// Whether the law promises to conserve something.
            pub fn has_books(&self) -> bool {
                self.books().is_some()
            }
        }

        // Sources of this crate change in calls only, so what they gave in the last one holds.
        // Those of other crates are asked each time: what they share with a program may change
        // meanwhile. A call for each packet asks in its own match, as another would cost as much.
        impl AnySource {
            /// See [`Source::on_open`].
            pub fn on_open(&mut self, now: Time) -> Header {
                let header = match &mut self.kind { $(SourceKind::$variant(s) => {
                    s.on_open(now).map_or(Header::None, Header::$variant)
                })* };
                self.ask();
                header
            }
            /// See [`Source::on_opened`].
            pub fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: &Header) {
                match &mut self.kind { $(SourceKind::$variant(s) => match header {
                    Header::$variant(h) => s.on_opened(now, rtt, Some(h)),
                    _ => s.on_opened(now, rtt, None),
                })* }
                self.ask();
            }
            /// See [`Source::on_send`].
            #[inline(never)]
            pub fn on_send(&mut self, sending: &Sending) -> Header {
                match &mut self.kind { $(SourceKind::$variant(s) => {
                    let header = s.on_send(sending).map_or(Header::None, Header::$variant);
                    (self.window, self.pacing) = (s.window(), s.pacing());
                    header
                })* }
            }
            /// See [`Source::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, acked: &Acked, header: &Header) {
                match &mut self.kind { $(SourceKind::$variant(s) => {
                    match header {
                        Header::$variant(h) => s.on_ack(acked, Some(h)),
                        _ => s.on_ack(acked, None),
                    }
                    (self.window, self.pacing) = (s.window(), s.pacing());
                })* }
            }
            /// See [`Source::on_congestion`].
            pub fn on_congestion(&mut self, congestion: &Congestion) {
                match &mut self.kind { $(SourceKind::$variant(s) => s.on_congestion(congestion),)* }
                self.ask();
            }
            /// See [`Source::on_spurious`].
            pub fn on_spurious(&mut self, now: Time) {
                match &mut self.kind { $(SourceKind::$variant(s) => s.on_spurious(now),)* }
                self.ask();
            }
            /// See [`Source::slow_start_threshold`].
            pub fn slow_start_threshold(&self) -> Option<Bytes> {
                match &self.kind { $(SourceKind::$variant(s) => s.slow_start_threshold(),)* }
            }
            /// See [`Source::on_recovered`].
            pub fn on_recovered(&mut self, now: Time) {
                match &mut self.kind { $(SourceKind::$variant(s) => s.on_recovered(now),)* }
                self.ask();
            }
            /// See [`Source::next_timer`].
            pub fn next_timer(&self) -> Time {
                match &self.kind { $(SourceKind::$variant(s) => s.next_timer(),)* }
            }
            /// See [`Source::on_timer`].
            pub fn on_timer(&mut self, now: Time) {
                match &mut self.kind { $(SourceKind::$variant(s) => s.on_timer(now),)* }
                self.ask();
            }
            /// Asks for window and pace again.
            fn ask(&mut self) {
                (self.window, self.pacing) = match &self.kind {
                    $(SourceKind::$variant(s) => (s.window(), s.pacing()),)*
                };
            }
            /// See [`Source::window`].
            #[inline]
            pub fn window(&self) -> Bytes {
                match &self.kind { SourceKind::External(s) => s.window(), _ => self.window }
            }
            /// See [`Source::pacing`].
            #[inline]
            pub fn pacing(&self) -> Option<Throughput> {
                match &self.kind { SourceKind::External(s) => s.pacing(), _ => self.pacing }
            }
            /// See [`Source::reason`].
            pub fn reason(&self) -> Reason {
                match &self.kind { $(SourceKind::$variant(s) => s.reason(),)* }
            }
            /// See [`Source::fault`].
            pub fn fault(&self) -> Option<String> {
                match &self.kind { $(SourceKind::$variant(s) => s.fault(),)* }
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
            /// Handles a packet that arrives at an empty queue and leaves at once: arrival, mark
            /// and departure in one call. Returns whether to mark the packet, if it may be marked.
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
            /// See [`Port::acts_on_arrival_only`].
            pub fn acts_on_arrival_only(&self) -> bool {
                match self { $(AnyPort::$variant(p) => p.acts_on_arrival_only(),)* }
            }
            /// See [`Port::fault`].
            pub fn fault(&self) -> Option<String> {
                match self { $(AnyPort::$variant(p) => p.fault(),)* }
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

        // A packet of another law is not in the books.
        #[allow(unreachable_code)]
        impl AnyBooks {
            pub(crate) fn departed(
                &mut self,
                size: Bytes,
                (was, before): (&Header, &Reason),
                (is, after): (&Header, &Reason),
            ) {
                match (self, was, is) {
                    $((AnyBooks::$variant(books), Header::$variant(was), Header::$variant(is)) => {
                        books.departed(size, (was, before), (is, after));
                    })*
                    _ => {}
                }
            }
            pub(crate) fn timer(&mut self, before: &Reason, after: &Reason) {
                match self { $(AnyBooks::$variant(books) => books.timer(before, after),)* }
            }
            pub(crate) fn received(&mut self, header: &Header) {
                match (self, header) {
                    $((AnyBooks::$variant(books), Header::$variant(h)) => books.received(h),)*
                    _ => {}
                }
            }
            pub(crate) fn answered(&mut self, header: &Header) {
                match (self, header) {
                    $((AnyBooks::$variant(books), Header::$variant(h)) => books.answered(h),)*
                    _ => {}
                }
            }
        }
    };
}
pub(super) use dispatch;
