//! ACP, the Anypoint-compatible protocol: a framed transport over UDP (Yocum and Chase, *Explicit
//! rate control for Anypoint communication*, section V).
//!
//! Applications send and receive [`Frame`]s, up to 16 MiB each, which arrive whole. A connection is
//! encrypted and authenticated, except for its congestion header: routers may read and rewrite it,
//! and so tell senders their rate.
//!
//! - [`Endpoint`] and [`Connection`] are sockets, for programs. They need a tokio runtime;
//!   [`blocking`] has the same for programs without one.
//! - [`connection`] is one end of a connection, sans-IO, and [`channel`] the packets below it.
//! - [`wire`] has the packets as bytes, and [`keys`] what protects them.
//!
//! # Differences from the paper's ACP
//! - The paper's runs in a kernel as an IP protocol; this one is a library over UDP.
//! - The paper's has XCP's header or none; this one has the header of any law.
//! - The paper's is neither encrypted nor authenticated.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use ratewire_acp::{Config, Credentials, Endpoint, Frame};
//!
//! let config = || Config::new(Credentials::Shared([7; 32]));
//! let server = Endpoint::server("127.0.0.1:0".parse()?, config())?;
//! let client = Endpoint::client("127.0.0.1:0".parse()?, config())?;
//! let connection = client.connect(server.address()).await?;
//! connection.send(Frame::new(1, "a question")).await?;
//! let accepted = server.accept().await?;
//! let frame = accepted.receive().await?.expect("a frame");
//! assert_eq!((frame.id, &frame.data[..]), (1, &b"a question"[..]));
//! # Ok(())
//! # }
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod blocking;
pub mod channel;
mod config;
pub mod connection;
mod endpoint;
mod error;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod handshakes;
pub mod keys;
pub mod socket;
pub mod wire;

pub use channel::CloseReason;
pub use config::Config;
pub use connection::Metrics;
pub use endpoint::{Connection, Dialer, Endpoint, local_for};
pub use error::Error;
pub use frame::Frame;
pub use keys::{Credentials, KeyPair};
