//! Members that register themselves at a running switch.
//!
//! | part | is |
//! |---|---|
//! | `wire` | the messages |
//! | `desk` | who is registered, sans-IO |
//! | `token` | compares the tokens that members show |
//! | `server` | the switch's end |
//! | `client` | the member's end: [`Registrant`] |
//!
//! A member keeps an ACP connection with the switch's address for registrations. Its first frame
//! says what it is, and later ones that it is still there. The switch gives it a place in the
//! ensemble for as long as these come.

mod client;
mod desk;
mod server;
mod token;
mod wire;

pub use client::{Registrant, RegistrantConfig, RegistrationEvent};
pub(crate) use server::{RegisterError, Registry};
