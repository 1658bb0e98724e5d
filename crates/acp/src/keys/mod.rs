//! Keys: the handshake (Noise), the seal of packets (AES-256-GCM), cookies, proofs that a
//! connection is not known, and protection against packets that are sent again by others.

mod cookie;
mod handshake;
mod proof;
mod replay;
mod seal;

pub use cookie::{COOKIE, Cookies};
pub use handshake::{ClientHandshake, Credentials, HandshakeError, KeyPair, ServerHandshake};
pub use proof::{Proofs, is_same_proof};
pub use replay::Replay;
pub use seal::{Keys, Open, Seal};
