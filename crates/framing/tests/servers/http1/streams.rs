//! Streams of generated requests, most of which are doubtful.

/// The request behind each other one: its answer shows that the other ended where it should.
pub const NEXT: &[u8] = b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n";

/// Field lines, most of which frame the message, in ways that servers read differently.
const FIELDS: &[&str] = &[
    "Content-Length: 5\r\n",
    "content-length:5 \r\n",
    "Content-Length: 3\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: +5\r\n",
    "Content-Length: -5\r\n",
    "Content-Length: 05\r\n",
    "Content-Length: 0x5\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length: 5,3\r\n",
    "Content-Length: 5 3\r\n",
    "Content-Length: \"5\"\r\n",
    "Content-Length:\r\n",
    "Content-Length:\t5\r\n",
    "Content-Length: 5\u{b}\r\n",
    "Content-Length : 5\r\n",
    "Content_Length: 5\r\n",
    "Content-Length: 18446744073709551621\r\n",
    "Content-Length: 5\n",
    "Content-Length: 5\r",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding:CHUNKED \r\n",
    "Transfer-Encoding: ,\r\n",
    "Transfer-Encoding:\r\n",
    "Transfer-Encoding: , chunked\r\n",
    "Transfer-Encoding: chunked,\r\n",
    "Transfer-Encoding: chunked, identity\r\n",
    "Transfer-Encoding: identity, chunked\r\n",
    "Transfer-Encoding: chunked, chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding: \"chunked\"\r\n",
    "Transfer-Encoding: chunked;q=1\r\n",
    "Transfer-Encoding: xchunked\r\n",
    "Transfer-Encoding:\tchunked\r\n",
    "Transfer-Encoding: chunked\t\r\n",
    "Transfer-Encoding: \u{c}chunked\r\n",
    "Transfer-Encoding: \u{a0}chunked\r\n",
    "Transfer-Encoding:\r\n chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Transfer_Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\n",
    "\nTransfer-Encoding: chunked\r\n",
    "\rTransfer-Encoding: chunked\r\n",
    " Transfer-Encoding: chunked\r\n",
    "X: a\0b\r\n",
    "X: a\rb\r\n",
    "X: a\rTransfer-Encoding: chunked\r\n",
    "X: a\nTransfer-Encoding: chunked\r\n",
    "X: a\r\n Content-Length: 5\r\n",
    "X: a\tb\r\n",
    "X\r\n",
    ": a\r\n",
    "Host: y\r\n",
    "Connection: close\r\n",
    "Connection: Keep-Alive\r\n",
    "Connection: Content-Length\r\n",
    "Connection: Transfer-Encoding\r\n",
    "Connection: TE\r\nTE: trailers\r\n",
    "Trailer: Content-Length\r\n",
    "Expect: 100-continue\r\n",
];

/// What comes behind a head.
const BODIES: &[&str] = &[
    "",
    "hello",
    "hel",
    "5\r\nhello\r\n0\r\n\r\n",
    "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    "1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
    "30\r\nabcdefghijklmnopqrstuvwxyz0123\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "5\t\r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "005\r\nhello\r\n000\r\n\r\n",
    "00000000000000005\r\nhello\r\n0\r\n\r\n",
    "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "5;\r\nhello\r\n0\r\n\r\n",
    "5;a\r\nhello\r\n0;b\r\n\r\n",
    "5;a=b;c=\"d;e\"\r\nhello\r\n0\r\n\r\n",
    "5 ; a = b\r\nhello\r\n0\r\n\r\n",
    "5;a=\"\r\nhello\r\n0\r\n\r\n",
    "5;a=\"\\\"\"\r\nhello\r\n0\r\n\r\n",
    "5;a=\"\\\"\r\nhello\r\n0\r\n\r\n",
    "5;a\"b\"\r\nhello\r\n0\r\n\r\n",
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5;a\nhello\r\n0\r\n\r\n",
    "5\nhello\n0\n\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhelloab0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\n\n",
    "0\r\n\r\n",
    "0\n\r\n",
    "0\r\nX: a\r\n\r\n",
    "0\r\nX: a\r\n b\r\n\r\n",
    "0\r\nX\r\n\r\n",
    "0\r\nContent-Length: 32\r\n\r\n",
    "0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "0\r\nHost: y\r\n\r\n",
];

/// Bytes that are put into streams, or in the place of others.
const BYTES: &[u8] = b"\0\t\n\x0b\x0c\r \"+,-05:;=_a\\\x7f\x80\xa0";

/// Streams with each field and each body, and streams with several fields and spoiled bytes. They
/// are the same in each run.
pub fn streams() -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for version in ["1.0", "1.1"] {
        for (field, body) in FIELDS.iter().flat_map(|f| BODIES.iter().map(move |b| (f, b))) {
            streams.push(stream("POST", version, field, body));
        }
    }
    // A linear congruential generator, whose high bits choose.
    let mut state = 1u64;
    let mut below = |count: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    for _ in 0..100_000 {
        let method = ["POST", "GET", "HEAD", "PUT"][below(4)];
        let version = ["1.1", "1.1", "1.1", "1.0"][below(4)];
        let fields: String = (0..below(4)).map(|_| FIELDS[below(FIELDS.len())]).collect();
        let mut stream = stream(method, version, &fields, BODIES[below(BODIES.len())]);
        for _ in 0..below(3) {
            let (place, byte) = (below(stream.len()), BYTES[below(BYTES.len())]);
            match below(3) {
                0 => stream[place] = byte,
                1 => stream.insert(place, byte),
                _ => drop(stream.remove(place)),
            }
        }
        streams.push(stream);
    }
    streams
}

fn stream(method: &str, version: &str, fields: &str, body: &str) -> Vec<u8> {
    let head = format!("{method} /a HTTP/{version}\r\nHost: x\r\n{fields}\r\n");
    [head.as_bytes(), body.as_bytes(), NEXT].concat()
}
