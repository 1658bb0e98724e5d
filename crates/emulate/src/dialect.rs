//! Fields that a law's ports read and write in the packets of a kernel that speaks the law: the TCP
//! options of `bpf/laws/option.h`.
//!
//! A law of `bpf/` has the option as its header. XCP's, RCP's and PIQI-RCP's ports in Rust have the
//! drafts' headers, whose fields follow from the option's: XCP's X is a packet over the rate, and a
//! packet's part of the feedback is the change in time times X. JetMax's fields do not follow: its
//! ports are those of `bpf/` here too.

use ratewire_kernel::Header as Fields;
use ratewire_laws::rcp::{RcpHeader, RcpKind};
use ratewire_laws::{AnyLaw, Header, MAX_HEADER};
use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use crate::control::{FIXED, FORMS, Form, control};
use crate::packet;

const TCP: u8 = 6;

/// A law's own option.
#[derive(Clone, Debug)]
struct Dialect {
    law: AnyLaw,
    form: Form,
}

/// Options of all ports on a network, each law's once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dialects(Vec<Dialect>);

/// Replaces laws by the forms that real packets can carry.
pub(crate) fn adapt(laws: &mut [AnyLaw]) {
    for law in laws.iter_mut().filter(|law| matches!(law, AnyLaw::Jetmax(_))) {
        if let Ok(of_kernel) = AnyLaw::new("jetmax@kernel", &[]) {
            *law = of_kernel;
        }
    }
}

impl Dialects {
    /// Options of these laws' ports; a law whose headers no kernel writes has none.
    pub(crate) fn of<'a>(laws: impl Iterator<Item = &'a AnyLaw>) -> Dialects {
        let mut all: Vec<Dialect> = Vec::new();
        for law in laws {
            let is_there = all.iter().any(|dialect| dialect.law.info().name == law.info().name);
            if let (Some(form), false) = (control(law).and_then(|c| c.option), is_there) {
                all.push(Dialect { law: law.clone(), form });
            }
        }
        Dialects(all)
    }

    /// Index of a law's own option.
    pub(crate) fn position(&self, law: &AnyLaw) -> Option<usize> {
        self.0.iter().position(|dialect| dialect.law.info().name == law.info().name)
    }

    /// The congestion header of a packet. If laws share an identifier, it is read in the flow's own
    /// dialect, if that is known. `None` if the packet has a header that no port can read.
    pub(crate) fn read(
        &self,
        own: Option<usize>,
        headers: &[u8],
        ip: usize,
        size: u32,
    ) -> Option<Header> {
        if self.0.is_empty() {
            return Some(Header::None);
        }
        let Some(at) = packet::option(headers, ip) else { return Some(Header::None) };
        let option = &headers[at];
        let own = own.and_then(|own| self.0.get(own));
        let mut all = own.into_iter().chain(&self.0);
        match all.find(|dialect| dialect.form.is_of(option)) {
            Some(dialect) => dialect.read(option, size),
            None if FORMS.iter().any(|form| form.is_of(option) && form.asks(option)) => None,
            None => Some(Header::None),
        }
    }

    /// Writes a packet's congestion header back.
    pub(crate) fn write(&self, header: &Header, total: usize, headers: &mut [u8], ip: usize) {
        if *header == Header::None {
            return;
        }
        let Some(at) = packet::option(headers, ip) else { return };
        let option = &mut headers[at];
        let fields = match header {
            Header::Xcp(header) => {
                let change = match header.x.secs() {
                    x if x > 0.0 => header.delta_throughput.get() / x,
                    _ => 0.0,
                };
                let read = fields(option);
                Fields::new(read.rate(), read.rtt(), Throughput::new(change))
            }
            Header::Rcp(header) | Header::PiqiRcp(header) => {
                Fields::new(header.rate, header.rtt, Throughput::ZERO)
            }
            _ => return self.write_encoded(header, total, option),
        };
        let end = option.len() - 4;
        let words = option[FIXED..end].chunks_exact_mut(4);
        for (word, field) in words.zip(fields.to_fields()) {
            word.copy_from_slice(&field.to_be_bytes());
        }
    }

    /// Writes a header that is its law's option.
    fn write_encoded(&self, header: &Header, total: usize, option: &mut [u8]) {
        let (mut bytes, size) = ([0; MAX_HEADER], Bytes::new(total as u64));
        let mut fitting = self.0.iter().filter(|dialect| dialect.form.fits(option));
        // A law encodes no other law's header, even of one that shares its identifier.
        let own = fitting
            .find(|dialect| dialect.law.encode(header, size, &mut bytes) == dialect.form.len);
        if let Some(dialect) = own {
            let end = dialect.form.len - dialect.form.returned;
            option[..end].copy_from_slice(&bytes[..end]);
        }
    }
}

impl Dialect {
    fn read(&self, option: &[u8], size: u32) -> Option<Header> {
        if !self.form.asks(option) {
            return Some(Header::None);
        }
        if !self.form.fits(option) {
            return None;
        }
        let size = Bytes::new(u64::from(size));
        Some(match self.law {
            AnyLaw::Xcp(_) => {
                let fields = fields(option);
                let x = x(&fields, size);
                Header::Xcp(XcpHeader {
                    protocol: TCP,
                    format: Format::Standard,
                    rtt: fields.rtt(),
                    x,
                    reverse_feedback: Throughput::ZERO,
                    delta_throughput: Throughput::new(fields.change().get() * x.secs()),
                })
            }
            AnyLaw::Rcp(_) => Header::Rcp(rate(&fields(option))),
            AnyLaw::PiqiRcp(_) => Header::PiqiRcp(rate(&fields(option))),
            _ => return self.law.decode(option, size).ok(),
        })
    }
}

/// Fields for routers, in order; fields that the option lacks are 0.
fn fields(option: &[u8]) -> Fields {
    let end = option.len() - 4;
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(option[FIXED..end].chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    Fields::from_fields(words)
}

fn x(fields: &Fields, size: Bytes) -> Duration {
    match fields.rate().get() {
        rate if rate > 0.0 => Duration::from_secs_f64(size.as_f64() / rate),
        _ => Duration::ZERO,
    }
}

fn rate(fields: &Fields) -> RcpHeader {
    RcpHeader {
        protocol: TCP,
        kind: RcpKind::Request,
        rate: fields.rate(),
        rtt: fields.rtt(),
        reverse_rate: Throughput::ZERO,
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
