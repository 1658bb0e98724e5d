//! Source, port and sink of a law outside this crate, behind pointers.
//!
//! Each holds the law's own part and passes it headers of the law's own type. It ignores headers of
//! other laws.

use alloc::string::String;
use core::fmt::Debug;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::header::{ExternalHeader, LawId, PackedHeader};
use crate::law::{Acked, Buffer, Congestion, Port, PortQueue, Sending, Sink, Source};
use crate::reason::Reason;

/// A law's part together with the law's number.
#[derive(Debug)]
pub(super) struct Part<P> {
    pub(super) law: LawId,
    pub(super) part: P,
}

/// Writes an object-safe form of a part's trait.
macro_rules! boxed {
    ($(#[$doc:meta])* $name:ident: $part:ident) => {
        $(#[$doc])*
        pub trait $name: $part<Header = ExternalHeader> + Debug + Send + Sync {}
        impl<P: $part<Header = ExternalHeader> + Debug + Send + Sync> $name for P {}
    };
}

boxed! {
    /// The sender's part of a law outside this crate.
    ExternalSource: Source
}
boxed! {
    /// The router's part of a law outside this crate.
    ExternalPort: Port
}
boxed! {
    /// The receiver's part of a law outside this crate.
    ExternalSink: Sink
}

impl<S: Source<Header: PackedHeader>> Source for Part<S> {
    type Header = ExternalHeader;

    fn on_open(&mut self, now: Time) -> Option<ExternalHeader> {
        self.part.on_open(now).map(|header| ExternalHeader::pack(self.law, &header))
    }
    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: Option<&ExternalHeader>) {
        let header = header.and_then(|header| header.unpack(self.law));
        self.part.on_opened(now, rtt, header.as_ref());
    }
    fn on_send(&mut self, sending: &Sending) -> Option<ExternalHeader> {
        self.part.on_send(sending).map(|header| ExternalHeader::pack(self.law, &header))
    }
    fn on_ack(&mut self, acked: &Acked, header: Option<&ExternalHeader>) {
        let header = header.and_then(|header| header.unpack(self.law));
        self.part.on_ack(acked, header.as_ref());
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.part.on_congestion(congestion);
    }
    fn on_recovered(&mut self, now: Time) {
        self.part.on_recovered(now);
    }
    fn on_spurious(&mut self, now: Time) {
        self.part.on_spurious(now);
    }
    fn slow_start_threshold(&self) -> Option<Bytes> {
        self.part.slow_start_threshold()
    }
    fn next_timer(&self) -> Time {
        self.part.next_timer()
    }
    fn on_timer(&mut self, now: Time) {
        self.part.on_timer(now);
    }
    fn window(&self) -> Bytes {
        self.part.window()
    }
    fn pacing(&self) -> Option<Throughput> {
        self.part.pacing()
    }
    fn reason(&self) -> Reason {
        self.part.reason()
    }
    fn fault(&self) -> Option<String> {
        self.part.fault()
    }
}

impl<P: Port<Header: PackedHeader>> Part<P> {
    /// Lets the part rewrite a header.
    fn rewrite(
        &mut self,
        header: Option<&mut ExternalHeader>,
        write: impl FnOnce(&mut P, Option<&mut P::Header>),
    ) {
        let own = header.and_then(|kept| Some((kept.unpack::<P::Header>(self.law)?, kept)));
        let Some((mut header, kept)) = own else { return write(&mut self.part, None) };
        write(&mut self.part, Some(&mut header));
        *kept = ExternalHeader::pack(self.law, &header);
    }
}

impl<P: Port<Header: PackedHeader>> Port for Part<P> {
    type Header = ExternalHeader;

    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut ExternalHeader>,
        queue: PortQueue,
    ) {
        self.rewrite(header, |port, header| port.on_arrival(now, size, header, queue));
    }
    fn mark(&mut self, now: Time, size: Bytes, queue: PortQueue) -> bool {
        self.part.mark(now, size, queue)
    }
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut ExternalHeader>,
        queue: PortQueue,
    ) {
        self.rewrite(header, |port, header| port.on_departure(now, size, header, queue));
    }
    fn next_timer(&self) -> Time {
        self.part.next_timer()
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        self.part.on_timer(now, queue);
    }
    fn on_rate_change(&mut self, now: Time, rate: Rate) {
        self.part.on_rate_change(now, rate);
    }
    fn reason(&self) -> Reason {
        self.part.reason()
    }
    fn acts_on_arrival_only(&self) -> bool {
        self.part.acts_on_arrival_only()
    }
    fn fault(&self) -> Option<String> {
        self.part.fault()
    }
}

impl<S: Sink<Header: PackedHeader>> Sink for Part<S> {
    type Header = ExternalHeader;

    fn watches_buffer(&self) -> bool {
        self.part.watches_buffer()
    }
    fn on_buffer(&mut self, now: Time, payload: Bytes, buffer: &Buffer) {
        self.part.on_buffer(now, payload, buffer);
    }
    fn on_data(&mut self, now: Time, header: &ExternalHeader) {
        if let Some(header) = header.unpack(self.law) {
            self.part.on_data(now, &header);
        }
    }
    fn on_ack(&mut self, now: Time) -> Option<ExternalHeader> {
        self.part.on_ack(now).map(|header| ExternalHeader::pack(self.law, &header))
    }
}
