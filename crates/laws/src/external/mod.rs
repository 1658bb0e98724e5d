//! Laws that live outside this crate.
//!
//! Such a law is a type that implements [`Law`] and [`Named`], as the laws of this crate do, and
//! whose header is a [`PackedHeader`]. [`LawSet::register`](crate::LawSet::register) makes it known
//! by its name. Its parts are called through pointers. In all other respects it behaves as the laws
//! of this crate.

mod header;
mod parts;
mod window;

pub use header::{ExternalHeader, MAX_EXTERNAL_HEADER, PackedFormat, PackedHeader};
pub use parts::{ExternalPort, ExternalSink, ExternalSource};
pub(crate) use window::is_excess;
pub use window::{MAX_UNPACED_WINDOW, excess};

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::sync::atomic::{AtomicU32, Ordering};

use ratewire_units::{Bytes, Duration, Throughput};

use crate::junction::{Declared, Divisible, Feedback};
use crate::law::{
    Books, FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo, LinkContext,
    MAX_HEADER, NO_BYTES, Promises, Properties,
};
use crate::reason::{Figure, Reason};
use crate::trust::{Claim, Grant, Hand, Lie, Trust};
pub(crate) use header::LawId;
use parts::Part;

impl LawId {
    /// A number that no other law has.
    pub(crate) fn next() -> LawId {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        LawId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A law outside this crate with its parameters set.
#[derive(Clone, Debug)]
pub struct External {
    info: &'static LawInfo,
    law: Arc<dyn Erased>,
}

impl External {
    pub(crate) fn new<L: ExternalLaw>(id: LawId, info: &'static LawInfo, law: L) -> External {
        const { assert!(L::Header::LEN <= MAX_EXTERNAL_HEADER, "the header is too long") };
        External { info, law: Arc::new(Typed { id, law }) }
    }

    /// The law's name, explanation and options.
    pub(crate) fn info(&self) -> &'static LawInfo {
        self.info
    }
}

/// Requirements of [`LawSet`](crate::LawSet) on a law outside this crate, beside [`Law`].
///
/// Implemented for every law that meets the bounds; not to be implemented by hand.
pub trait ExternalLaw:
    Law<
        Header: PackedHeader,
        Source: Debug + Send + Sync + 'static,
        Port: Debug + Send + Sync + 'static,
        Sink: Debug + Send + Sync + 'static,
    > + Debug
    + Send
    + Sync
    + 'static
{
}

impl<L> ExternalLaw for L where
    L: Law<
            Header: PackedHeader,
            Source: Debug + Send + Sync + 'static,
            Port: Debug + Send + Sync + 'static,
            Sink: Debug + Send + Sync + 'static,
        > + Debug
        + Send
        + Sync
        + 'static
{
}

impl Law for External {
    type Header = ExternalHeader;
    type Source = Box<dyn ExternalSource>;
    type Port = Box<dyn ExternalPort>;
    type Sink = Box<dyn ExternalSink>;

    fn source(&self, flow: &FlowContext) -> Box<dyn ExternalSource> {
        self.law.source(flow)
    }
    fn port(&self, link: &LinkContext) -> Option<Box<dyn ExternalPort>> {
        self.law.port(link)
    }
    fn sink(&self, flow: &FlowContext) -> Option<Box<dyn ExternalSink>> {
        self.law.sink(flow)
    }
    fn properties(&self) -> Properties {
        self.law.properties()
    }
    fn has_header(&self) -> bool {
        self.law.has_header()
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = ExternalHeader>> {
        self.law.headers()
    }
    fn trust(&self) -> Result<&dyn Trust<Header = ExternalHeader>, &'static str> {
        self.law.trust()
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = ExternalHeader>, &'static str> {
        self.law.junction()
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = ExternalHeader>> {
        self.law.invariants()
    }
}

/// A [`Law`] whose header and parts have no types of their own.
trait Erased: Debug + Send + Sync {
    fn source(&self, flow: &FlowContext) -> Box<dyn ExternalSource>;
    fn port(&self, link: &LinkContext) -> Option<Box<dyn ExternalPort>>;
    fn sink(&self, flow: &FlowContext) -> Option<Box<dyn ExternalSink>>;
    fn properties(&self) -> Properties;
    fn has_header(&self) -> bool;
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = ExternalHeader>>;
    fn trust(&self) -> Result<&dyn Trust<Header = ExternalHeader>, &'static str>;
    fn junction(&self) -> Result<&dyn Divisible<Header = ExternalHeader>, &'static str>;
    fn invariants(&self) -> Option<&dyn Invariants<Header = ExternalHeader>>;
}

/// A law that packs and unpacks its headers.
#[derive(Debug)]
struct Typed<L> {
    id: LawId,
    law: L,
}

impl<L: ExternalLaw> Typed<L> {
    fn pack(&self, header: L::Header) -> ExternalHeader {
        ExternalHeader::pack(self.id, &header)
    }
    fn unpack(&self, header: &ExternalHeader) -> Option<L::Header> {
        header.unpack(self.id)
    }
    /// Lets `change` rewrite a header of this law.
    fn rewrite(&self, header: &mut ExternalHeader, change: impl FnOnce(&mut L::Header)) {
        if let Some(mut own) = self.unpack(header) {
            change(&mut own);
            *header = self.pack(own);
        }
    }
}

impl<L: ExternalLaw> Erased for Typed<L> {
    fn source(&self, flow: &FlowContext) -> Box<dyn ExternalSource> {
        Box::new(Part { law: self.id, part: self.law.source(flow) })
    }
    fn port(&self, link: &LinkContext) -> Option<Box<dyn ExternalPort>> {
        let part = self.law.port(link)?;
        Some(Box::new(Part { law: self.id, part }))
    }
    fn sink(&self, flow: &FlowContext) -> Option<Box<dyn ExternalSink>> {
        let part = self.law.sink(flow)?;
        Some(Box::new(Part { law: self.id, part }))
    }
    fn properties(&self) -> Properties {
        self.law.properties()
    }
    fn has_header(&self) -> bool {
        self.law.has_header()
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = ExternalHeader>> {
        self.law.headers().map(|_| self as _)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = ExternalHeader>, &'static str> {
        self.law.trust().map(|_| self as _)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = ExternalHeader>, &'static str> {
        self.law.junction().map(|_| self as _)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = ExternalHeader>> {
        self.law.invariants().map(|_| self as _)
    }
}

impl<L: ExternalLaw> HeaderFormat for Typed<L> {
    type Header = ExternalHeader;

    fn length(&self) -> Bytes {
        self.law.headers().map_or(Bytes::ZERO, |headers| headers.length())
    }
    fn encode(
        &self,
        header: &ExternalHeader,
        packet: Bytes,
        bytes: &mut [u8; MAX_HEADER],
    ) -> usize {
        let own = self.law.headers().zip(self.unpack(header));
        own.map_or(0, |(headers, header)| headers.encode(&header, packet, bytes))
    }
    fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<ExternalHeader, HeaderError> {
        let headers = self.law.headers().ok_or_else(|| HeaderError::new(NO_BYTES))?;
        headers.decode(bytes, packet).map(|header| self.pack(header))
    }
    fn ip_protocol(&self) -> Option<u8> {
        self.law.headers()?.ip_protocol()
    }
    fn quantise(&self, header: ExternalHeader, packet: Bytes) -> ExternalHeader {
        let own = self.law.headers().zip(self.unpack(&header));
        own.map_or(header, |(headers, own)| self.pack(headers.quantise(own, packet)))
    }
    fn fields(&self, header: &ExternalHeader) -> Vec<Figure> {
        let own = self.law.headers().zip(self.unpack(header));
        own.map_or(Vec::new(), |(headers, header)| headers.fields(&header))
    }
}

impl<L: ExternalLaw> Trust for Typed<L> {
    type Header = ExternalHeader;

    fn lies(&self) -> &'static [&'static str] {
        self.law.trust().map_or(&[], |trust| trust.lies())
    }
    fn falsify(&self, header: &mut ExternalHeader, lie: &Lie, hand: Hand) {
        if let Ok(trust) = self.law.trust() {
            self.rewrite(header, |header| trust.falsify(header, lie, hand));
        }
    }
    fn unpoliced(&self) -> Option<&'static str> {
        self.law.trust().map_or_else(Some, |trust| trust.unpoliced())
    }
    fn claim(&self, header: &ExternalHeader) -> Option<Claim> {
        self.law.trust().ok()?.claim(&self.unpack(header)?)
    }
    fn correct(&self, header: &mut ExternalHeader, spacing: Duration) {
        if let Ok(trust) = self.law.trust() {
            self.rewrite(header, |header| trust.correct(header, spacing));
        }
    }
    fn grant(&self, header: &ExternalHeader) -> Option<Grant> {
        self.law.trust().ok()?.grant(&self.unpack(header)?)
    }
}

impl<L: ExternalLaw> Divisible for Typed<L> {
    type Header = ExternalHeader;

    fn feedback(&self) -> Feedback {
        self.law.junction().map_or(Feedback::Rate, |headers| headers.feedback())
    }
    fn declared(&self, header: &ExternalHeader, packet: Bytes) -> Option<Declared> {
        self.law.junction().ok()?.declared(&self.unpack(header)?, packet)
    }
    fn redeclare(&self, header: &mut ExternalHeader, factor: f64, rtt: Duration) {
        if let Ok(headers) = self.law.junction() {
            self.rewrite(header, |header| headers.redeclare(header, factor, rtt));
        }
    }
    fn part(&self, header: &mut ExternalHeader, share: f64) {
        if let Ok(headers) = self.law.junction() {
            self.rewrite(header, |header| headers.part(header, share));
        }
    }
    fn join(&self, header: &mut ExternalHeader, other: &ExternalHeader) {
        if let (Ok(headers), Some(other)) = (self.law.junction(), self.unpack(other)) {
            self.rewrite(header, |header| headers.join(header, &other));
        }
    }
    fn fed_back(&self, header: &ExternalHeader) -> Throughput {
        match (self.law.junction(), self.unpack(header)) {
            (Ok(headers), Some(header)) => headers.fed_back(&header),
            _ => Throughput::ZERO,
        }
    }
    fn feed_back(&self, header: &mut ExternalHeader, feedback: Throughput) {
        if let Ok(headers) = self.law.junction() {
            self.rewrite(header, |header| headers.feed_back(header, feedback));
        }
    }
}

impl<L: ExternalLaw> Invariants for Typed<L> {
    type Header = ExternalHeader;

    fn promises(&self) -> Promises {
        self.law.invariants().map_or_else(Promises::default, |law| law.promises())
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        self.law.invariants().map_or(&[], |law| law.extremes())
    }
    fn returns(&self, header: &ExternalHeader) -> bool {
        let own = self.law.invariants().zip(self.unpack(header));
        own.is_some_and(|(law, header)| law.returns(&header))
    }
    fn tampered(&self, header: &ExternalHeader, seed: [u32; 2]) -> Option<ExternalHeader> {
        let other = self.law.invariants()?.tampered(&self.unpack(header)?, seed)?;
        Some(self.pack(other))
    }
    fn books(&self) -> Option<Box<dyn Books<Header = ExternalHeader>>> {
        let books = self.law.invariants()?.books()?;
        Some(Box::new(TypedBooks { id: self.id, books }))
    }
}

/// Books of a law that unpack its headers.
struct TypedBooks<H> {
    id: LawId,
    books: Box<dyn Books<Header = H>>,
}

impl<H: PackedHeader> Books for TypedBooks<H> {
    type Header = ExternalHeader;

    fn departed(
        &mut self,
        size: Bytes,
        (was, before): (&ExternalHeader, &Reason),
        (is, after): (&ExternalHeader, &Reason),
    ) {
        if let (Some(was), Some(is)) = (was.unpack(self.id), is.unpack(self.id)) {
            self.books.departed(size, (&was, before), (&is, after));
        }
    }
    fn timer(&mut self, before: &Reason, after: &Reason) {
        self.books.timer(before, after);
    }
    fn received(&mut self, header: &ExternalHeader) {
        if let Some(header) = header.unpack(self.id) {
            self.books.received(&header);
        }
    }
    fn answered(&mut self, header: &ExternalHeader) {
        if let Some(header) = header.unpack(self.id) {
            self.books.answered(&header);
        }
    }
}
