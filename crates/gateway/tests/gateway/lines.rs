//! A line protocol.

use std::os::unix::fs::PermissionsExt;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use super::*;

/// A server that answers each line with its own name and the line. It ends with the handle.
async fn server(name: &'static str, address: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    let serving = spawn_local(async move {
        let mut clients = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            clients.spawn_local(async move {
                let (read, mut write) = stream.into_split();
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let answer = format!("{name} {line}\n");
                    if write.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, serving)
}

#[tokio::test(flavor = "current_thread")]
async fn clients_get_the_answers_of_all_servers_in_order() {
    in_time(async {
        let (one, _one) = server("one", local()).await;
        let (two, _two) = server("two", local()).await;
        let (switch, _) =
            switch(local(), &[member(framing("lines"), one), member(framing("lines"), two)]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway");
        let address = tcp(&gateway(framing("lines"), Listen::Tcp(local()), switch).await);
        gateway(framing("lines"), Listen::Unix(path.clone()), switch).await;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..4 {
            let path = path.clone();
            clients.spawn_local(async move {
                match number {
                    0 => talk(number, UnixStream::connect(path).await.expect("a gateway")).await,
                    _ => talk(number, TcpStream::connect(address).await.expect("one")).await,
                }
            });
        }
        clients.join_all().await;
    })
    .await;
}

/// Sends lines without waiting for answers, and checks these.
async fn talk(number: u64, mut stream: impl tokio::io::AsyncRead + AsyncWriteExt + Unpin) {
    const LINES: u64 = 500;
    let line = |i: u64| format!("key{} {number} {i}", i % 16);
    let all: String = (0..LINES).map(|i| line(i) + "\n").collect();
    stream.write_all(all.as_bytes()).await.expect("room");
    stream.shutdown().await.expect("a connection");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("answers");
    let mut by = std::collections::BTreeMap::new();
    for (i, answer) in (0..).zip(text.lines()) {
        let (name, rest) = answer.split_once(' ').expect("an answer");
        assert_eq!(rest, line(i));
        let key = i % 16;
        assert_eq!(*by.entry(key).or_insert(name), name, "a key has one server");
    }
    assert_eq!(text.lines().count() as u64, LINES);
    let mut names: Vec<&str> = by.values().copied().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["one", "two"]);
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_ends_costs_the_requests_that_it_had() {
    in_time(async {
        let (address, serving) = server("one", local()).await;
        let (switch, _) = switch(local(), &[member(framing("lines"), address)]);
        let gateway = tcp(&gateway(framing("lines"), Listen::Tcp(local()), switch).await);
        assert_eq!(ask(gateway, "a").await.as_deref(), Some("one a"));
        serving.abort();
        _ = serving.await;
        // Lines have no errors: a client whose request has failed is closed.
        assert_eq!(ask(gateway, "b").await, None);
        let (_, _again) = server("again", address).await;
        let mut answer = ask(gateway, "c").await;
        while answer.is_none() {
            answer = ask(gateway, "c").await;
        }
        assert_eq!(answer.as_deref(), Some("again c"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_a_dead_switch_has_not_passed_on_goes_to_the_next() {
    in_time(async {
        let (address, _serving) = server("one", local()).await;
        let members = [member(framing("lines"), address)];
        let (address, serving) = switch(local(), &members);
        let gateway = tcp(&gateway(framing("lines"), Listen::Tcp(local()), address).await);
        assert_eq!(ask(gateway, "a").await.as_deref(), Some("one a"));
        serving.abort();
        _ = serving.await;
        let restarted = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            switch(address, &members)
        };
        let (answer, _) = tokio::join!(ask(gateway, "b"), restarted);
        assert_eq!(answer.as_deref(), Some("one b"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_switch_that_is_told_to_stop_finishes_what_it_has_and_the_next_goes_on() {
    in_time(async {
        let (asked, slow) = slow_server().await;
        let members = [member(framing("lines"), slow)];
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (address, serving) = switch_until(local(), &members, async {
            _ = stopped.await;
        });
        let gateway = tcp(&gateway(framing("lines"), Listen::Tcp(local()), address).await);
        let first = spawn_local(async move { ask(gateway, "a").await });
        asked.notified().await;
        stop.send(()).expect("a switch");
        let second = spawn_local(async move { ask(gateway, "b").await });
        serving.await.expect("an end");
        assert_eq!(first.await.expect("an answer").as_deref(), Some("slow a"));
        let (_, _next) = switch(address, &members);
        assert_eq!(second.await.expect("an answer").as_deref(), Some("slow b"));
    })
    .await;
}

/// A server that takes a quarter of a second for an answer, and tells when it has a request.
async fn slow_server() -> (Rc<tokio::sync::Notify>, SocketAddr) {
    let asked = Rc::new(tokio::sync::Notify::new());
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    let told = Rc::clone(&asked);
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let told = Rc::clone(&told);
            spawn_local(async move {
                let (read, mut write) = stream.into_split();
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    told.notify_one();
                    tokio::time::sleep(Duration::from_millis(250)).await;
                    if write.write_all(format!("slow {line}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (asked, address)
}

/// The answer to one line on a connection of its own, unless the gateway closes it.
async fn ask(gateway: SocketAddr, text: &str) -> Option<String> {
    let stream = TcpStream::connect(gateway).await.expect("a gateway");
    let (read, mut write) = stream.into_split();
    write.write_all(format!("{text}\n").as_bytes()).await.expect("room");
    BufReader::new(read).lines().next_line().await.expect("a connection")
}
