//! Fields that a law's ports read and write in real packets: the TCP options of
//! `bpf/laws/option.h`, and the same in data packets of ACP. JetMax's ports are those of `bpf/`
//! here too.

use ratewire_laws::kernel::option_form::{self, FIXED, OptionForm};
use ratewire_laws::{AnyLaw, Header, MAX_HEADER};
use ratewire_units::Bytes;

use crate::packet::{self, Carrier, Congestion};

/// A law's own option.
#[derive(Clone, Debug)]
struct Dialect {
    law: AnyLaw,
    form: OptionForm,
}

/// Options of all ports on a network, each law's once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dialects(Vec<Dialect>);

/// Replaces laws by the forms that real packets can carry.
pub(crate) fn adapt(laws: &mut [AnyLaw]) {
    for law in laws {
        // One that the kernel cannot be is refused before the start.
        if let AnyLaw::Jetmax(jetmax) = law
            && let Ok(of_kernel) = jetmax.in_kernel()
        {
            *law = AnyLaw::JetmaxKernel(of_kernel);
        }
    }
}

impl Dialects {
    /// Options of these laws' ports; a law whose headers no kernel writes has none.
    pub(crate) fn of<'a>(laws: impl Iterator<Item = &'a AnyLaw>) -> Dialects {
        let mut all: Vec<Dialect> = Vec::new();
        for law in laws {
            let is_there = all.iter().any(|dialect| dialect.law.info().name == law.info().name);
            if let (Some(form), false) = (OptionForm::of(law), is_there) {
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
        let found = packet::congestion(headers, ip);
        let Some(Congestion { at, carrier }) = found else { return Some(Header::None) };
        let option = &headers[at];
        let own = own.and_then(|own| self.0.get(own));
        let mut all = own.into_iter().chain(&self.0);
        match all.find(|dialect| dialect.form.is_of(option)) {
            Some(dialect) => dialect.read(option, carrier, size),
            None if OptionForm::ALL.iter().any(|form| form.is_of(option) && form.asks(option)) => {
                None
            }
            None => Some(Header::None),
        }
    }

    /// Writes a packet's congestion header back.
    pub(crate) fn write(&self, header: &Header, total: usize, headers: &mut [u8], ip: usize) {
        if *header == Header::None {
            return;
        }
        let Some(Congestion { at, carrier }) = packet::congestion(headers, ip) else { return };
        let option = &mut headers[at];
        if !option_form::rewrite(header, option) {
            self.write_encoded(header, total, carrier, option);
        }
    }

    /// Writes a header that is its law's option.
    fn write_encoded(&self, header: &Header, total: usize, carrier: Carrier, option: &mut [u8]) {
        let (mut bytes, size) = ([0; MAX_HEADER], Bytes::new(total as u64));
        let mut fitting = self.0.iter().filter(|dialect| dialect.fits(option, carrier));
        // A law encodes no other law's header, even of one that shares its identifier.
        let own = fitting
            .find(|dialect| dialect.law.encode(header, size, &mut bytes) == dialect.form.len);
        if let Some(dialect) = own {
            let end = dialect.form.forward();
            option[FIXED..end].copy_from_slice(&bytes[FIXED..end]);
        }
    }
}

impl Dialect {
    /// Whether an option is this law's and has the form of packets with data.
    fn fits(&self, option: &[u8], carrier: Carrier) -> bool {
        self.form.is_of(option) && option.len() == carrier.length(&self.form)
    }

    fn read(&self, option: &[u8], carrier: Carrier, size: u32) -> Option<Header> {
        if !self.form.asks(option) {
            return Some(Header::None);
        }
        if !self.fits(option, carrier) {
            return None;
        }
        option_form::read(&self.law, option, Bytes::new(u64::from(size)))
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
