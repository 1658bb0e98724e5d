//! Bytes on the links between daemons, sans-IO.
//!
//! Both ends first send a [`Greeting`], and the one that connects sends the number of the
//! connection, or 0 if it connects only to say that it is there. If their configurations differ,
//! both then send an [`Agreement`]. Each of these is:
//!
//! | bytes | field |
//! |---|---|
//! | 4 | length of the body, little-endian |
//! | length | body: a value in the format of the crate `postcard`, version 1 |
//!
//! Then each direction is a sequence of [frames](ratewire_overlay::membership::write). After an
//! error the place of the next frame is unknown: the link must be closed.

mod error;
mod frame;
mod greeting;
#[cfg(test)]
mod tests;

pub use error::WireError;
pub use frame::{LONGEST_FRAME, decode, decode_message, encode, encode_message};
pub use greeting::{Agreement, Greeting};

/// Version of the format of links. Daemons of different versions do not link.
pub const VERSION: u32 = 3;
