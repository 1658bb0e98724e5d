//! Requests and answers as the content of frames.
//!
//! | frame | bytes |
//! |---|---|
//! | request | hash of the key (8 bytes, big-endian), expectation (1), request |
//! | answer | flags (1): 1 the client's connection closes after it, 2 there is none; answer |
//!
//! A switch spreads by the key with `routing = "hash"`, whose usual offset and length are those of
//! the hash.

use bytes::{BufMut, Bytes, BytesMut};
use ratewire_framing::Expect;

const CLOSES: u8 = 1;
const FAILED: u8 = 2;
const REQUEST_HEADER: usize = 9;

/// A request in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFrame {
    /// Hash of the key.
    pub key: u64,
    /// How the end of the answer is found.
    pub expect: Expect,
    /// The request.
    pub bytes: Bytes,
}

impl RequestFrame {
    /// The frame's content.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(REQUEST_HEADER + self.bytes.len());
        out.put_u64(self.key);
        out.put_u8(self.expect.code());
        out.extend_from_slice(&self.bytes);
        out.freeze()
    }

    /// Reads a frame's content; `None` if it is too short.
    pub fn decode(data: &Bytes) -> Option<RequestFrame> {
        let (head, _) = data.split_at_checked(REQUEST_HEADER)?;
        let (key, expect) = head.split_at(8);
        Some(RequestFrame {
            key: u64::from_be_bytes(key.try_into().ok()?),
            expect: Expect::from_code(expect[0]),
            bytes: data.slice(REQUEST_HEADER..),
        })
    }
}

/// An answer in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerFrame {
    /// The server's.
    Answer {
        /// The answer, which may be empty.
        bytes: Bytes,
        /// Whether the client's connection closes after it.
        closes: bool,
    },
    /// There is none; why, in words.
    Failed(Bytes),
}

impl AnswerFrame {
    /// The frame's content.
    pub fn encode(&self) -> Bytes {
        let (flags, bytes) = match self {
            AnswerFrame::Answer { bytes, closes } => (u8::from(*closes) * CLOSES, bytes),
            AnswerFrame::Failed(why) => (FAILED, why),
        };
        let mut out = BytesMut::with_capacity(1 + bytes.len());
        out.put_u8(flags);
        out.extend_from_slice(bytes);
        out.freeze()
    }

    /// Reads a frame's content; `None` if it is empty or has unknown flags.
    pub fn decode(data: &Bytes) -> Option<AnswerFrame> {
        let flags = *data.first()?;
        let bytes = data.slice(1..);
        match flags {
            0 | CLOSES => Some(AnswerFrame::Answer { bytes, closes: flags == CLOSES }),
            FAILED => Some(AnswerFrame::Failed(bytes)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_have_these_bytes() {
        let expect = Expect::from_code(3);
        let request = RequestFrame { key: 0x0102, expect, bytes: "GET a".into() };
        assert_eq!(request.encode()[..], *b"\0\0\0\0\0\0\x01\x02\x03GET a");
        let answer = AnswerFrame::Answer { bytes: "$1".into(), closes: true };
        assert_eq!(answer.encode()[..], *b"\x01$1");
        assert_eq!(AnswerFrame::Failed("gone".into()).encode()[..], *b"\x02gone");
        assert_eq!(RequestFrame::decode(&Bytes::from_static(b"12345678")), None);
        assert_eq!(AnswerFrame::decode(&Bytes::new()), None);
        assert_eq!(AnswerFrame::decode(&Bytes::from_static(b"\x04")), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            key: u64, code: u8, bytes: Vec<u8>, closes: bool, failed: bool,
        ) {
            let bytes = Bytes::from(bytes);
            let expect = Expect::from_code(code);
            let request = RequestFrame { key, expect, bytes: bytes.clone() };
            prop_assert_eq!(RequestFrame::decode(&request.encode()), Some(request));
            let answer = match failed {
                true => AnswerFrame::Failed(bytes),
                false => AnswerFrame::Answer { bytes, closes },
            };
            prop_assert_eq!(AnswerFrame::decode(&answer.encode()), Some(answer));
        }

        #[test]
        fn anything_may_come(data: Vec<u8>) {
            let data = Bytes::from(data);
            if let Some(request) = RequestFrame::decode(&data) {
                prop_assert_eq!(request.encode(), data.clone());
            }
            if let Some(answer) = AnswerFrame::decode(&data) {
                prop_assert_eq!(answer.encode(), data);
            }
        }
    }
}
