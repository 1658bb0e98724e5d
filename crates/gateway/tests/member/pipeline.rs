//! Framings whose requests share a connection.

use std::rc::Rc;

use ratewire_gateway::{CREDIT, Message, Reply};
use tokio::io::AsyncBufReadExt;
use tokio::sync::Notify;

use super::peer::Peer;
use super::servers::{Client, server};
use super::{in_time, member};

/// The next line; `None` at the end.
async fn line(client: &mut Client) -> Option<String> {
    let mut line = String::new();
    let read = client.stream.read_line(&mut line).await.unwrap_or(0);
    (read > 0).then(|| line.trim_end().to_string())
}

/// Answers each line with itself, and a number with a line of that length.
async fn lines(mut client: Client) {
    while let Some(line) = line(&mut client).await {
        match line.parse() {
            Ok(length) => client.write(format!("{}\n", "x".repeat(length))).await,
            Err(_) => client.write(format!("{line}\n")).await,
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_long_answer_needs_no_credit_and_fails_no_other() {
    in_time(async {
        let server = server(lines).await;
        let peer = Peer::new(member("lines", server.address)).await;
        let before = peer.ask("before\n").await;
        let long = peer.ask("50000000\n").await;
        let behind = peer.ask("behind\n").await;
        assert_eq!(peer.text(before).await, "before\n");
        let mut came = 0;
        loop {
            match peer.reply(long).await {
                Reply::More(bytes) => {
                    assert!(bytes.len() < 200_000, "{}", bytes.len());
                    came += bytes.len();
                }
                Reply::Answer { bytes, closes: false } => break came += bytes.len(),
                other => panic!("{other:?}"),
            }
        }
        assert!(came == 50_000_001 && came as u64 > CREDIT, "{came}");
        assert_eq!(peer.text(behind).await, "behind\n");
        assert_eq!(server.accepted.get(), 1);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn the_rest_of_a_cancelled_answer_is_dropped() {
    in_time(async {
        let go_on = Rc::new(Notify::new());
        let released = Rc::clone(&go_on);
        let server = server(move |mut client: Client| {
            let go_on = Rc::clone(&go_on);
            async move {
                line(&mut client).await;
                client.write("x".repeat(200_000)).await;
                go_on.notified().await;
                client.write(format!("{}\n", "x".repeat(1_000_000))).await;
                lines(client).await;
            }
        })
        .await;
        let peer = Peer::new(member("lines", server.address)).await;
        let long = peer.ask("long\n").await;
        let Reply::More(first) = peer.reply(long).await else { panic!("the beginning") };
        let later = peer.ask("later\n").await;
        peer.tell(Message::Cancel { exchange: long }).await;
        peer.tell(Message::Cancel { exchange: later }).await;
        // The member has read this when it answers what comes behind.
        let unknown = peer.begin("unknown\n", 0).await;
        peer.answer(unknown).await.expect_err("requests are whole");
        released.notify_one();
        let next = peer.ask("next\n").await;
        assert_eq!(peer.text(next).await, "next\n");
        let ends = [long, later].map(|exchange| peer.known(exchange));
        let came: usize = ends[0]
            .iter()
            .map(|reply| match reply {
                Reply::More(bytes) | Reply::Answer { bytes, .. } => bytes.len(),
                other => panic!("{other:?}"),
            })
            .sum();
        assert!(first.len() + came <= 200_000, "{came}");
        // Each exchange has an end, also one that was cancelled.
        let is_ended = |replies: &Vec<Reply>| matches!(replies.last(), Some(Reply::Answer { .. }));
        assert!(ends.iter().all(is_ended), "{ends:?}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_ends_within_an_answer_fails_what_it_had() {
    in_time(async {
        let server = server(|mut client: Client| async move {
            match client.number {
                1 => {
                    line(&mut client).await;
                    client.write("x".repeat(100_000)).await;
                }
                _ => lines(client).await,
            }
        })
        .await;
        let peer = Peer::new(member("lines", server.address)).await;
        let half = peer.ask("half\n").await;
        let why = peer.answer(half).await.expect_err("no end");
        assert_eq!(why, "the server is gone: it has ended the connection");
        let next = peer.ask("next\n").await;
        assert_eq!(peer.text(next).await, "next\n");
    })
    .await;
}

/// More requests than may be under way, while the server is slow.
#[tokio::test(flavor = "current_thread")]
async fn requests_beyond_the_limit_wait() {
    in_time(async {
        let server = server(lines).await;
        let peer = Peer::new(member("lines", server.address)).await;
        let mut asked = Vec::new();
        for number in 0..5000 {
            asked.push((number, peer.ask(format!("n{number}\n")).await));
        }
        for (number, exchange) in asked {
            assert_eq!(peer.text(exchange).await, format!("n{number}\n"));
        }
    })
    .await;
}
