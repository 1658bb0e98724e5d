//! Requests of HTTP that do not wait for each other.

use std::rc::Rc;

use ratewire_gateway::Message;
use tokio::sync::Notify;

use super::peer::{Peer, get};
use super::servers::{Client, server, target};
use super::{in_time, member, patient_member};

/// Answers each request with its target.
async fn echo(mut client: Client) {
    while let Some(head) = client.head().await {
        client.answer(target(&head)).await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_slow_request_holds_up_no_other() {
    in_time(async {
        let go_on = Rc::new(Notify::new());
        let released = Rc::clone(&go_on);
        let server = server(move |mut client| {
            let go_on = Rc::clone(&go_on);
            async move {
                while let Some(head) = client.head().await {
                    if target(&head) == "/slow" {
                        go_on.notified().await;
                    }
                    client.answer(target(&head)).await;
                }
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let slow = peer.ask(get("/slow")).await;
        for number in 0..100 {
            let fast = peer.ask(get(&format!("/{number}"))).await;
            assert_eq!(peer.body(fast).await, format!("/{number}"));
        }
        assert!(peer.known(slow).is_empty());
        released.notify_one();
        assert_eq!(peer.body(slow).await, "/slow");
        // The fast ones had one connection, one after the other.
        assert_eq!(server.accepted.get(), 2);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn requests_at_the_same_time_have_connections_of_their_own_up_to_a_limit() {
    in_time(async {
        let server = server(echo).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let mut all = Vec::new();
        for number in 0..2000 {
            all.push((number, peer.ask(get(&format!("/{number}"))).await));
        }
        for (number, exchange) in all {
            assert_eq!(peer.body(exchange).await, format!("/{number}"));
        }
        let accepted = server.accepted.get();
        assert!(accepted > 1 && accepted < 2000, "{accepted} connections");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_fails_fails_its_own_request_only() {
    in_time(async {
        let server = server(|mut client: Client| async move {
            while let Some(head) = client.head().await {
                match target(&head) {
                    "/dies" => return,
                    "/dies-within" => {
                        client.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").await;
                        return;
                    }
                    "/babbles" => client.write("what?\r\n\r\n").await,
                    "/unasked" => {
                        client.write("HTTP/1.1 204 No\r\n\r\nHTTP/1.1 204 No\r\n\r\n").await
                    }
                    other => client.answer(other).await,
                }
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let mut good = Vec::new();
        let mut bad = Vec::new();
        for round in 0..30 {
            good.push((round, peer.ask(get(&format!("/{round}"))).await));
            let path = ["/dies", "/dies-within", "/babbles"][round % 3];
            bad.push((path, peer.ask(get(path)).await));
            good.push((round, peer.ask(get(&format!("/{round}"))).await));
        }
        for (round, exchange) in good {
            assert_eq!(peer.body(exchange).await, format!("/{round}"));
        }
        for (path, exchange) in bad {
            let why = peer.answer(exchange).await.expect_err(path);
            assert!(why.starts_with("the server has failed: "), "{why}");
        }
        // What nobody asked for is no answer to the next request.
        let unasked = peer.ask(get("/unasked")).await;
        assert!(peer.text(unasked).await.starts_with("HTTP/1.1 204"));
        let next = peer.ask(get("/next")).await;
        assert_eq!(peer.body(next).await, "/next");
    })
    .await;
}

/// Closes each connection at its second request, as a server does that has waited long enough.
async fn impatient(mut client: Client) {
    let head = client.head().await.expect("a request");
    client.answer(target(&head)).await;
    client.head().await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_on_a_connection_that_the_server_gives_up_is_sent_again_if_it_may_be() {
    in_time(async {
        let server = server(impatient).await;
        let peer = Peer::new(member("http1", server.address)).await;
        for round in 1..10 {
            let exchange = peer.ask(get("/a")).await;
            assert_eq!(peer.body(exchange).await, "/a");
            assert_eq!(server.accepted.get(), round);
        }
        // To send this twice could do it twice.
        let post = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
        let exchange = peer.ask(post).await;
        let why = peer.answer(exchange).await.expect_err("no answer");
        assert_eq!(why, "the server has failed: it has ended the connection");
        let asked = server.asked.borrow();
        assert_eq!(asked.iter().filter(|head| head.starts_with("POST")).count(), 1);
    })
    .await;
}

/// A request that kills servers is not sent to more than two.
#[tokio::test(flavor = "current_thread")]
async fn a_request_is_sent_again_only_once() {
    in_time(async {
        let server = server(|mut client: Client| async move {
            while let Some(head) = client.head().await
                && target(&head) != "/kills"
            {
                client.answer("alive").await;
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let first = [peer.ask(get("/")).await, peer.ask(get("/")).await, peer.ask(get("/")).await];
        for exchange in first {
            assert_eq!(peer.body(exchange).await, "alive");
        }
        let kills = peer.ask(get("/kills")).await;
        peer.answer(kills).await.expect_err("no answer");
        let asked = server.asked.borrow();
        assert_eq!(asked.iter().filter(|head| target(head) == "/kills").count(), 2);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn nobody_waits_for_a_cancelled_request() {
    in_time(async {
        let closed = Rc::new(Notify::new());
        let (seen, asked) = (Rc::clone(&closed), Rc::new(Notify::new()));
        let told = Rc::clone(&asked);
        let server = server(move |mut client: Client| {
            let (closed, asked) = (Rc::clone(&closed), Rc::clone(&asked));
            async move {
                while let Some(head) = client.head().await {
                    if target(&head) == "/never" {
                        asked.notify_one();
                        client.rest().await;
                        closed.notify_one();
                    }
                    client.answer(target(&head)).await;
                }
            }
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let never = peer.ask(get("/never")).await;
        told.notified().await;
        peer.tell(Message::Cancel { exchange: never }).await;
        seen.notified().await;
        let next = peer.ask(get("/next")).await;
        assert_eq!(peer.body(next).await, "/next");
        assert_eq!(peer.answer(never).await, Err("cancelled".to_string()));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn requests_fail_while_the_server_is_down() {
    in_time(async {
        let listener = tokio::net::TcpListener::bind(super::local()).await.expect("an address");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let patience = std::time::Duration::from_millis(50);
        let peer = Peer::new(patient_member("http1", address, patience)).await;
        for _ in 0..3 {
            let exchange = peer.ask(get("/")).await;
            let why = peer.answer(exchange).await.expect_err("no server");
            assert!(why.starts_with("the server is gone: "), "{why}");
        }
    })
    .await;
}

/// A gateway that stops still gets the answers to what it has asked.
#[tokio::test(flavor = "current_thread")]
async fn a_gateway_that_says_no_more_gets_its_answers() {
    in_time(async {
        let server = server(echo).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.ask(get(&format!("/{}", "x".repeat(30_000)))).await;
        peer.finish();
        assert_eq!(peer.body(exchange).await.len(), 30_001);
    })
    .await;
}
