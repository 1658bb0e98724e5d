//! What a member and a switch tell each other: JSON in the frames of a connection of its own.

use std::net::SocketAddr;

use ratewire_acp::Frame;
use serde::{Deserialize, Serialize};

use crate::config::Token;

/// Version of the messages.
pub(super) const VERSION: u32 = 1;
/// Longest frame with a message, in bytes.
pub(super) const LONGEST: u64 = 4096;

/// A member that wants to be one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Application {
    pub(super) version: u32,
    pub(super) ensemble: String,
    pub(super) name: String,
    /// Where the switch reaches the member. An address without a host has that of the connection.
    pub(super) address: SocketAddr,
    pub(super) weight: f64,
    /// A random number of the member's process.
    pub(super) instance: u64,
    pub(super) token: Token,
}

/// From a member.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// The first message.
    Register(Application),
    /// The member is still there.
    Renew,
    /// The member wants no new frames, and to hear when it has finished.
    Leave,
}

/// From a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(super) enum Reply {
    /// The registration ends if no message comes for so long.
    Registered { lease_ms: u64 },
    /// The registration is refused or over.
    Refused { why: String },
    /// The member has finished.
    Drained,
}

pub(super) fn encode(message: &impl Serialize) -> Frame {
    Frame::new(0, serde_json::to_vec(message).unwrap_or_default())
}

pub(super) fn decode<'a, T: Deserialize<'a>>(frame: &'a Frame) -> Option<T> {
    serde_json::from_slice(&frame.data).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_this_form() {
        let text = r#"{"register":{"version":1,"ensemble":"e","name":"a","address":"10.0.0.1:5",
            "weight":2.0,"instance":18446744073709551615,"token":"0123456789abcdef"}}"#;
        let frame = Frame::new(0, text);
        let Some(Message::Register(application)) = decode(&frame) else { panic!("a message") };
        assert_eq!((application.weight, application.instance), (2.0, u64::MAX));
        assert!(!format!("{application:?}").contains("0123"), "the token is not shown");
        let again = encode(&Message::Register(application));
        assert!(again.data.len() as u64 <= LONGEST);
        assert_eq!(encode(&Message::Renew).data, r#""renew""#);
        let reply = Reply::Registered { lease_ms: 5000 };
        assert_eq!(encode(&reply).data, r#"{"registered":{"lease-ms":5000}}"#);
        assert_eq!(decode(&encode(&reply)), Some(reply));
        assert!(decode::<Message>(&Frame::new(0, "{}")).is_none());
    }
}
