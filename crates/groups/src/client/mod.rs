//! A client library: programs join groups at a daemon of this crate or of Spread, and send messages
//! to groups.
//!
//! ```no_run
//! use ratewire_groups::client::{Address, Connection, Error, Options, Received, Service};
//!
//! # async fn chat() -> Result<(), Error> {
//! let address: Address = "localhost:4803".parse()?;
//! let options = Options { membership: true, ..Options::default() };
//! let mut connection = Connection::connect(&address, options).await?;
//! let chat = "chat".parse()?;
//! connection.join(chat).await?;
//! connection.multicast(Service::Agreed, &[chat], 0, "hello").await?;
//! loop {
//!     match connection.receive().await? {
//!         Received::Membership(membership) => println!("members: {:?}", membership.members),
//!         Received::Message { sender, message } => {
//!             println!("{sender}: {}", String::from_utf8_lossy(&message.data));
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//! connection.disconnect().await
//! # }
//! ```
//!
//! [`blocking`] has the same calls for programs without an asynchronous runtime.

mod address;
pub mod blocking;
mod connection;
mod error;
mod handshake;

pub use address::{Address, InvalidAddress};
pub use connection::{Connection, Receiver, Sender};
pub use error::Error;
pub use handshake::Options;
pub use ratewire_overlay::membership::Service;

pub use crate::spread::{
    Change, ClientName, GroupName, InvalidName, Membership, MembershipId, Message, PrivateName,
    Received, Refusal, Request, Violation,
};
