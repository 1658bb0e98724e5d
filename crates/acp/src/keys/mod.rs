//! Keys: the handshake (Noise), the seal of packets (AES-256-GCM), cookies, and protection against
//! packets that are sent again by others.

mod cookie;
mod handshake;
mod replay;
mod seal;

pub use cookie::{COOKIE, Cookies};
pub use handshake::{ClientHandshake, Credentials, HandshakeError, KeyPair, ServerHandshake};
pub use replay::Replay;
pub use seal::{Keys, Open, Seal};
