use super::*;
use crate::request::Route;

fn requests(framing: &str, longest: usize) -> Requests {
    Requests::new(Framing::named(framing).unwrap(), longest)
}

#[test]
fn a_request_may_be_as_long_as_allowed_and_no_longer() {
    for (framing, request) in [
        ("resp", "*2\r\n$3\r\nGET\r\n$5\r\nabcde\r\n"),
        ("resp", "GET abcde\r\n"),
        ("memcached", "set a 0 0 5\r\nhello\r\n"),
        ("memcached", "get abcde\r\n"),
        ("http1", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
        ("http1", "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("lines", "hello\n"),
        ("length-prefix", "\0\0\0\x05hello"),
    ] {
        let mut buffer = BytesMut::from(request);
        let cut = requests(framing, request.len()).next(&mut buffer).unwrap().unwrap();
        assert_eq!(cut.bytes, request);
        let longest = request.len() - 1;
        let mut buffer = BytesMut::from(request);
        let violation = requests(framing, longest).next(&mut buffer).unwrap_err();
        assert_eq!(violation.reason, Reason::TooLong { longest }, "{request:?}");
    }
}

#[test]
fn a_length_that_is_too_long_is_refused_before_its_content_comes() {
    for (framing, begun, answer) in [
        ("resp", "*1\r\n$999999999\r\n", "-ERR Protocol error: a message is longer than the"),
        ("memcached", "set a 0 0 999999999\r\n", "SERVER_ERROR object too large for cache\r\n"),
        (
            "http1",
            "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9999\r\n\r\n",
            "HTTP/1.1 413 ",
        ),
        ("length-prefix", "\x0f\0\0\0", ""),
    ] {
        let violation = requests(framing, 1000).next(&mut BytesMut::from(begun)).unwrap_err();
        assert_eq!(violation.reason, Reason::TooLong { longest: 1000 }, "{begun:?}");
        assert!(violation.answer.starts_with(answer.as_bytes()), "{violation:?}");
    }
}

fn in_pieces(framing: &str, longest: usize) -> Requests {
    Requests::in_pieces(Framing::named(framing).unwrap(), longest)
}

#[test]
fn an_upload_of_any_length_passes() {
    let mut upload = in_pieces("http1", 1000);
    let head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n";
    let mut buffer = BytesMut::from(head);
    assert!(upload.next(&mut buffer).unwrap().unwrap().has_more);
    let (mut passed, mut is_over) = (0, false);
    while !is_over {
        assert_eq!(upload.next(&mut buffer), Ok(None));
        buffer.resize(65_536, b'x');
        while let Some(rest) = upload.rest(&mut buffer).unwrap() {
            (passed, is_over) = (passed + rest.bytes.len(), !rest.has_more);
        }
    }
    assert_eq!((passed, buffer.len()), (100 << 20, 0));
}

#[test]
fn a_violation_in_a_body_ends_the_request() {
    for wrong in ["5;\r\n", "5\r\nhello\n\n", "0\r\nHost: x\r\n", &"1".repeat(1001)] {
        let mut upload = in_pieces("http1", 1000);
        let head = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi";
        let mut buffer = BytesMut::from(head);
        assert_eq!(upload.next(&mut buffer).unwrap().unwrap().bytes, head);
        buffer.extend_from_slice(b"\r\n");
        buffer.extend_from_slice(wrong.as_bytes());
        let found = loop {
            match upload.rest(&mut buffer) {
                Ok(rest) => assert!(rest.unwrap().has_more, "{wrong:?}"),
                Err(violation) => break violation,
            }
        };
        assert!(!found.answer.is_empty(), "{wrong:?}");
        let nothing = (upload.rest(&mut buffer), upload.next(&mut buffer));
        assert_eq!(nothing, (Ok(None), Ok(None)));
    }
}

#[test]
fn heads_and_requests_that_must_be_whole_have_a_limit() {
    for (framing, begun) in
        [("http1", &b"GET / HTTP/1.1\r\nX: "[..]), ("resp", b"*1\r\n$2000\r\n"), ("lines", b"")]
    {
        let mut buffer = BytesMut::from(begun);
        buffer.resize(1001, b'x');
        let violation = in_pieces(framing, 1000).next(&mut buffer).unwrap_err();
        assert_eq!(violation.reason, Reason::TooLong { longest: 1000 }, "{framing}");
    }
}

/// What comes behind a request that upgrades is of a protocol that the server decides on.
#[test]
fn a_request_that_upgrades_waits_for_the_server() {
    let (get, next) = (
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: w\r\n\r\n",
        "GET /next HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    for has_switched in [false, true] {
        let mut requests = in_pieces("http1", 1000);
        let mut buffer = BytesMut::from(&format!("{get}{next}")[..]);
        let request = requests.next(&mut buffer).unwrap().unwrap();
        assert_eq!((&request.bytes[..], request.has_more), (get.as_bytes(), true));
        assert_eq!((requests.next(&mut buffer), requests.rest(&mut buffer)), (Ok(None), Ok(None)));
        requests.switch(has_switched);
        let rest = requests.rest(&mut buffer).unwrap().unwrap();
        if has_switched {
            assert_eq!((&rest.bytes[..], rest.has_more), (next.as_bytes(), true));
            buffer.extend_from_slice(b"\xff\0");
            let rest = requests.rest(&mut buffer).unwrap().unwrap();
            assert_eq!((&rest.bytes[..], rest.has_more), (&b"\xff\0"[..], true));
        } else {
            assert_eq!((rest.bytes.len(), rest.has_more), (0, false));
            assert_eq!(requests.next(&mut buffer).unwrap().unwrap().bytes, next);
        }
    }
    let refused = requests("http1", 1000).next(&mut BytesMut::from(get)).unwrap_err();
    assert!(refused.answer.starts_with(b"HTTP/1.1 501 "), "{refused:?}");
}

#[test]
fn nothing_follows_a_request_that_closes_or_a_violation() {
    let mut closed = requests("resp", 1000);
    let mut buffer = BytesMut::from("QUIT\r\nGET a\r\n");
    let quit = closed.next(&mut buffer).unwrap().unwrap();
    assert_eq!((quit.closes, quit.route), (true, Route::Local("+OK\r\n".into())));
    assert_eq!((closed.next(&mut buffer), &buffer[..]), (Ok(None), &b"GET a\r\n"[..]));

    let mut broken = requests("resp", 1000);
    let mut buffer = BytesMut::from("*x\r\nGET a\r\n");
    let violation = broken.next(&mut buffer).unwrap_err();
    assert_eq!(violation.answer, "-ERR Protocol error: invalid multibulk length\r\n");
    assert_eq!(broken.next(&mut buffer), Ok(None));
}
