//! The protocol between Spread's clients and its daemon, sans-IO, for both ends.
//!
//! Facts are those of Spread 4.4.0 and 5.0.1. A connection starts with a handshake:
//!
//! | from | message | if |
//! |---|---|---|
//! | client | [`Hello`] | |
//! | daemon | [`offer`] | the client [`authenticates`](Version::authenticates) |
//! | client | [`choice`] | the daemon has made an offer |
//! | daemon | [`Acceptance`] | |
//!
//! The daemon may answer a [`Refusal`] instead. After the handshake, the client sends [`Request`]s
//! and gets what [`Received`] lists. Each side writes numbers in its own [`ByteOrder`] and reads
//! both.
//!
//! Parsers take a message off the front of a buffer, or leave the buffer as it is until more bytes
//! have come. They check every length before they ask for the bytes that it stands for.

mod answer;
pub mod fuzzing;
mod header;
mod hello;
mod membership;
mod message;
mod name;
mod received;
mod refusal;
mod request;
mod violation;

pub use answer::{Acceptance, choice, offer, parse_choice, parse_offer};
pub use header::ByteOrder;
pub use hello::{Hello, Version};
pub use membership::{Change, Membership, MembershipId};
pub use message::{LONGEST_BODY, MOST_GROUPS, Message};
pub use name::{ClientName, GroupName, InvalidName, PrivateName};
pub use received::{MOST_MEMBERS, Received};
pub use refusal::Refusal;
pub use request::Request;
pub use violation::Violation;
