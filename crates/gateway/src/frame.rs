//! What gateways and members tell each other in frames.
//!
//! A frame of a gateway holds one [`Message`]: a number (8 bytes, big-endian), an expectation (1),
//! a kind (1) and content.
//!
//! | kind | number | content |
//! |---|---|---|
//! | 0 request | hash of the key | the request |
//! | 1 beginning of a request | hash of the key | its first bytes |
//! | 2 more of a request | its exchange | bytes |
//! | 3 end of a request | its exchange | its last bytes |
//! | 4 cancelled | its exchange | none |
//! | 5 credit | its exchange | bytes of the answer that may be sent beyond those before (8) |
//! | 6 hello | the gateway's own, random | none |
//!
//! A frame of a member holds [`Reply`]s. For each: exchange (8), length (4), kind (1), content.
//! Replies that leave together share a frame, and so the cost of a packet at each hop.
//!
//! | kind | content |
//! |---|---|
//! | 0 answer, or its end | bytes |
//! | 1 the same; the client's connection closes after it | bytes |
//! | 2 failed: there is no answer, or no more of it | why, in words |
//! | 3 beginning of an answer, or more of it | bytes |
//! | 4 credit | bytes of the request that may be sent beyond those before (8) |
//! | 5 welcome | the member's process (8), exchanges of this gateway that it has had (8) |
//! | 6 switched: the answer behind changes the protocol of the connection | none |
//!
//! An exchange has the number of the frame that began it, and ends with one reply of kind 0, 1 or
//! 2, also if it was cancelled. A gateway counts its frames with requests up, over all of its
//! connections with a member.
//!
//! A switch spreads by the key with `routing = "hash"`, whose usual offset and length are those of
//! the first number.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use ratewire_framing::Expect;

const HEADER: usize = 10;
const REPLY_HEADER: usize = 13;
/// Bytes of replies that fit a packet on every path, with room for its headers.
const FULL: usize = 1000;
/// Bytes of an answer, and of a request behind its beginning, that may be sent before there is a
/// credit for more.
pub const CREDIT: u64 = 256 << 10;

/// A whole request, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFrame {
    /// Hash of the key.
    pub key: u64,
    /// How the end of the answer is found.
    pub expect: Expect,
    /// The request.
    pub bytes: Bytes,
}

/// What a gateway tells a member in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A request.
    Request(RequestFrame),
    /// The beginning of a request whose rest follows.
    Begin(RequestFrame),
    /// More of a request.
    More {
        /// The number of the frame with its beginning.
        exchange: u64,
        /// Whether it is the last.
        is_last: bool,
        /// The bytes.
        bytes: Bytes,
    },
    /// Nobody waits for the answer any more.
    Cancel {
        /// The number of the frame with the request.
        exchange: u64,
    },
    /// The client has taken bytes of the answer.
    Credit {
        /// The number of the frame with the request.
        exchange: u64,
        /// How many may come beyond those that were allowed before.
        bytes: u64,
    },
    /// The first frame of a connection for one member.
    Hello {
        /// A random number of the gateway's process.
        gateway: u64,
    },
}

impl Message {
    /// The frame's content.
    pub fn encode(&self) -> Bytes {
        let (number, expect, kind, bytes) = match self {
            Message::Request(RequestFrame { key, expect, bytes }) => (*key, *expect, 0, &bytes[..]),
            Message::Begin(RequestFrame { key, expect, bytes }) => (*key, *expect, 1, &bytes[..]),
            Message::More { exchange, is_last, bytes } => {
                (*exchange, Expect::ORDINARY, 2 + u8::from(*is_last), &bytes[..])
            }
            Message::Cancel { exchange } => (*exchange, Expect::ORDINARY, 4, &[][..]),
            Message::Credit { exchange, bytes } => {
                (*exchange, Expect::ORDINARY, 5, &bytes.to_be_bytes()[..])
            }
            Message::Hello { gateway } => (*gateway, Expect::ORDINARY, 6, &[][..]),
        };
        let mut out = BytesMut::with_capacity(HEADER + bytes.len());
        out.put_u64(number);
        out.put_u8(expect.code());
        out.put_u8(kind);
        out.extend_from_slice(bytes);
        out.freeze()
    }

    /// Reads a frame's content; `None` if it is none of a gateway.
    pub fn decode(mut data: Bytes) -> Option<Message> {
        if data.len() < HEADER {
            return None;
        }
        let (number, expect) = (data.get_u64(), Expect::from_code(data.get_u8()));
        let kind = data.get_u8();
        let request = |bytes| RequestFrame { key: number, expect, bytes };
        Some(match kind {
            0 => Message::Request(request(data)),
            1 => Message::Begin(request(data)),
            2 | 3 => Message::More { exchange: number, is_last: kind == 3, bytes: data },
            4 => Message::Cancel { exchange: number },
            5 => Message::Credit { exchange: number, bytes: data.try_get_u64().ok()? },
            6 => Message::Hello { gateway: number },
            _ => return None,
        })
    }
}

/// What a member tells a gateway of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The server's answer, or the end of it.
    Answer {
        /// The answer, which may be empty.
        bytes: Bytes,
        /// Whether the client's connection closes after it.
        closes: bool,
    },
    /// There is no answer, or no more of it; why, in words.
    Failed(Bytes),
    /// The beginning of an answer whose rest follows, or more of it.
    More(Bytes),
    /// The server has taken bytes of the request: so many may come beyond those allowed before.
    Credit(u64),
    /// The answer to a hello.
    Welcome {
        /// A random number of the member's process.
        process: u64,
        /// The number behind the last exchange that this process has had from the gateway.
        received: u64,
    },
    /// The answer that follows changes the protocol of the connection: bytes pass in both
    /// directions until one of the ends closes. A request that asks for that and is answered
    /// without this has an ordinary answer.
    Switched,
}

impl Reply {
    /// The last reply of an exchange that was cancelled: each exchange has one.
    pub(crate) fn cancelled() -> Reply {
        Reply::Failed(Bytes::from_static(b"cancelled"))
    }

    fn of(kind: u8, mut bytes: Bytes) -> Option<Reply> {
        Some(match kind {
            0 | 1 => Reply::Answer { bytes, closes: kind == 1 },
            2 => Reply::Failed(bytes),
            3 => Reply::More(bytes),
            4 => Reply::Credit(bytes.try_get_u64().ok()?),
            5 => Reply::Welcome {
                process: bytes.try_get_u64().ok()?,
                received: bytes.try_get_u64().ok()?,
            },
            6 => Reply::Switched,
            _ => return None,
        })
    }

    /// Bytes of the content.
    pub(crate) fn len(&self) -> usize {
        match self {
            Reply::Answer { bytes, .. } | Reply::Failed(bytes) | Reply::More(bytes) => bytes.len(),
            Reply::Credit(_) => 8,
            Reply::Welcome { .. } => 16,
            Reply::Switched => 0,
        }
    }
}

/// Replies of a frame in preparation.
#[derive(Clone, Debug, Default)]
pub struct Replies(BytesMut);

impl Replies {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a reply of this length fits a packet with those before it.
    pub fn has_room(&self, reply: &Reply) -> bool {
        self.0.len() + REPLY_HEADER + reply.len() <= FULL
    }

    /// Adds a reply of an exchange.
    pub fn push(&mut self, exchange: u64, reply: &Reply) {
        let out = &mut self.0;
        out.put_u64(exchange);
        out.put_u32(reply.len() as u32);
        match reply {
            Reply::Answer { bytes, closes } => {
                out.put_u8(u8::from(*closes));
                out.extend_from_slice(bytes);
            }
            Reply::Failed(why) => {
                out.put_u8(2);
                out.extend_from_slice(why);
            }
            Reply::More(bytes) => {
                out.put_u8(3);
                out.extend_from_slice(bytes);
            }
            Reply::Credit(bytes) => {
                out.put_u8(4);
                out.put_u64(*bytes);
            }
            Reply::Welcome { process, received } => {
                out.put_u8(5);
                out.put_u64(*process);
                out.put_u64(*received);
            }
            Reply::Switched => out.put_u8(6),
        }
    }

    /// The frame's content, which begins anew.
    pub fn take(&mut self) -> Bytes {
        self.0.split().freeze()
    }
}

/// Reads the replies of a frame with their exchanges; `None` if they cannot be read.
pub fn read_replies(mut data: Bytes) -> Option<Vec<(u64, Reply)>> {
    let mut replies = Vec::new();
    while !data.is_empty() {
        if data.len() < REPLY_HEADER {
            return None;
        }
        let (exchange, length, kind) = (data.get_u64(), data.get_u32() as usize, data.get_u8());
        if data.len() < length {
            return None;
        }
        replies.push((exchange, Reply::of(kind, data.split_to(length))?));
    }
    Some(replies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_have_these_bytes() {
        let expect = Expect::from_code(3);
        let request = RequestFrame { key: 0x0102, expect, bytes: "GET a".into() };
        let bytes = Message::Request(request).encode();
        assert_eq!(bytes[..], *b"\0\0\0\0\0\0\x01\x02\x03\0GET a");
        let credit = Message::Credit { exchange: 7, bytes: 258 }.encode();
        assert_eq!(credit[..], *b"\0\0\0\0\0\0\0\x07\0\x05\0\0\0\0\0\0\x01\x02");
        let mut replies = Replies::default();
        replies.push(5, &Reply::Answer { bytes: "$1".into(), closes: true });
        replies.push(0x0607, &Reply::Failed("gone".into()));
        let bytes = b"\0\0\0\0\0\0\0\x05\0\0\0\x02\x01$1\0\0\0\0\0\0\x06\x07\0\0\0\x04\x02gone";
        assert_eq!(replies.take()[..], *bytes);
        assert!(replies.is_empty());
        assert_eq!(Message::decode(Bytes::from_static(b"123456789")), None);
        assert_eq!(Message::decode(Bytes::from_static(b"12345678\0\x07")), None);
        assert_eq!(read_replies(Bytes::from_static(&bytes[..bytes.len() - 1])), None);
        assert_eq!(read_replies(Bytes::from_static(b"\0\0\0\0\0\0\0\x05\0\0\0\0\x07")), None);
    }

    fn bytes() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from)
    }

    fn message() -> impl Strategy<Value = Message> {
        (0..7, any::<u64>(), any::<(u8, bool, u64)>(), bytes()).prop_map(
            |(kind, number, (code, is_last, credit), bytes)| {
                let request =
                    |bytes| RequestFrame { key: number, expect: Expect::from_code(code), bytes };
                match kind {
                    0 => Message::Request(request(bytes)),
                    1 => Message::Begin(request(bytes)),
                    2 | 3 => Message::More { exchange: number, is_last, bytes },
                    4 => Message::Cancel { exchange: number },
                    5 => Message::Credit { exchange: number, bytes: credit },
                    _ => Message::Hello { gateway: number },
                }
            },
        )
    }

    fn reply() -> impl Strategy<Value = Reply> {
        (0..7, bytes(), any::<(u64, u64)>()).prop_map(|(kind, bytes, (a, b))| match kind {
            0 | 1 => Reply::Answer { bytes, closes: kind == 1 },
            2 => Reply::Failed(bytes),
            3 => Reply::More(bytes),
            4 => Reply::Credit(a),
            5 => Reply::Switched,
            _ => Reply::Welcome { process: a, received: b },
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(message in message()) {
            prop_assert_eq!(Message::decode(message.encode()), Some(message));
        }

        #[test]
        fn replies_that_are_written_are_read(
            replies in prop::collection::vec((any::<u64>(), reply()), 0..20),
        ) {
            let mut frame = Replies::default();
            replies.iter().for_each(|(exchange, reply)| frame.push(*exchange, reply));
            prop_assert_eq!(read_replies(frame.take()), Some(replies));
        }

        #[test]
        fn anything_may_come(data: Vec<u8>) {
            _ = Message::decode(Bytes::from(data.clone()));
            _ = read_replies(Bytes::from(data));
        }
    }
}
