//! Servers of HTTP that close connections.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A server that says after this many answers that it closes the connection.
async fn server(answers: usize) -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            spawn_local(async move {
                let (read, mut write) = stream.into_split();
                let mut lines = BufReader::new(read).lines();
                let (mut path, mut left) = (String::new(), answers);
                while left > 0
                    && let Ok(Some(line)) = lines.next_line().await
                {
                    if let Some(rest) = line.strip_prefix("GET /") {
                        path = rest.split(' ').next().expect("a path").to_string();
                    }
                    if !line.is_empty() {
                        continue;
                    }
                    left -= 1;
                    let close = if left == 0 { "Connection: close\r\n" } else { "" };
                    let length = path.len();
                    let answer =
                        format!("HTTP/1.1 200 OK\r\n{close}Content-Length: {length}\r\n\r\n{path}");
                    if write.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Requests of other clients that were sent behind it go to the server's next connection.
#[tokio::test(flavor = "current_thread")]
async fn an_answer_that_closes_fails_no_other_request() {
    in_time(async {
        let http1 = framing("http1");
        for answers in [1, 3] {
            let member = member(http1, server(answers).await);
            let (switch, _serving) = switch(local(), &[member]);
            let gateway = tcp(&gateway(http1, Listen::Tcp(local()), switch).await);
            let mut clients = tokio::task::JoinSet::new();
            for number in 0..40 {
                clients.spawn_local(async move {
                    let mut stream = TcpStream::connect(gateway).await.expect("the gateway");
                    let request = format!("GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n");
                    stream.write_all(request.as_bytes()).await.expect("room");
                    stream.shutdown().await.expect("a connection");
                    let mut told = String::new();
                    stream.read_to_string(&mut told).await.expect("an answer");
                    let (head, body) = told.split_once("\r\n\r\n").expect("an answer");
                    assert!(head.starts_with("HTTP/1.1 200"), "{told}");
                    assert_eq!(body, number.to_string());
                });
            }
            clients.join_all().await;
        }
    })
    .await;
}
