//! Answers and uploads that pass in pieces.

use std::rc::Rc;

use ratewire_gateway::{CREDIT, Message, Reply};
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;

use super::peer::{Peer, get};
use super::servers::{Client, server, target};
use super::{acp, in_time, member};

#[tokio::test(flavor = "current_thread")]
async fn the_first_event_of_a_stream_comes_at_once() {
    in_time(async {
        let go_on = Rc::new(Notify::new());
        let released = Rc::clone(&go_on);
        let server = server(move |mut client: Client| {
            let go_on = Rc::clone(&go_on);
            async move {
                client.head().await;
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                            Transfer-Encoding: chunked\r\n\r\n";
                client.write(format!("{head}9\r\ndata: 1\n\n\r\n")).await;
                go_on.notified().await;
                client.write("9\r\ndata: 2\n\n\r\n0\r\n\r\n").await;
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.ask(get("/events")).await;
        let mut first = Vec::new();
        while !first.ends_with(b"data: 1\n\n\r\n") {
            let Reply::More(bytes) = peer.reply(exchange).await else { panic!("{first:?}") };
            first.extend_from_slice(&bytes);
        }
        assert!(peer.known(exchange).is_empty());
        released.notify_one();
        assert_eq!(peer.text(exchange).await, "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
    })
    .await;
}

/// Answers `/long` with 100 MB, and others with their targets.
async fn long(mut client: Client) {
    while let Some(head) = client.head().await {
        if target(&head) != "/long" {
            client.answer(target(&head)).await;
            continue;
        }
        client.write("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n").await;
        for piece in 0..1600_u32 {
            client.write(vec![piece as u8; 65_536]).await;
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_long_answer_waits_for_who_takes_it_and_holds_up_no_other() {
    in_time(async {
        let server = server(long).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.ask(get("/long")).await;
        let mut taken = 0;
        while taken < CREDIT {
            let Reply::More(bytes) = peer.reply(exchange).await else { panic!("{taken}") };
            taken += bytes.len() as u64;
        }
        assert_eq!(taken, CREDIT);
        for number in 0..50 {
            let other = peer.ask(get(&format!("/{number}"))).await;
            assert_eq!(peer.body(other).await, format!("/{number}"));
        }
        assert!(peer.known(exchange).is_empty());
        peer.give(exchange, CREDIT).await;
        let (rest, closes) = peer.answer(exchange).await.expect("an answer");
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n".len() as u64;
        assert_eq!((rest.len() as u64 + taken, closes), (head + 104_857_600, false));
        let skipped = (taken - head) as usize;
        let is_right = |(at, byte): (usize, &u8)| *byte == ((at + skipped) / 65_536) as u8;
        assert!(rest.iter().enumerate().all(is_right));
    })
    .await;
}

/// Whole frames for a switch that takes short ones only.
#[tokio::test(flavor = "current_thread")]
async fn frames_are_as_short_as_the_other_end_wants() {
    in_time(async {
        for (framing, request) in [("http1", get("/")), ("lines", "/\n".to_string())] {
            let server = server(|mut client: Client| async move {
                let mut byte = [0];
                _ = client.stream.read_exact(&mut byte).await;
                let lines = byte == *b"/";
                if lines {
                    client.write(format!("{}\n", "x".repeat(500_000))).await;
                } else {
                    client.answer(&"x".repeat(500_000)).await;
                }
                client.rest().await;
            })
            .await;
            let config =
                ratewire_acp::Config { longest_frame: ratewire_units::Bytes::new(2000), ..acp() };
            let peer = Peer::with(member(framing, server.address), config).await;
            let exchange = peer.ask(request).await;
            let (all, _) = peer.answer(exchange).await.expect("an answer");
            assert_eq!(all.iter().filter(|byte| **byte == b'x').count(), 500_000);
            assert!(peer.longest.get() <= 2000, "{}", peer.longest.get());
        }
    })
    .await;
}

/// Answers with the number of bytes of each upload.
async fn count(mut client: Client) {
    while let Some(head) = client.head().await {
        let length = head.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.expect("a length").parse().expect("a number");
        let mut body = vec![0; length];
        client.stream.read_exact(&mut body).await.expect("a body");
        let is_right = body.iter().enumerate().all(|(at, byte)| *byte == (at / 1000) as u8);
        client.answer(&format!("{length} {is_right}")).await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_upload_passes_as_the_server_takes_it() {
    in_time(async {
        let server = server(count).await;
        let peer = Peer::new(member("http1", server.address)).await;
        for total in [10, 300_000, 20_000_000] {
            let head = format!("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: {total}\r\n\r\n");
            let mut credit = CREDIT;
            let exchange = peer.begin(head, 0).await;
            let mut sent = 0;
            while sent < total {
                while credit == 0 {
                    let Reply::Credit(more) = peer.reply(exchange).await else { panic!("{sent}") };
                    credit += more;
                }
                let length = (total - sent).min(credit as usize).min(50_000);
                let bytes: Vec<u8> = (sent..sent + length).map(|at| (at / 1000) as u8).collect();
                (sent, credit) = (sent + length, credit - length as u64);
                peer.more(exchange, bytes, sent == total).await;
            }
            assert_eq!(peer.body(exchange).await, format!("{total} true"));
        }
        assert_eq!(server.accepted.get(), 1);
    })
    .await;
}

/// Else a gateway would have credit for more than the member takes.
#[tokio::test(flavor = "current_thread")]
async fn no_credit_is_given_for_the_beginning_of_a_request() {
    in_time(async {
        let server = server(count).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let body: Vec<u8> = (0..200_000).map(|at| (at / 1000) as u8).collect();
        let head = b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n";
        let exchange = peer.begin([head, &body[..150_000]].concat(), 0).await;
        peer.more(exchange, body[150_000..].to_vec(), true).await;
        let Reply::Answer { bytes, .. } = peer.reply(exchange).await else { panic!("a credit") };
        assert!(bytes.ends_with(b"200000 true"), "{bytes:?}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn who_uploads_without_credit_is_ended_alone() {
    in_time(async {
        let server = server(|mut client: Client| async move {
            while let Some(head) = client.head().await {
                match target(&head) {
                    "/stuck" => std::future::pending().await,
                    other => client.answer(other).await,
                }
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let head = "PUT /stuck HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n";
        let exchange = peer.begin(head, 0).await;
        let other = peer.ask(get("/other")).await;
        for _ in 0..1000 {
            peer.more(exchange, vec![b'x'; 50_000], false).await;
        }
        let why = peer.answer(exchange).await.expect_err("no answer");
        assert!(why.starts_with("the gateway sends more"), "{why}");
        assert_eq!(peer.body(other).await, "/other");
    })
    .await;
}

/// A server may answer before it has read all, and then close.
#[tokio::test(flavor = "current_thread")]
async fn an_answer_may_come_before_the_end_of_the_request() {
    in_time(async {
        let refusal = "HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n";
        let server = server(move |mut client: Client| async move {
            let head = client.head().await.expect("a request");
            match target(&head) {
                "/upload" => client.write(refusal).await,
                other => client.answer(other).await,
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let head = "PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
        let exchange = peer.begin(head, 0).await;
        peer.more(exchange, "begun", false).await;
        assert_eq!(peer.text(exchange).await, refusal);
        // What comes too late is dropped, and the connection is not used again.
        peer.more(exchange, "more", false).await;
        let next = peer.ask(get("/next")).await;
        assert_eq!(peer.body(next).await, "/next");
        assert_eq!(server.accepted.get(), 2);
    })
    .await;
}

/// A request that is broken off reaches its end nowhere.
#[tokio::test(flavor = "current_thread")]
async fn an_upload_that_is_cancelled_is_not_whole_for_the_server() {
    in_time(async {
        let (begun, ended) = (Rc::new(Notify::new()), Rc::new(Notify::new()));
        let (has_begun, has_ended) = (Rc::clone(&begun), Rc::clone(&ended));
        let server = server(move |mut client: Client| {
            let (begun, ended) = (Rc::clone(&begun), Rc::clone(&ended));
            async move {
                client.head().await;
                let mut chunk = [0; 10];
                client.stream.read_exact(&mut chunk).await.expect("a chunk");
                assert_eq!(&chunk, b"5\r\nhello\r\n");
                begun.notify_one();
                assert_eq!(client.rest().await, b"");
                ended.notify_one();
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let head = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let exchange = peer.begin(head, 0).await;
        peer.more(exchange, "5\r\nhello\r\n", false).await;
        has_begun.notified().await;
        peer.tell(Message::Cancel { exchange }).await;
        has_ended.notified().await;
    })
    .await;
}
