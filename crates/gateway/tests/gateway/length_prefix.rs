//! Messages that begin with their length.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> std::io::Result<Vec<u8>> {
    let length = stream.read_u32().await?;
    let mut message = vec![0; length as usize];
    stream.read_exact(&mut message).await?;
    Ok(message)
}

fn message(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32).to_be_bytes(), content].concat()
}

/// A server that answers each message with its own number and the message.
async fn server(number: u8) -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    spawn_local(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            spawn_local(async move {
                while let Ok(asked) = read(&mut stream).await {
                    let answer = message(&[&[number], &asked[..]].concat());
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Messages of all lengths, bytes that look like lengths among them, are answered in order.
#[tokio::test(flavor = "current_thread")]
async fn binary_messages_come_back_in_order() {
    in_time(async {
        let framing = || framing("length-prefix");
        let (one, two) = (server(1).await, server(2).await);
        let (switch, _) = switch(local(), &[member(framing(), one), member(framing(), two)]);
        let gateway = tcp(&gateway(framing(), Listen::Tcp(local()), switch).await);
        let asked: Vec<Vec<u8>> = (0..300_u32)
            .map(|i| (0..i * 7 % 900).map(|k| ((i ^ k) % 251) as u8 % 4).collect())
            .collect();
        let mut stream = TcpStream::connect(gateway).await.expect("a gateway");
        let all: Vec<u8> = asked.iter().flat_map(|content| message(content)).collect();
        stream.write_all(&all).await.expect("room");
        let mut by = [0; 2];
        for content in &asked {
            let answer = read(&mut stream).await.expect("an answer");
            let (number, rest) = answer.split_first().expect("a number");
            assert_eq!(rest, content);
            by[usize::from(*number) - 1] += 1;
        }
        assert!(!by.contains(&0), "both serve: {by:?}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_that_is_too_long_ends_its_connection_alone() {
    in_time(async {
        let framing = || framing("length-prefix");
        let (switch, _) = switch(local(), &[member(framing(), server(1).await)]);
        let gateway = tcp(&gateway(framing(), Listen::Tcp(local()), switch).await);
        let mut good = TcpStream::connect(gateway).await.expect("a gateway");
        let mut bad = TcpStream::connect(gateway).await.expect("a gateway");
        bad.write_all(&u32::MAX.to_be_bytes()).await.expect("room");
        assert!(read(&mut bad).await.is_err(), "it is closed");
        good.write_all(&message(b"a")).await.expect("room");
        assert_eq!(read(&mut good).await.expect("an answer"), b"\x01a");
    })
    .await;
}
