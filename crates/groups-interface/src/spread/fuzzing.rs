//! Properties of any bytes at all. The fuzz target and the tests share them, so that what the
//! fuzzer found once stays found.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};

use super::answer::{Acceptance, parse_choice, parse_offer};
use super::header::ByteOrder;
use super::hello::{Hello, Version};
use super::name::PrivateName;
use super::received::Received;
use super::request::Request;

/// Reads `data` as what a client sends, as what a daemon sends, and as the handshake. The client is
/// that of the recorded session. Returns the number of messages before the first error.
///
/// # Panics
/// If reading and writing disagree.
pub fn either_end(data: &[u8]) -> usize {
    let client = "#weir1#localhost".parse().expect("the name is valid");
    from_client(data, &client) + from_daemon(data) + handshake(data)
}

/// Reads `data` as what the client with this name sends. Returns the number of requests before the
/// first error.
///
/// # Panics
/// If reading and writing disagree.
pub fn from_client(data: &[u8], client: &PrivateName) -> usize {
    let parse = |buffer: &mut BytesMut| Request::parse(buffer, client).ok().flatten();
    messages(data, parse, |request, order| request.encode(client, order))
}

/// Reads `data` as what a daemon sends. Returns the number of messages before the first error.
///
/// # Panics
/// If reading and writing disagree.
pub fn from_daemon(data: &[u8]) -> usize {
    messages(data, |buffer| Received::parse(buffer).ok().flatten(), Received::encode)
}

/// Reads `data` as each message of the handshake. Returns the number of messages that it can be.
///
/// # Panics
/// If reading and writing disagree.
pub fn handshake(data: &[u8]) -> usize {
    let mut count = 0;
    let mut buffer = BytesMut::from(data);
    if let Ok(Some(hello)) = Hello::parse(&mut buffer) {
        let written = hello.encode();
        // Three flags have no meaning and are not written.
        let again = Hello::parse(&mut BytesMut::from(&written[..]));
        assert_eq!(again, Ok(Some(hello)), "it is not read as it was written");
        assert_eq!(data.len(), buffer.len() + written.len(), "it is not as long as it was");
        count += 1;
    }
    for version in [Version::new(3, 10, 0), Version::NEWEST] {
        let mut buffer = BytesMut::from(data);
        if let Ok(Some(acceptance)) = Acceptance::parse(&mut buffer, version) {
            let length = data.len() - buffer.len();
            assert_eq!(acceptance.encode(version), data[..length]);
            count += 1;
        }
    }
    count += usize::from(parse_offer(&mut BytesMut::from(data)) == Ok(Some(())));
    count += usize::from(parse_choice(&mut BytesMut::from(data)) == Ok(Some(())));
    count
}

/// Reads messages until there are no more. Each is read again after it was written in either byte
/// order.
fn messages<M: PartialEq + Debug>(
    data: &[u8],
    parse: impl Fn(&mut BytesMut) -> Option<M>,
    encode: impl Fn(&M, ByteOrder) -> Bytes,
) -> usize {
    let mut buffer = BytesMut::from(data);
    let mut count = 0;
    while let Some(message) = parse(&mut buffer) {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut written = BytesMut::from(&encode(&message, order)[..]);
            assert_eq!(parse(&mut written).as_ref(), Some(&message), "it is not read as written");
            assert!(written.is_empty(), "{} bytes more are written than read", written.len());
        }
        count += 1;
    }
    count
}
