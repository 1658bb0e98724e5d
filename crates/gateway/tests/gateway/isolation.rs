//! Servers that hang and clients that do not read, beside others.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// What a server does.
#[derive(Clone, Copy)]
enum Server {
    /// It answers each line with its own number and so many bytes.
    Answers(u8, usize),
    /// It reads nothing.
    Hangs,
}

async fn server(kind: Server) -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    spawn_local(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            match kind {
                Server::Answers(number, length) => _ = spawn_local(answer(stream, number, length)),
                Server::Hangs => held.push(stream),
            }
        }
    });
    address
}

async fn answer(stream: TcpStream, number: u8, length: usize) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let long = if line.ends_with("long") { length } else { 0 };
        let answer = [&[number][..], &vec![b'x'; long], b"\n"].concat();
        if write.write_all(&answer).await.is_err() {
            return;
        }
    }
}

struct Client {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
}

impl Client {
    async fn new(gateway: SocketAddr) -> Client {
        let (read, write) = TcpStream::connect(gateway).await.expect("the gateway").into_split();
        Client { read: BufReader::new(read), write }
    }

    /// Sends a line and returns the answer, which is empty if the connection is closed.
    async fn ask(&mut self, line: &str) -> String {
        self.write.write_all(format!("{line}\n").as_bytes()).await.expect("room");
        let mut answer = String::new();
        self.read.read_line(&mut answer).await.expect("an answer");
        answer
    }

    /// Sends a line as often as the gateway reads it.
    async fn flood(mut self, line: &'static str) {
        let bytes = format!("{line}\n").repeat(1000);
        while self.write.write_all(bytes.as_bytes()).await.is_ok() {}
    }
}

/// A gateway with these servers behind it, and a key of each.
async fn around(servers: &[Server], setting: Setting) -> (SocketAddr, Vec<String>) {
    let framing = framing("lines");
    let mut members = Vec::new();
    for kind in servers {
        members.push(member(framing, server(*kind).await));
    }
    let (switch, _) = switch(local(), &members);
    let gateway = gateway_with(framing, Listen::Tcp(local()), switch, setting).await;
    let keys = (0..servers.len()).map(|k| key(k, servers.len())).collect();
    (tcp(&gateway), keys)
}

/// A key whose requests go to a member.
fn key(member: usize, of: usize) -> String {
    let members = vec![routing::Member { is_up: true, ..routing::Member::default() }; of];
    let is_its = |key: &String| {
        let content = ratewire_framing::hash(key.as_bytes()).to_be_bytes();
        let frame = routing::Frame { number: 0, content: &content };
        KeyHash { offset: 0, len: 8 }.choose(&frame, &members, |k| k as u64) == Some(member)
    };
    (0..).map(|n| format!("k{n}")).find(is_its).expect("a key")
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_hangs_holds_up_no_other() {
    in_time(async {
        let servers = [Server::Hangs, Server::Answers(b'1', 0)];
        let (gateway, keys) = around(&servers, Setting::default()).await;
        // More than all buffers on the way have room for, from several clients.
        for _ in 0..4 {
            let line: &'static str = format!("{} {}", keys[0], "x".repeat(900)).leak();
            spawn_local(Client::new(gateway).await.flood(line));
        }
        let mut client = Client::new(gateway).await;
        for _ in 0..200 {
            assert_eq!(client.ask(&keys[1]).await, "1\n");
        }
        // The clients that flood are stopped, and others of the same server only wait.
        let mut other = Client::new(gateway).await;
        let waits = tokio::time::timeout(Duration::from_millis(50), other.ask(&keys[0])).await;
        assert!(waits.is_err());
        assert_eq!(client.ask(&keys[1]).await, "1\n");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_client_that_reads_nothing_holds_up_no_other() {
    in_time(async {
        let servers = [Server::Answers(b'0', 900)];
        let (gateway, keys) = around(&servers, Setting::default()).await;
        for _ in 0..4 {
            let line: &'static str = format!("{} long", keys[0]).leak();
            spawn_local(Client::new(gateway).await.flood(line));
        }
        let mut client = Client::new(gateway).await;
        for _ in 0..200 {
            assert_eq!(client.ask(&keys[0]).await, "0\n");
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_does_not_arrive_in_time_ends_its_client() {
    in_time(async {
        let patience = Duration::from_millis(200);
        let servers = [Server::Answers(b'0', 0)];
        let (gateway, keys) = around(&servers, Setting { patience, ..Setting::default() }).await;
        let mut idle = Client::new(gateway).await;
        let mut slow = Client::new(gateway).await;
        slow.write.write_all(b"a request without an end").await.expect("room");
        let mut all = String::new();
        slow.read.read_to_string(&mut all).await.expect("an end");
        assert_eq!(all, "");
        assert_eq!(idle.ask(&keys[0]).await, "0\n", "who has sent nothing may wait");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn clients_beyond_the_limit_wait_for_a_place_and_are_told_if_there_is_none() {
    in_time(async {
        // On a busy machine the first answer may take so long, too.
        let timeout = Duration::from_secs(2);
        let setting = Setting { clients: 1, timeout, ..Setting::default() };
        let servers = [Server::Answers(b'0', 0)];
        let (gateway, keys) = around(&servers, setting).await;
        let first = loop {
            let mut first = Client::new(gateway).await;
            if first.ask(&keys[0]).await == "0\n" {
                break first;
            }
        };
        let mut second = Client::new(gateway).await;
        assert_eq!(second.ask(&keys[0]).await, "", "lines have no error messages");
        drop(first);
        while Client::new(gateway).await.ask(&keys[0]).await != "0\n" {}
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn long_answers_that_wait_for_the_first_do_not_hold_up_its_request() {
    in_time(async {
        let servers = [Server::Answers(b'0', 100_000), Server::Answers(b'1', 100_000)];
        let (gateway, keys) = around(&servers, Setting::default()).await;
        let client = Client::new(gateway).await;
        // One server's answers fill what is held before the other has any request.
        let mut lines = String::new();
        for _ in 0..6 {
            (0..4).for_each(|_| lines += &format!("{} long\n", keys[0]));
            (0..20).for_each(|_| lines += &format!("{} long\n", keys[1]));
        }
        let (mut read, mut write) = (client.read, client.write);
        let sending = spawn_local(async move { write.write_all(lines.as_bytes()).await });
        for k in 0..6 * 24 {
            let mut answer = String::new();
            read.read_line(&mut answer).await.expect("an answer");
            let from = if k % 24 < 4 { '0' } else { '1' };
            assert!(answer.starts_with(from) && answer.len() == 100_002, "{k}: {}", answer.len());
        }
        sending.await.expect("an end").expect("room");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn clients_that_go_away_with_requests_under_way_take_no_room() {
    in_time(async {
        let servers = [Server::Answers(b'0', 1000)];
        let (gateway, keys) = around(&servers, Setting::default()).await;
        // More requests than a member may have at a time.
        for _ in 0..60 {
            let mut client = Client::new(gateway).await;
            let lines = format!("{} long\n", keys[0]).repeat(100);
            client.write.write_all(lines.as_bytes()).await.expect("room");
            let mut answer = String::new();
            client.read.read_line(&mut answer).await.expect("an answer");
        }
        let mut client = Client::new(gateway).await;
        for _ in 0..200 {
            assert_eq!(client.ask(&keys[0]).await, "0\n");
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn requests_that_do_not_arrive_are_bounded_over_all_clients() {
    in_time(async {
        let setting = Setting { memory: 20_000, ..Setting::default() };
        let (gateway, keys) = around(&[Server::Answers(b'0', 0)], setting).await;
        let mut halves = Vec::new();
        for _ in 0..40 {
            let mut client = Client::new(gateway).await;
            // Some have been ended by then.
            _ = client.write.write_all(&[b'x'; 900]).await;
            halves.push(client);
        }
        while Client::new(gateway).await.ask(&keys[0]).await != "0\n" {}
        let mut ended = 0;
        for client in &mut halves {
            let read = client.read.read_u8();
            ended +=
                usize::from(tokio::time::timeout(Duration::from_millis(20), read).await.is_ok());
        }
        assert!((18..40).contains(&ended), "{ended} are ended");
    })
    .await;
}
