//! Changes of protocol.

use ratewire_gateway::Reply;

use super::peer::{Peer, get};
use super::servers::{Client, server, target};
use super::{in_time, limited_member, member};

/// The framing's code of the answer to a request that upgrades.
const UPGRADE: u8 = 2;
const ASKED: &str = "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
const SWITCHING: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";

/// Gives all bytes back behind an upgrade.
async fn echo(mut client: Client) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    while let Some(head) = client.head().await {
        if !head.contains("Upgrade: echo") || target(&head) != "/chat" {
            client.answer(target(&head)).await;
            continue;
        }
        client.write(SWITCHING).await;
        let mut piece = vec![0; 65_536];
        while let Ok(read @ 1..) = client.stream.read(&mut piece).await {
            client.write(&piece[..read]).await;
        }
        client.write("bye").await;
        _ = client.stream.shutdown().await;
        return;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn bytes_pass_in_both_directions_behind_a_change_of_protocol() {
    in_time(async {
        let server = server(echo).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.begin(ASKED, UPGRADE).await;
        assert_eq!(peer.reply(exchange).await, Reply::Switched);
        assert_eq!(peer.reply(exchange).await, Reply::More(SWITCHING.into()));
        // Others have connections of their own.
        let other = peer.ask(get("/other")).await;
        assert_eq!(peer.body(other).await, "/other");
        let (mut sent, mut given) = (0, 0);
        for round in 0..100_usize {
            let bytes = vec![round as u8; 20_000];
            peer.more(exchange, bytes.clone(), false).await;
            sent += bytes.len();
            let mut came = Vec::new();
            while came.len() < bytes.len() {
                match peer.reply(exchange).await {
                    Reply::More(bytes) => {
                        came.extend_from_slice(&bytes);
                        peer.give(exchange, bytes.len() as u64).await;
                    }
                    Reply::Credit(more) => given += more,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(came, bytes);
        }
        assert!(given > sent as u64 / 2, "credit is given back: {given} of {sent}");
        peer.more(exchange, "", true).await;
        assert_eq!(peer.answer(exchange).await, Ok((b"bye".to_vec(), true)));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_waits_for_a_place_until_another_protocol_ends() {
    in_time(async {
        let server = server(echo).await;
        let patience = std::time::Duration::from_secs(20);
        let peer = Peer::new(limited_member("http1", server.address, patience, 3)).await;
        let mut chats = Vec::new();
        for _ in 0..3 {
            let chat = peer.begin(ASKED, UPGRADE).await;
            assert_eq!(peer.reply(chat).await, Reply::Switched);
            assert_eq!(peer.reply(chat).await, Reply::More(SWITCHING.into()));
            chats.push(chat);
        }
        let waits = peer.ask(get("/waits")).await;
        // Behind the request, an echo of each chat has come back: it had the time for an answer.
        for chat in &chats {
            peer.more(*chat, "hello", false).await;
            assert_eq!(peer.reply(*chat).await, Reply::More("hello".into()));
        }
        assert_eq!((peer.known(waits), server.accepted.get()), (Vec::new(), 3));
        peer.more(chats[1], "", true).await;
        assert_eq!(peer.answer(chats[1]).await, Ok((b"bye".to_vec(), true)));
        assert_eq!(peer.body(waits).await, "/waits");
        assert_eq!(server.accepted.get(), 4);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_keeps_to_the_protocol_gives_an_ordinary_answer() {
    in_time(async {
        let server = server(echo).await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.begin(ASKED.replace("/chat", "/other"), UPGRADE).await;
        assert_eq!(peer.body(exchange).await, "/other");
        // The end of the request comes when the gateway knows the answer.
        peer.more(exchange, "", true).await;
        let next = peer.ask(get("/next")).await;
        assert_eq!(peer.body(next).await, "/next");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_cannot_change_the_protocol_unasked() {
    in_time(async {
        let server = server(|mut client: Client| async move {
            client.head().await;
            client.write(SWITCHING).await;
            client.rest().await;
        })
        .await;
        let peer = Peer::new(member("http1", server.address)).await;
        let exchange = peer.ask(get("/")).await;
        let why = peer.answer(exchange).await.expect_err("no answer");
        assert!(why.contains("without being asked"), "{why}");
    })
    .await;
}
