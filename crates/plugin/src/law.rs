//! A law of a shared object with its options set.

use std::sync::Arc;

use ratewire_laws::{
    Books, Figure, FlowContext, HeaderError, HeaderFormat, Invariants, Law, LinkContext,
    MAX_HEADER, Promises, Properties,
};
use ratewire_units::Bytes;

use crate::abi::{HeaderBytes, flags};
use crate::books::PluginBooks;
use crate::port::PluginPort;
use crate::reason;
use crate::shared::{LawInstance, PluginHeader};
use crate::sink::PluginSink;
use crate::source::PluginSource;

/// A law of a shared object with its options set.
#[derive(Clone, Debug)]
pub(crate) struct PluginLaw(pub(crate) Arc<LawInstance>);

impl PluginLaw {
    fn has(&self, flag: u32) -> bool {
        self.0.table.flags & flag != 0
    }

    fn header_length(&self) -> usize {
        self.0.table.header_length as usize
    }
}

impl Law for PluginLaw {
    type Header = PluginHeader;
    type Source = PluginSource;
    type Port = PluginPort;
    type Sink = PluginSink;

    fn source(&self, flow: &FlowContext) -> PluginSource {
        PluginSource::new(&self.0, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<PluginPort> {
        self.0.table.port.create.map(|create| PluginPort::new(&self.0, create, link))
    }
    fn sink(&self, flow: &FlowContext) -> Option<PluginSink> {
        self.0.table.sink.create.map(|create| PluginSink::new(&self.0, create, flow))
    }
    fn properties(&self) -> Properties {
        Properties {
            goes_by_pace: self.has(flags::GOES_BY_PACE),
            reacts: !self.has(flags::DOES_NOT_REACT),
            goes_by_losses: self.has(flags::GOES_BY_LOSSES),
            small_queues: self.has(flags::SMALL_QUEUES),
            ..Properties::default()
        }
    }
    fn has_header(&self) -> bool {
        self.header_length() > 0
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = PluginHeader>> {
        self.has_header().then_some(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = PluginHeader>> {
        Some(self)
    }
}

impl Invariants for PluginLaw {
    type Header = PluginHeader;

    fn promises(&self) -> Promises {
        Promises {
            equal_shares: self.has(flags::EQUAL_SHARES),
            any_speed: self.has(flags::ANY_SPEED),
            any_scale: false,
            bounded_window: false,
            ..Promises::default()
        }
    }
    fn books(&self) -> Option<Box<dyn Books<Header = PluginHeader>>> {
        let create = self.0.table.books.create?;
        Some(Box::new(PluginBooks::new(&self.0, create)))
    }
}

impl HeaderFormat for PluginLaw {
    type Header = PluginHeader;

    fn length(&self) -> Bytes {
        Bytes::new(self.header_length() as u64)
    }
    fn encode(&self, header: &PluginHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let length = self.header_length();
        bytes[..length].copy_from_slice(&header.0[..length]);
        length
    }
    fn decode(&self, bytes: &[u8], _: Bytes) -> Result<PluginHeader, HeaderError> {
        let wanted = self.header_length();
        let Some(given) = bytes.get(..wanted) else {
            let found = bytes.len();
            return Err(HeaderError::new(format!("{found} bytes of a header of {wanted}")));
        };
        let mut header = PluginHeader(HeaderBytes::default());
        header.0[..wanted].copy_from_slice(given);
        Ok(header)
    }
    fn fields(&self, header: &PluginHeader) -> Vec<Figure> {
        // SAFETY: the function is of the table, whose headers are no longer than these bytes.
        unsafe { reason::fields(self.0.table.fields, &header.0) }
    }
}
