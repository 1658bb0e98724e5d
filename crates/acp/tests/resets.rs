//! What somebody who watches a connection can do to it, and what a restarted server says.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::{CloseReason, Config, Connection, Credentials, Endpoint, Error, Frame};
use tokio::net::UdpSocket;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Types of packets, in their fourth byte.
const ACCEPT: u8 = 3;
const UNKNOWN: u8 = 4;

fn at(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, host], port))
}

fn config() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}

/// Servers at one port of two hosts, with the same secret.
fn servers() -> [Endpoint; 2] {
    let ports = (0..100).find_map(|_| {
        let first = Endpoint::server(at(2, 0), config()).ok()?;
        let second = Endpoint::server(at(3, first.address().port()), config()).ok()?;
        Some([first, second])
    });
    ports.expect("a port that is free at both hosts")
}

/// A packet that seems to belong to a connection.
fn question(id: &[u8]) -> Vec<u8> {
    [&[b'A', b'C', 1, 0], id, &[9; 80]].concat()
}

/// The path between a client and a server. An attacker sees what passes, and can send in the name
/// of either.
struct Path {
    to_client: UdpSocket,
    to_server: UdpSocket,
    client: Option<SocketAddr>,
    server: SocketAddr,
    /// Numbers of connections in packets to the client, and to the server.
    seen: [Vec<[u8; 8]>; 2],
}

impl Path {
    async fn to(server: SocketAddr) -> Path {
        let socket = || UdpSocket::bind(at(1, 0));
        Path {
            to_client: socket().await.expect("a socket"),
            to_server: socket().await.expect("a socket"),
            client: None,
            server,
            seen: Default::default(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.to_client.local_addr().expect("an address")
    }

    /// Carries packets until none has come for a while, or until a packet `ends` it, which is not
    /// carried.
    async fn carry(&mut self, ends: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        let (mut up, mut down) = ([0; 2000], [0; 2000]);
        loop {
            let next = async {
                tokio::select! {
                    got = self.to_client.recv_from(&mut up) => {
                        let (length, from) = got.expect("a packet");
                        (true, up[..length].to_vec(), from)
                    }
                    got = self.to_server.recv_from(&mut down) => {
                        let (length, from) = got.expect("a packet");
                        (false, down[..length].to_vec(), from)
                    }
                }
            };
            let Ok((is_up, packet, from)) = timeout(Duration::from_millis(300), next).await else {
                return None;
            };
            if is_up {
                self.client = Some(from);
            }
            let id = packet[4..12].try_into().expect("a number");
            let seen = &mut self.seen[usize::from(is_up)];
            if !seen.contains(&id) {
                seen.push(id);
            }
            if ends(&packet) {
                return Some(packet);
            }
            if is_up {
                self.to_server.send_to(&packet, self.server).await.expect("sent");
            } else {
                self.pass_down(&packet).await;
            }
        }
    }

    /// Carries packets until something has happened.
    async fn carry_until<T>(&mut self, happens: impl Future<Output = T>) -> T {
        tokio::pin!(happens);
        loop {
            tokio::select! {
                happened = &mut happens => return happened,
                _ = self.carry(|_| false) => {}
            }
        }
    }

    async fn pass_down(&self, packet: &[u8]) {
        let client = self.client.expect("a client that has sent");
        self.to_client.send_to(packet, client).await.expect("sent");
    }

    /// Asks each host about each number that was seen, and forwards to both ends what comes back,
    /// in the name of the other end. Returns the number of answers.
    async fn attack(&self, hosts: &[SocketAddr]) -> usize {
        let attacker = UdpSocket::bind(at(1, 0)).await.expect("a socket");
        let mut answers = 0;
        for host in hosts {
            for id in self.seen.iter().flatten() {
                attacker.send_to(&question(id), host).await.expect("sent");
                let mut answer = [0; 200];
                let answered = attacker.recv_from(&mut answer);
                let Ok(got) = timeout(Duration::from_millis(300), answered).await else { continue };
                let answer = &answer[..got.expect("a packet").0];
                assert_eq!(answer[3], UNKNOWN);
                answers += 1;
                self.to_server.send_to(answer, self.server).await.expect("sent");
                self.pass_down(answer).await;
            }
        }
        answers
    }
}

/// Whether frames still pass in both directions.
async fn is_alive(path: &mut Path, ends: [&Connection; 2]) -> bool {
    for (from, to) in [(0, 1), (1, 0)] {
        if ends[from].send(Frame::new(1, "still")).await.is_err() {
            return false;
        }
        let came = timeout(Duration::from_secs(5), ends[to].receive());
        let came = path.carry_until(came).await;
        if !matches!(came, Ok(Ok(Some(_)))) {
            return false;
        }
    }
    true
}

/// Members of a switch share a secret (RFC 9000, 21.11).
#[tokio::test]
async fn what_other_endpoints_say_of_a_connection_does_not_end_it() {
    let [server, other] = servers();
    let client = Endpoint::client(at(1, 0), config()).unwrap();
    let mut path = Path::to(server.address()).await;
    let address = path.address();
    let near = path.carry_until(client.connect(address)).await.unwrap();
    let far = path.carry_until(server.accept()).await.unwrap();
    assert!(is_alive(&mut path, [&near, &far]).await);
    let hosts = [client.address(), server.address(), other.address()];
    let answers = path.attack(&hosts).await;
    assert!(answers >= 4, "each is asked of a number that it does not know: {answers} answers");
    assert!(is_alive(&mut path, [&near, &far]).await);
}

/// A client has given its connection a number before the server has answered.
#[tokio::test]
async fn a_client_that_waits_for_an_answer_does_not_deny_its_connection() {
    let [server, other] = servers();
    let client = Endpoint::client(at(1, 0), config()).unwrap();
    let mut path = Path::to(server.address()).await;
    let begun = client.connect(path.address());
    let attacked = async {
        let accept = loop {
            if let Some(accept) = path.carry(|packet| packet[3] == ACCEPT).await {
                break accept;
            }
        };
        path.attack(&[client.address(), other.address()]).await;
        path.pass_down(&accept).await;
        let accepted = timeout(Duration::from_secs(5), server.accept());
        path.carry_until(accepted).await.expect("the server still has the connection").unwrap()
    };
    let (begun, far) = tokio::join!(begun, attacked);
    let near = begun.unwrap();
    assert!(is_alive(&mut path, [&near, &far]).await);
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}

/// Where an endpoint is killed and another takes its place. An endpoint of all addresses has the
/// proofs of the one that its other end sends to.
fn places() -> [SocketAddr; 2] {
    [at(1, 0), SocketAddr::from(([0, 0, 0, 0], 0))]
}

/// Kills one end of a connection, without a word to the other, and starts another endpoint in its
/// place. The other end is told so when it sends.
fn replace(killed: (Runtime, Endpoint, Connection), other: (&Runtime, &Connection)) {
    let (runs, endpoint, connection) = killed;
    let address = endpoint.address();
    runs.shutdown_timeout(Duration::from_secs(10));
    drop((connection, endpoint));
    let next = runtime();
    let _next = next.block_on(async { Endpoint::server(address, config()).unwrap() });
    let (runs, connection) = other;
    let ended = runs.block_on(async {
        // A probe or an acknowledgement may have told it before.
        _ = connection.send(Frame::new(2, "still there")).await;
        timeout(Duration::from_secs(10), connection.receive()).await
    });
    let ended = ended.expect("the other end hears of it before its connection is idle");
    assert!(matches!(ended, Err(Error::Closed(CloseReason::Forgotten))), "{ended:?}");
}

/// A connection of two endpoints, the client's first.
fn connected(client: SocketAddr, server: SocketAddr) -> [(Runtime, Endpoint, Connection); 2] {
    let (of_client, of_server) = (runtime(), runtime());
    let server = of_server.block_on(async { Endpoint::server(server, config()).unwrap() });
    let client = of_client.block_on(async { Endpoint::client(client, config()).unwrap() });
    let seen = at(1, server.address().port());
    let near = of_client.block_on(client.connect(seen)).unwrap();
    of_client.block_on(near.send(Frame::new(1, "hello"))).unwrap();
    let far = of_server.block_on(server.accept()).unwrap();
    assert!(of_server.block_on(far.receive()).unwrap().is_some());
    [(of_client, client, near), (of_server, server, far)]
}

#[test]
fn a_server_that_was_restarted_says_so_at_once() {
    for place in places() {
        let [client, server] = connected(at(1, 0), place);
        replace(server, (&client.0, &client.2));
    }
}

/// A switch that connects to another may be restarted, too.
#[test]
fn a_client_that_was_restarted_says_so_at_once() {
    for place in places() {
        let [client, server] = connected(place, at(1, 0));
        replace(client, (&server.0, &server.2));
    }
}
