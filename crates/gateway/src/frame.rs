//! Requests and answers as the content of frames.
//!
//! | frame | bytes |
//! |---|---|
//! | request | hash of the key (8 bytes, big-endian), expectation (1), request |
//! | answers | for each: number of the request's frame (8), length (4), flags (1), answer |
//!
//! Flags of an answer: 1 the client's connection closes after it, 2 there is none. Answers that
//! leave together share a frame, and so the cost of a packet at each hop.
//!
//! A switch spreads by the key with `routing = "hash"`, whose usual offset and length are those of
//! the hash.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use ratewire_framing::Expect;

const CLOSES: u8 = 1;
const FAILED: u8 = 2;
const REQUEST_HEADER: usize = 9;
const ANSWER_HEADER: usize = 13;
/// Bytes of answers that fit a packet on every path, with room for its headers.
const FULL: usize = 1000;

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

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server's answer.
    Bytes {
        /// The answer, which may be empty.
        bytes: Bytes,
        /// Whether the client's connection closes after it.
        closes: bool,
    },
    /// There is none; why, in words.
    Failed(Bytes),
}

impl Answer {
    fn parts(&self) -> (u8, &Bytes) {
        match self {
            Answer::Bytes { bytes, closes } => (u8::from(*closes) * CLOSES, bytes),
            Answer::Failed(why) => (FAILED, why),
        }
    }

    fn of(flags: u8, bytes: Bytes) -> Option<Answer> {
        match flags {
            0 | CLOSES => Some(Answer::Bytes { bytes, closes: flags == CLOSES }),
            FAILED => Some(Answer::Failed(bytes)),
            _ => None,
        }
    }
}

/// Answers of a frame in preparation.
#[derive(Clone, Debug, Default)]
pub struct AnswersFrame(BytesMut);

impl AnswersFrame {
    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an answer of this length fits a packet with those before it.
    pub fn has_room(&self, answer: &Answer) -> bool {
        self.0.len() + ANSWER_HEADER + answer.parts().1.len() <= FULL
    }

    /// Adds the answer to the request of the frame with this number.
    pub fn push(&mut self, id: u64, answer: &Answer) {
        let (flags, bytes) = answer.parts();
        self.0.put_u64(id);
        self.0.put_u32(bytes.len() as u32);
        self.0.put_u8(flags);
        self.0.extend_from_slice(bytes);
    }

    /// The frame's content, which begins anew.
    pub fn take(&mut self) -> Bytes {
        self.0.split().freeze()
    }
}

/// Reads the answers of a frame with their requests' numbers; `None` if they cannot be read.
pub fn read_answers(mut data: Bytes) -> Option<Vec<(u64, Answer)>> {
    let mut answers = Vec::new();
    while !data.is_empty() {
        if data.len() < ANSWER_HEADER {
            return None;
        }
        let (id, length, flags) = (data.get_u64(), data.get_u32() as usize, data.get_u8());
        if data.len() < length {
            return None;
        }
        answers.push((id, Answer::of(flags, data.split_to(length))?));
    }
    Some(answers)
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
        let mut answers = AnswersFrame::default();
        answers.push(5, &Answer::Bytes { bytes: "$1".into(), closes: true });
        answers.push(0x0607, &Answer::Failed("gone".into()));
        let bytes = b"\0\0\0\0\0\0\0\x05\0\0\0\x02\x01$1\0\0\0\0\0\0\x06\x07\0\0\0\x04\x02gone";
        assert_eq!(answers.take()[..], *bytes);
        assert!(answers.is_empty());
        assert_eq!(RequestFrame::decode(&Bytes::from_static(b"12345678")), None);
        assert_eq!(read_answers(Bytes::from_static(&bytes[..bytes.len() - 1])), None);
        assert_eq!(read_answers(Bytes::from_static(b"\0\0\0\0\0\0\0\x05\0\0\0\0\x04")), None);
    }

    fn answer() -> impl Strategy<Value = Answer> {
        let bytes = prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from);
        (bytes, 0..3).prop_map(|(bytes, kind)| match kind {
            0 => Answer::Failed(bytes),
            _ => Answer::Bytes { bytes, closes: kind == 1 },
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(key: u64, code: u8, bytes: Vec<u8>) {
            let bytes = Bytes::from(bytes);
            let request = RequestFrame { key, expect: Expect::from_code(code), bytes };
            prop_assert_eq!(RequestFrame::decode(&request.encode()), Some(request));
        }

        #[test]
        fn answers_that_are_written_are_read(
            answers in prop::collection::vec((any::<u64>(), answer()), 0..20),
        ) {
            let mut frame = AnswersFrame::default();
            answers.iter().for_each(|(id, answer)| frame.push(*id, answer));
            prop_assert_eq!(read_answers(frame.take()), Some(answers));
        }

        #[test]
        fn anything_may_come(data: Vec<u8>) {
            let data = Bytes::from(data);
            if let Some(request) = RequestFrame::decode(&data) {
                prop_assert_eq!(request.encode(), data.clone());
            }
            if let Some(answers) = read_answers(data.clone()) {
                let mut frame = AnswersFrame::default();
                answers.iter().for_each(|(id, answer)| frame.push(*id, answer));
                prop_assert_eq!(frame.take(), data);
            }
        }
    }
}
