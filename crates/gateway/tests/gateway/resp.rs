//! Redis: requests for several servers.

use bytes::BytesMut;
use ratewire_framing::{Requests, Route};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A server that answers `MGET` and `GET` with its name and the keys, `DEL` with their number, a
/// transaction as Redis does, and anything else with an error. Behind `HELLO 3` its name ends in 3.
async fn server(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            spawn_local(serve(name, stream));
        }
    });
    address
}

async fn serve(mut name: &'static str, mut stream: TcpStream) {
    let mut requests = Requests::new(framing("resp"), 10_000);
    let mut buffer = BytesMut::new();
    // Commands behind MULTI.
    let mut queued: Option<usize> = None;
    loop {
        while let Some(request) = requests.next(&mut buffer).expect("requests") {
            let text = String::from_utf8(request.bytes.to_vec()).expect("text");
            let words: Vec<&str> = match text.starts_with('*') {
                true => text.split("\r\n").skip(2).step_by(2).collect(),
                false => text.split_whitespace().collect(),
            };
            let is_executed = matches!(words[0], "EXEC");
            let answer = match (&words[..], queued) {
                (["MULTI"], _) => "+OK\r\n".into(),
                (["HELLO", "3"], _) => {
                    name = if name == "one" { "one3" } else { "two3" };
                    "%1\r\n+proto\r\n:3\r\n".into()
                }
                (["EXEC"], Some(count)) => format!("*{count}\r\n{}", ":1\r\n".repeat(count)),
                (_, Some(_)) => "+QUEUED\r\n".into(),
                (["GET", key], _) => format!("+{name} {key}\r\n"),
                (["MGET", keys @ ..], _) => {
                    let found = keys.iter().map(|key| format!("+{name} {key}\r\n"));
                    format!("*{}\r\n{}", keys.len(), found.collect::<String>())
                }
                (["DBSIZE"], _) => ":7\r\n".into(),
                (["DEL", keys @ ..], _) => format!(":{}\r\n", keys.len()),
                _ => format!("-ERR {name} does not know {}\r\n", words[0]),
            };
            queued = match (words[0], queued) {
                ("MULTI", _) => Some(0),
                _ if is_executed => None,
                (_, queued) => queued.map(|count| count + 1),
            };
            assert!(!matches!(request.route, Route::Split(..)) || is_executed, "{text:?}");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
        if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// What a client gets for these lines.
async fn answers_to(gateway: SocketAddr, lines: &str) -> String {
    let mut stream = TcpStream::connect(gateway).await.expect("a gateway");
    stream.write_all(lines.as_bytes()).await.expect("room");
    stream.shutdown().await.expect("a connection");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("answers");
    text.replace("\r\n", " ")
}

#[tokio::test(flavor = "current_thread")]
async fn requests_for_several_servers_have_one_answer() {
    in_time(async {
        let (one, two) = (server("one").await, server("two").await);
        let (switch, _) =
            switch(local(), &[member(framing("resp"), one), member(framing("resp"), two)]);
        let gateway = tcp(&gateway(framing("resp"), Listen::Tcp(local()), switch).await);
        let keys: Vec<String> = (0..16).map(|key| format!("k{key}")).collect();
        let gets: String = keys.iter().map(|key| format!("GET {key}\r\n")).collect();
        let single = answers_to(gateway, &gets).await;
        assert!(single.contains("+one") && single.contains("+two"), "{single}");
        let all = keys.join(" ");
        let mget = answers_to(gateway, &format!("MGET {all}\r\nPING\r\n")).await;
        assert_eq!(mget, format!("*16 {single}+PONG "));
        assert_eq!(answers_to(gateway, &format!("DEL {all} k1\r\n")).await, ":17 ");
        // The error of the first part is that of the request.
        let first = single.split([' ', '+']).nth(1).expect("a name");
        let touch = answers_to(gateway, &format!("TOUCH {all}\r\nPING\r\n")).await;
        assert_eq!(touch, format!("-ERR {first} does not know TOUCH +PONG "));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn who_says_hello_gets_answers_of_the_new_version() {
    in_time(async {
        let one = server("one").await;
        let (switch, _) = switch(local(), &[member(framing("resp"), one)]);
        let gateway = tcp(&gateway(framing("resp"), Listen::Tcp(local()), switch).await);
        let mut old = TcpStream::connect(gateway).await.expect("a gateway");
        let hello = "HELLO 3\r\nGET k\r\nDEL a b\r\nMULTI\r\nGET k\r\nEXEC\r\nNO k\r\nTTL k\r\n";
        for _ in 0..3 {
            let answers = answers_to(gateway, hello).await;
            let (greeting, rest) = answers.split_once("*0 ").expect("a greeting");
            assert!(greeting.starts_with("%7 ") && greeting.contains("$5 proto :3 "), "{greeting}");
            let known = "+one3 k :2 +OK +QUEUED *1 :1 -ERR NO is not supported by the gateway: ";
            assert!(rest.starts_with(known), "{rest}");
            assert!(rest.ends_with(" -ERR one3 does not know TTL "), "{rest}");
            assert_eq!(answers_to(gateway, "GET k\r\n").await, "+one k ");
        }
        // Others stay where they are, and so does one that returns.
        old.write_all(b"HELLO 3\r\nGET k\r\nHELLO 2\r\nGET k\r\nQUIT\r\n").await.expect("room");
        let mut text = String::new();
        old.read_to_string(&mut text).await.expect("answers");
        assert!(
            text.contains("+one3 k\r\n*14\r\n") && text.ends_with("+one k\r\n+OK\r\n"),
            "{text}"
        );
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn commands_for_all_servers_reach_each() {
    in_time(async {
        let (one, two) = (server("one").await, server("two").await);
        let (switch, _) =
            switch(local(), &[member(framing("resp"), one), member(framing("resp"), two)]);
        let gateway = tcp(&gateway(framing("resp"), Listen::Tcp(local()), switch).await);
        assert_eq!(
            answers_to(gateway, "GET k\r\nDBSIZE\r\nPING\r\n").await.split(' ').nth(2),
            Some(":14")
        );
        let refused = answers_to(gateway, "FLUSHALL\r\nPING\r\n").await;
        assert_eq!(refused, "-ERR one does not know FLUSHALL +PONG ");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn transactions_of_clients_do_not_mix() {
    in_time(async {
        let one = server("one").await;
        let (switch, _) = switch(local(), &[member(framing("resp"), one)]);
        let gateway = tcp(&gateway(framing("resp"), Listen::Tcp(local()), switch).await);
        let transaction = "MULTI\r\nGET k\r\nGET k\r\nEXEC\r\nGET k\r\n".repeat(20);
        let answers = "+OK +QUEUED +QUEUED *2 :1 :1 +one k ".repeat(20);
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..5 {
            let (transaction, answers) = (transaction.clone(), answers.clone());
            clients.spawn_local(async move {
                assert_eq!(answers_to(gateway, &transaction).await, answers);
            });
        }
        clients.join_all().await;
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_part_that_fails_fails_the_request() {
    in_time(async {
        let one = server("one").await;
        let gone = TcpListener::bind(local()).await.expect("a port").local_addr().expect("it");
        let (switch, _) =
            switch(local(), &[member(framing("resp"), one), member(framing("resp"), gone)]);
        let gateway = tcp(&gateway(framing("resp"), Listen::Tcp(local()), switch).await);
        let keys: String = (0..16).map(|key| format!(" k{key}")).collect();
        let answer = answers_to(gateway, &format!("MGET{keys}\r\nPING\r\n")).await;
        assert!(answer.starts_with("-ERR the server is gone: "), "{answer}");
        assert!(answer.ends_with(" +PONG "), "{answer}");
    })
    .await;
}
