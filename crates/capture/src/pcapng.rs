//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian on every machine.

use std::io::{self, Error, ErrorKind, Write};

use ratewire_units::Time;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const END_OF_OPTIONS: u16 = 0;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
/// Exponent of the time stamps' unit: 10^-9 s.
const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1_000;

/// Link type: the header that an interface's packets begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkType {
    /// LINKTYPE_ETHERNET, with the four bytes of the check sequence at the end.
    Ethernet = 1,
    /// LINKTYPE_RAW: an IPv4 or IPv6 header.
    RawIp = 101,
}

/// Length of an Ethernet frame's check sequence.
const CHECK_SEQUENCE: u8 = 4;

/// Writes blocks, each with one call to `out`.
#[derive(Debug)]
pub(crate) struct Blocks<W> {
    out: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Blocks<W> {
    /// Starts a file with its only section, whose length is left open.
    pub(crate) fn new(out: W, application: &str) -> io::Result<Blocks<W>> {
        let mut blocks = Blocks { out, block: Vec::with_capacity(160), interfaces: 0 };
        blocks.begin(SECTION_HEADER);
        blocks.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        blocks.put(&1_u16.to_le_bytes());
        blocks.put(&0_u16.to_le_bytes());
        blocks.put(&u64::MAX.to_le_bytes());
        blocks.option(SHB_USERAPPL, application.as_bytes())?;
        blocks.option(END_OF_OPTIONS, &[])?;
        blocks.end()?;
        Ok(blocks)
    }

    /// Describes the next interface and returns its number, counted from 0.
    pub(crate) fn interface(
        &mut self,
        name: &str,
        link_type: LinkType,
        snap_length: u32,
    ) -> io::Result<u32> {
        self.begin(INTERFACE_DESCRIPTION);
        self.put(&(link_type as u16).to_le_bytes());
        self.put(&[0; 2]);
        self.put(&snap_length.to_le_bytes());
        self.option(IF_NAME, name.as_bytes())?;
        self.option(IF_TSRESOL, &[NANOSECONDS])?;
        if link_type == LinkType::Ethernet {
            self.option(IF_FCSLEN, &[CHECK_SEQUENCE])?;
        }
        self.option(END_OF_OPTIONS, &[])?;
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet of `original` bytes of which `data` is kept.
    pub(crate) fn packet(
        &mut self,
        interface: u32,
        at: Time,
        original: u32,
        data: &[u8],
    ) -> io::Result<()> {
        let ns = at.ps() / PS_PER_NS;
        self.begin(ENHANCED_PACKET);
        self.put(&interface.to_le_bytes());
        self.put(&((ns >> 32) as u32).to_le_bytes());
        self.put(&(ns as u32).to_le_bytes());
        self.put(&(data.len() as u32).to_le_bytes());
        self.put(&original.to_le_bytes());
        self.put(data);
        self.pad();
        self.end()
    }

    /// Flushes and returns the writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put(&kind.to_le_bytes());
        // The length, known at the end.
        self.put(&[0; 4]);
    }
    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let Ok(length) = u16::try_from(value.len()) else {
            let message = format!(
                "a name of {} bytes does not fit a pcapng file; allowed are {}",
                value.len(),
                u16::MAX
            );
            return Err(Error::new(ErrorKind::InvalidInput, message));
        };
        self.put(&code.to_le_bytes());
        self.put(&length.to_le_bytes());
        self.put(value);
        self.pad();
        Ok(())
    }
    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.put(&length);
        self.out.write_all(&self.block)
    }
}

#[cfg(test)]
impl Blocks<Vec<u8>> {
    /// The bytes written so far.
    pub(crate) fn file(&self) -> &[u8] {
        &self.out
    }
}
