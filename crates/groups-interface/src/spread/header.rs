//! The header of every message after the handshake, and the names and data that follow it.
//!
//! | bytes | are |
//! |---|---|
//! | 0..4 | kind of message (module [`kind`]), and the mark of the writer's byte order |
//! | 4..36 | the sender's private name; in notices, the group |
//! | 36..40 | number of names after the header |
//! | 40..44 | hint: the application's 16 bits in the middle, in the byte order of the sender |
//! | 44..48 | number of bytes after the names |

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::name::NAME_SIZE;
use super::violation::Violation;

/// Bytes of a header.
pub(super) const HEADER_SIZE: usize = 48;

/// Marks a number written in little-endian order. The mark reads alike in both orders.
const LITTLE: u32 = 0x8000_0080;

/// Bits that say what a message is.
pub(super) mod kind {
    use ratewire_overlay::membership::Service;

    pub const SELF_DISCARD: u32 = 0x40;
    pub const CAUSED_BY_JOIN: u32 = 0x100;
    pub const CAUSED_BY_LEAVE: u32 = 0x200;
    pub const CAUSED_BY_DISCONNECT: u32 = 0x400;
    pub const CAUSED_BY_NETWORK: u32 = 0x800;
    pub const CAUSES: u32 = 0xf00;
    pub const REGULAR_MEMBERSHIP: u32 = 0x1000;
    pub const TRANSITION: u32 = 0x2000;
    pub const JOIN: u32 = 0x1_0000;
    pub const LEAVE: u32 = 0x2_0000;
    pub const KILL: u32 = 0x4_0000;
    pub const REJECT: u32 = 0x40_0000;

    const SERVICES: [(u32, Service); 6] = [
        (0x01, Service::Unreliable),
        (0x02, Service::Reliable),
        (0x04, Service::Fifo),
        (0x08, Service::Causal),
        (0x10, Service::Agreed),
        (0x20, Service::Safe),
    ];
    /// The bits of which a message from a client has exactly one.
    pub const REQUESTS: u32 = 0x3f | JOIN | LEAVE | KILL;

    pub fn of_service(service: Service) -> u32 {
        let has = |entry: &&(u32, Service)| entry.1 == service;
        SERVICES.iter().find(has).expect("every service has a bit").0
    }

    /// The service of a message with exactly one service bit.
    pub fn service(kind: u32) -> Option<Service> {
        let bit = kind & 0x3f;
        SERVICES.iter().find(|entry| entry.0 == bit).map(|entry| entry.1)
    }
}

/// Order of the bytes in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The most significant byte is first.
    Big,
    /// The least significant byte is first.
    Little,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };

    fn mark(self) -> u32 {
        match self {
            ByteOrder::Big => 0,
            ByteOrder::Little => LITTLE,
        }
    }

    pub(super) fn get(self, bytes: &mut impl Buf) -> u32 {
        match self {
            ByteOrder::Big => bytes.get_u32(),
            ByteOrder::Little => bytes.get_u32_le(),
        }
    }

    pub(super) fn put(self, number: u32, bytes: &mut impl BufMut) {
        match self {
            ByteOrder::Big => bytes.put_u32(number),
            ByteOrder::Little => bytes.put_u32_le(number),
        }
    }

    /// Reads a number that has its own mark. Returns the number without the mark.
    pub(super) fn get_marked(bytes: &mut impl Buf) -> (ByteOrder, u32) {
        let number = bytes.get_u32_le();
        match number & LITTLE == LITTLE {
            true => (ByteOrder::Little, number & !LITTLE),
            false => (ByteOrder::Big, number.swap_bytes() & !LITTLE),
        }
    }

    pub(super) fn put_marked(self, number: u32, bytes: &mut impl BufMut) {
        self.put(number & !LITTLE | self.mark(), bytes);
    }
}

/// Sixteen bits of the application with the byte order of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hint {
    pub order: ByteOrder,
    pub kind: i16,
}

/// A header.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Byte order of the numbers in the message.
    pub order: ByteOrder,
    /// Bits of [`kind`].
    pub kind: u32,
    /// The sender or the group.
    pub name: [u8; NAME_SIZE],
    /// Number of names. Only [`Limit::check`] bounds this number and that of bytes.
    pub names: usize,
    pub hint: Hint,
    /// Bytes of data.
    pub data: usize,
}

/// Largest number of names and largest size of a message.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub names: usize,
    /// Bytes of names and data.
    pub body: usize,
}

impl Limit {
    /// Whether this many names and bytes of data are within the limit.
    pub fn check(&self, names: usize, data: usize) -> Result<(), Violation> {
        if names > self.names {
            return Err(Violation::TooManyNames { names, most: self.names });
        }
        let size = data.saturating_add(names * NAME_SIZE);
        if size > self.body {
            return Err(Violation::TooLong { size, most: self.body });
        }
        Ok(())
    }
}

/// What follows a header.
pub(super) struct Body {
    /// Bytes between the header and the names.
    pub prefix: Bytes,
    pub names: Bytes,
    pub data: Bytes,
}

impl Header {
    /// Reads the header at the start of a buffer; the buffer keeps it. Returns `None` if the buffer
    /// does not have all of the header.
    pub fn peek(buffer: &BytesMut) -> Result<Option<Header>, Violation> {
        let Some(mut bytes) = buffer.get(..HEADER_SIZE) else { return Ok(None) };
        let (order, kind) = ByteOrder::get_marked(&mut bytes);
        let mut name = [0; NAME_SIZE];
        bytes.copy_to_slice(&mut name);
        // A negative number is larger than any limit.
        let names = order.get(&mut bytes) as usize;
        let (sender, hint) = ByteOrder::get_marked(&mut bytes);
        let data = order.get(&mut bytes) as usize;
        if hint & 0xff00_00ff != 0 {
            return Err(Violation::Hint(hint));
        }
        let hint = Hint { order: sender, kind: (hint >> 8) as u16 as i16 };
        Ok(Some(Header { order, kind, name, names, hint, data }))
    }

    /// Takes a message off the buffer that its header was read from. Returns `None`, and leaves the
    /// buffer as it is, if the buffer does not have all of the message.
    pub fn take(&self, buffer: &mut BytesMut, prefix: usize) -> Option<Body> {
        let names = self.names * NAME_SIZE;
        if buffer.len() < HEADER_SIZE + prefix + names + self.data {
            return None;
        }
        buffer.advance(HEADER_SIZE);
        let mut rest = buffer.split_to(prefix + names + self.data).freeze();
        Some(Body { prefix: rest.split_to(prefix), names: rest.split_to(names), data: rest })
    }

    pub fn put(&self, bytes: &mut BytesMut) {
        self.order.put_marked(self.kind, bytes);
        bytes.put_slice(&self.name);
        self.order.put(self.names as u32, bytes);
        let kind = u32::from(self.hint.kind as u16) << 8;
        self.hint.order.put_marked(kind, bytes);
        self.order.put(self.data as u32, bytes);
    }
}
