//! Clients and servers of a line protocol, with a gateway, a switch and members between them.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{Config, Credentials};
use ratewire_anypoint::routing::KeyHash;
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_daemon::socket::Listen;
use ratewire_framing::Framing;
use ratewire_gateway::gateway::{Gateway, GatewayConfig};
use ratewire_gateway::member::{Member, MemberConfig};
use ratewire_switch::Running;
use ratewire_switch::hub::{self, HubConfig};
use ratewire_switch::session::SessionConfig;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::{JoinHandle, LocalSet, spawn_local};

fn acp() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}
fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}
fn lines() -> Framing {
    Framing::named("lines").expect("a framing")
}

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

/// A member in front of a server.
fn member(server: SocketAddr) -> SocketAddr {
    let config = MemberConfig {
        framing: lines(),
        listen: local(),
        server: Listen::Tcp(server),
        acp: acp(),
        patience: Duration::from_millis(200),
        longest: 1000,
    };
    let member = Member::open(config).expect("a member");
    let address = member.address();
    spawn_local(member.run());
    address
}

/// A switch. It dies with the handle.
fn switch(listen: SocketAddr, members: &[SocketAddr]) -> (SocketAddr, JoinHandle<()>) {
    let members = members.iter().enumerate().map(|(k, address)| hub::Member {
        name: format!("m{k}"),
        address: *address,
        credentials: Credentials::Shared([7; 32]),
    });
    let config = HubConfig {
        peers: acp(),
        session: SessionConfig {
            acp: acp(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: ratewire_units::Duration::from_secs(1),
        },
        members: members.collect(),
        spare: 0,
        routing: Box::new(|| Box::new(KeyHash { offset: 0, len: 8 })),
        patience: Duration::from_millis(500),
    };
    let running = Rc::new(Running::open(listen, local(), config).expect("a switch"));
    let address = running.address();
    let serving = spawn_local(async move {
        let run = running.run(std::future::pending(), Duration::ZERO, |_| {});
        run.await.expect("sockets");
    });
    (address, serving)
}

async fn gateway(listen: Listen, switch: SocketAddr) -> Listen {
    let config = GatewayConfig {
        framing: lines(),
        listen,
        switch,
        acp: acp(),
        timeout: Duration::from_secs(20),
        clients: 100,
        longest: 1000,
    };
    let gateway = Gateway::open(config).await.expect("a gateway");
    let address = gateway.address();
    spawn_local(gateway.run());
    address
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), LocalSet::new().run_until(what))
        .await
        .expect("an end")
}

fn tcp(listen: &Listen) -> SocketAddr {
    match listen {
        Listen::Tcp(address) => *address,
        Listen::Unix(_) => panic!("a port"),
    }
}

#[tokio::test(flavor = "current_thread")]
async fn clients_get_the_answers_of_all_servers_in_order() {
    in_time(async {
        let (one, _one) = server("one", local()).await;
        let (two, _two) = server("two", local()).await;
        let (switch, _) = switch(local(), &[member(one), member(two)]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway");
        let address = tcp(&gateway(Listen::Tcp(local()), switch).await);
        gateway(Listen::Unix(path.clone()), switch).await;
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
        let (switch, _) = switch(local(), &[member(address)]);
        let gateway = tcp(&gateway(Listen::Tcp(local()), switch).await);
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
        let members = [member(address)];
        let (address, serving) = switch(local(), &members);
        let gateway = tcp(&gateway(Listen::Tcp(local()), address).await);
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

/// The answer to one line on a connection of its own, unless the gateway closes it.
async fn ask(gateway: SocketAddr, text: &str) -> Option<String> {
    let stream = TcpStream::connect(gateway).await.expect("a gateway");
    let (read, mut write) = stream.into_split();
    write.write_all(format!("{text}\n").as_bytes()).await.expect("room");
    BufReader::new(read).lines().next_line().await.expect("a connection")
}
