//! Properties of streams made of real messages, of spoiled ones, and of any bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use ratewire_framing::{Reorder, fuzzing};

/// Messages of each framing, in the order of the registry.
const REQUESTS: &[&[&str]] = &[
    &[
        "*2\r\n$3\r\nGET\r\n$1\r\na\r\n",
        "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$6\r\na\r\nb*2\r\n",
        "*3\r\n$4\r\nMGET\r\n$4\r\n{x}1\r\n$4\r\n{x}2\r\n",
        "*1\r\n$5\r\nMULTI\r\n",
        "GET {x}1\r\n",
        "EXEC\r\n",
        "MSET a 1 b 2 a 3\r\n",
        "DEL a b\r\n",
        "HELLO 3 SETNAME me\r\n",
        "INFO\r\n",
        "DBSIZE\r\n",
        "*0\r\n",
        "PING\r\n",
        "set 'a b' \"\\x41\"\r\n",
        "\r\n",
        "QUIT\r\n",
    ],
    &[
        "get a\r\n",
        "gets a  bc d\r\n",
        "set a 0 0 5\r\nhello\r\n",
        "cas a 0 0 2 77 noreply\r\n\r\n\r\n",
        "delete a noreply\r\n",
        "mg a v q\r\n",
        "ms a 2 T0\r\nhi\r\n",
        "mn\r\n",
        "stats\r\n",
        "version\r\n",
        "flush_all 0 noreply\r\n",
        "nonsense\n",
        "quit\r\n",
    ],
    &[
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA:b\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"b;c\";d=e\r\nhi\r\n0;f\r\n\r\n",
        "GET /w HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ],
    &["user7 balance\n", "x\r\n", "\n", "a much longer line than the others\n"],
    &["\0\0\0\0", "\0\0\0\x05hello", "\0\0\x01\0", "\0\0\0\x01x"],
];

const ANSWERS: &[&[&str]] = &[
    &[
        "+OK\r\n",
        "-ERR no\r\n",
        "-ERR Protocol error: too big bulk count string\r\n",
        "+a text that is longer than what is held of a line until it has its end, with a newline\r\n",
        "$5\r\nhello\r\n",
        "$-1\r\n",
        "+QUEUED\r\n",
        "-EXECABORT no\r\n",
        "*2\r\n*1\r\n:1\r\n$0\r\n\r\n",
        "%1\r\n+a\r\n|1\r\n+b\r\n#t\r\n_\r\n",
    ],
    &[
        "STORED\r\n",
        "VALUE a 0 2\r\nhi\r\n",
        "END\r\n",
        "VA 2 q\r\nhi\r\n",
        "HD\r\n",
        "MN\r\n",
        "VERSION 1.6.18\r\n",
        "SERVER_ERROR x\r\n",
    ],
    &[
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\0\x01",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nuntil the end",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ],
    &["42\n", "\n", "text\r\n"],
    &["\0\0\0\0", "\0\0\0\x03abc", "\0\0\x01\0"],
];

/// An input of the fuzz targets: a framing's messages in any order, some bytes of which are others.
fn input(
    messages: &'static [&'static [&'static str]],
    head: usize,
) -> impl Strategy<Value = Vec<u8>> {
    (0..messages.len(), 0..4u8, vec(any::<u8>(), head)).prop_flat_map(
        move |(framing, longest, rest)| {
            let stream = vec(select(messages[framing]), 0..8);
            let spoiled = vec((any::<prop::sample::Index>(), any::<u8>()), 0..2);
            (stream, spoiled).prop_map(move |(stream, spoiled)| {
                let mut stream = stream.concat().into_bytes();
                for (place, byte) in
                    spoiled.iter().filter(|_| !stream.is_empty()).collect::<Vec<_>>()
                {
                    let place = place.index(stream.len());
                    stream[place] = *byte;
                }
                let mut input = vec![longest << 6 | framing as u8];
                input.extend(&rest);
                input.extend(stream);
                input
            })
        },
    )
}

/// The numbers of up to 50 requests, in any order.
fn orders() -> impl Strategy<Value = Vec<u64>> {
    (0..50u64).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle())
}

#[test]
fn every_framing_has_messages() {
    let count = ratewire_framing::list().count();
    let page = "REQUESTS and ANSWERS of crates/framing/tests/properties.rs";
    let lengths = [REQUESTS.len(), ANSWERS.len()];
    assert_eq!(lengths, [count, count], "{page}: a list a framing, in the order of REGISTRY");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn requests_do_not_depend_on_the_split(input in input(REQUESTS, 1)) {
        fuzzing::requests(&input);
    }

    #[test]
    fn answers_do_not_depend_on_the_split(input in input(ANSWERS, 2)) {
        fuzzing::answers(&input);
    }

    #[test]
    fn either_end_may_send_anything(input in vec(any::<u8>(), 0..200)) {
        fuzzing::requests(&input);
        fuzzing::answers(&input);
    }

    #[test]
    fn answers_in_any_order_leave_in_that_of_requests(order in orders()) {
        let mut reorder = Reorder::new(order.len(), usize::MAX);
        while reorder.reserve().is_some() {}
        let mut left = Vec::new();
        for number in &order {
            reorder.fill(*number, number.to_be_bytes().to_vec().into()).unwrap();
            left.extend(std::iter::from_fn(|| reorder.pop()));
        }
        let expected: Vec<_> = (0..order.len() as u64).map(|n| n.to_be_bytes().to_vec()).collect();
        prop_assert_eq!(left, expected);
    }
}
