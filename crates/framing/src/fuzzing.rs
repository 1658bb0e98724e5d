//! Properties of any bytes at all. The fuzz targets and the tests share them, so that what the
//! fuzzer found once stays found.
//!
//! The low six bits of an input's first byte choose the framing, by its place in the registry, from
//! 0; the high two bits choose the longest request (0: 1 MiB), or the length from which on answers
//! are given in pieces. The second byte chooses how the stream is split. For [`answers`] a third
//! byte chooses what is expected. The rest is the stream.

use bytes::{Bytes, BytesMut};

use crate::answers::{Answer, Answers};
use crate::framings::{Framing, list};
use crate::request::{Expect, Request, Route};
use crate::requests::Requests;
use crate::violation::Violation;

/// Bytes that a request or a piece of an answer may have, as the high bits of an input's first byte
/// choose.
const LONGEST: [usize; 4] = [1 << 20, 4096, 100, 10];
/// Unanswered requests of [`answers`].
const MOST: usize = 8;

/// Reads a client's stream, whole and in pieces. Returns the number of requests before the first
/// violation.
///
/// # Panics
/// If pieces give other requests than the whole, if requests do not make up the stream, if one is
/// not read again as it was, or if more is held than allowed.
pub fn requests(data: &[u8]) -> usize {
    let [choice, split, stream @ ..] = data else { return 0 };
    let (framing, longest) = chosen(*choice);
    let whole = cut(framing, longest, stream, std::iter::empty());
    assert_eq!(cut(framing, longest, stream, sizes(*split)), whole, "{framing:?} in pieces");

    let (requests, rest, _) = whole;
    let mut stream = stream;
    for (request, taken) in &requests {
        let (sent, behind) = stream.split_at(*taken);
        stream = behind;
        if request.bytes != sent {
            part(framing, request, sent);
        } else if framing.name() == "resp" {
            parts(framing, request, sent);
        } else {
            again(framing, request);
        }
    }
    assert_eq!(rest, stream, "{framing:?} loses bytes");

    let (whole, end) = joined(framing, longest, data, std::iter::empty());
    let (pieces, other_end) = joined(framing, longest, data, sizes(*split));
    assert_eq!((&pieces, &other_end), (&whole, &end), "{framing:?} in pieces of requests");
    if !framing.streams() {
        assert_eq!(whole, requests.iter().map(|(request, _)| request.clone()).collect::<Vec<_>>());
    }
    requests.len()
}

/// Requests that are cut in pieces, each joined again, and how they end. The server changes the
/// protocol for each second one that asks for it.
fn joined(
    framing: Framing,
    longest: usize,
    data: &[u8],
    mut sizes: impl Iterator<Item = usize>,
) -> (Vec<Request>, Option<Violation>) {
    let all = |found: Vec<(Request, BytesMut)>| {
        let found = found.into_iter();
        found.map(|(request, bytes)| Request { bytes: bytes.freeze(), ..request }).collect()
    };
    let mut requests = Requests::in_pieces(framing, longest);
    let (mut buffer, mut stream) = (BytesMut::new(), &data[2..]);
    let (mut found, mut begun, mut asked) = (Vec::new(), None::<(Request, BytesMut)>, 0);
    while !stream.is_empty() {
        let (piece, behind) = stream.split_at(sizes.next().unwrap_or(usize::MAX).min(stream.len()));
        buffer.extend_from_slice(piece);
        stream = behind;
        loop {
            let next = match &mut begun {
                None => requests.next(&mut buffer).map(|next| {
                    next.map(|request| {
                        let bytes = BytesMut::from(&request.bytes[..]);
                        asked += u32::from(request.upgrades);
                        let has_more = request.has_more;
                        begun = Some((Request { has_more: false, ..request }, bytes));
                        has_more
                    })
                }),
                Some((_, bytes)) => requests.rest(&mut buffer).map(|next| {
                    next.map(|rest| {
                        bytes.extend_from_slice(&rest.bytes);
                        rest.has_more
                    })
                }),
            };
            match next {
                Err(violation) => return (all(found), Some(violation)),
                Ok(Some(true)) => requests.switch(asked % 2 == 0),
                Ok(Some(false)) => found.extend(begun.take()),
                Ok(None) => break,
            }
        }
    }
    found.extend(begun);
    (all(found), None)
}

/// A request that is cut alone is the same.
fn again(framing: Framing, request: &Request) {
    let mut buffer = BytesMut::from(&request.bytes[..]);
    let mut requests = Requests::new(framing, request.bytes.len().max(1));
    let mut last = None;
    while let Some(request) = requests.next(&mut buffer).expect("it was read before") {
        last = Some(request);
    }
    // An interim answer has no bytes, and its request comes behind it.
    if !request.bytes.is_empty() {
        assert_eq!(last.as_ref(), Some(request), "{framing:?}, read again");
    }
}

/// A request that is cut alone has the same end; who answers it depends on those before. Its parts
/// are requests for one server each, with the same key.
fn parts(framing: Framing, request: &Request, sent: &[u8]) {
    let cut = |bytes: &[u8]| {
        let mut buffer = BytesMut::from(bytes);
        let mut requests = Requests::new(framing, bytes.len());
        let mut found = Vec::new();
        while let Some(request) = requests.next(&mut buffer).expect("it is valid") {
            found.push(request);
        }
        assert!(buffer.is_empty(), "{buffer:?} is left of {bytes:?}");
        found
    };
    assert_eq!(cut(sent).len(), 1, "{sent:?} is one request");
    let Route::Split(parts, gather) = &request.route else { return };
    for part in parts {
        let bytes = part.bytes.len();
        assert!(bytes <= LONGEST[0] && gather.held() == 0, "{sent:?} has a part of {bytes}");
        let commands = cut(&part.bytes);
        if let [alone] = &commands[..] {
            let Route::Server { key, .. } = alone.route else { panic!("{part:?} of {sent:?}") };
            assert_eq!(key, part.key, "the key of {part:?}");
        } else {
            // A transaction, whose last command executes it for a server with its keys.
            let last = commands.last().expect("EXEC");
            let Route::Split(again, _) = &last.route else { panic!("{last:?} of {sent:?}") };
            assert_eq!((again[0].key, &again[0].bytes), (part.key, &part.bytes), "{sent:?}");
        }
    }
}

/// A part of a longer request is a request of its own, with the same key.
fn part(framing: Framing, request: &Request, sent: &[u8]) {
    assert_eq!(framing.name(), "memcached", "only memcached has parts");
    let mut buffer = BytesMut::from(&request.bytes[..]);
    let mut requests = Requests::new(framing, request.bytes.len());
    let alone = requests.next(&mut buffer).expect("it is valid").expect("it is complete");
    assert!(buffer.is_empty(), "{buffer:?} is left of a part");
    let key = |route: &Route| match route {
        Route::Server { key, .. } => *key,
        _ => None,
    };
    assert_eq!(key(&alone.route), key(&request.route), "the key of {sent:?}");
}

/// Requests with the bytes that each took from the stream, the bytes that are left, and the
/// violation that ended them.
type Cut = (Vec<(Request, usize)>, Bytes, Option<Violation>);

/// Cuts a stream that arrives in pieces of these sizes.
fn cut(
    framing: Framing,
    longest: usize,
    stream: &[u8],
    mut sizes: impl Iterator<Item = usize>,
) -> Cut {
    let mut requests = Requests::new(framing, longest);
    let (mut buffer, mut rest, mut found) = (BytesMut::new(), stream, Vec::new());
    let mut violation = None;
    let mut is_over = false;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(sizes.next().unwrap_or(usize::MAX).min(rest.len()));
        buffer.extend_from_slice(piece);
        rest = behind;
        loop {
            let before = buffer.len();
            match requests.next(&mut buffer) {
                Ok(Some(request)) => {
                    is_over = request.closes;
                    found.push((request, before - buffer.len()));
                }
                Ok(None) => break,
                Err(error) => violation = Some(error),
            }
        }
        is_over |= violation.is_some();
        assert!(is_over || buffer.len() < longest, "{framing:?} holds {} bytes", buffer.len());
    }
    (found, buffer.freeze(), violation)
}

/// Reads a server's stream, whole and in pieces. Returns the number of answers before the first
/// violation.
///
/// # Panics
/// If pieces give other answers than the whole, or if there are more answers than requests.
pub fn answers(data: &[u8]) -> usize {
    let [choice, split, expected, stream @ ..] = data else { return 0 };
    let (framing, longest) = chosen(*choice);
    // Five codes are in use; any order of them may be asked for.
    let expected = (0..MOST as u8).map(|place| expected.rotate_left(place.into()) % 5);
    let expected: Vec<Expect> = expected.map(Expect::from_code).collect();
    let whole = answered(framing, longest, &expected, stream, std::iter::empty());
    let pieces = answered(framing, longest, &expected, stream, sizes(*split));
    assert_eq!(pieces, whole, "{framing:?} in pieces");
    assert!(whole.0.len() <= MOST);
    whole.0.len()
}

/// Cuts answers from a stream that arrives in pieces of these sizes and then ends. Pieces of an
/// answer are joined again.
fn answered(
    framing: Framing,
    piece: usize,
    expected: &[Expect],
    stream: &[u8],
    mut sizes: impl Iterator<Item = usize>,
) -> (Vec<Answer>, Option<Violation>) {
    let mut answers = Answers::new(framing, piece, expected.len());
    for expect in expected {
        assert!(answers.expect(*expect).is_some());
    }
    assert_eq!(answers.expect(Expect::ORDINARY), None);
    let (mut buffer, mut rest, mut found) = (BytesMut::new(), stream, Vec::new());
    let mut begun = BytesMut::new();
    let mut join = |answer: Answer| {
        begun.extend_from_slice(&answer.bytes);
        let whole = (!answer.has_more).then(|| begun.split().freeze());
        whole.map(|bytes| Answer { bytes, ..answer })
    };
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(sizes.next().unwrap_or(usize::MAX).min(rest.len()));
        buffer.extend_from_slice(piece);
        rest = behind;
        loop {
            match answers.next(&mut buffer) {
                Ok(Some(answer)) => found.extend(join(answer)),
                Ok(None) => break,
                Err(violation) => return (found, Some(violation)),
            }
        }
    }
    match answers.end(&mut buffer) {
        Ok(last) => found.extend(last.and_then(join)),
        Err(violation) => return (found, Some(violation)),
    }
    (found, None)
}

/// The framing that an input's first byte chooses, and the length that the byte chooses, too.
fn chosen(choice: u8) -> (Framing, usize) {
    (framing_of(choice), LONGEST[usize::from(choice >> 6)])
}

/// The framing that an input's first byte chooses.
pub fn framing_of(choice: u8) -> Framing {
    let framings: Vec<Framing> = list().collect();
    framings[usize::from(choice & 0x3f) % framings.len()]
}

/// Sizes of pieces from 1 to 16 bytes, in an order that the byte chooses (a linear congruential
/// generator).
fn sizes(split: u8) -> impl Iterator<Item = usize> {
    let step = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(split.into()), step).map(|state| (state >> 28) as usize + 1)
}
