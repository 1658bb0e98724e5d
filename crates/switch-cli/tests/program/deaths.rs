//! Servers that are killed and started again while requests are on their way.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::common::folder;
use super::shards::{Kind, Shards};

const KEYS: usize = 200;
/// Counters of keys begin at multiples of it, so that an answer tells its key.
const FIRST: usize = 1_000_000;

/// Requests of a protocol whose answers have one line each.
#[derive(Clone, Copy)]
struct Protocol {
    kind: Kind,
    set: fn(usize) -> String,
    /// A request whose answer tells the key.
    ask: fn(usize) -> String,
    /// The key that an answer tells; `None` if the server has lost the key.
    key: fn(&str) -> Option<usize>,
}

const REDIS: Protocol = Protocol {
    kind: Kind::Redis,
    set: |k| format!("set key{k} {}\r\n", k * FIRST),
    ask: |k| format!("incr key{k}\r\n"),
    key: |line| of_counter(line.strip_prefix(':')?),
};

const TEXT: Protocol = Protocol {
    kind: Kind::Memcached,
    set: |k| format!("set key{k} 0 0 9\r\n{:09}\r\n", k * FIRST),
    ask: |k| format!("incr key{k} 1\r\n"),
    key: of_counter,
};

const META: Protocol = Protocol {
    kind: Kind::Memcached,
    set: |k| format!("ms key{k} 5\r\nvalue\r\n"),
    // A hit, and what the client has called it.
    ask: |k| format!("mg key{k} O{k}\r\n"),
    key: |line| line.strip_prefix("HD O")?.parse().ok(),
};

/// Key 0 counts from 0 in a new server, too.
fn of_counter(text: &str) -> Option<usize> {
    let key = text.trim().parse::<usize>().ok()? / FIRST;
    (key > 0).then_some(key)
}

/// A client with requests on their way.
struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn new(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a listener");
        let answers = BufReader::new(stream.try_clone().expect("a file descriptor"));
        Client { stream, answers }
    }

    fn ask(&mut self, request: fn(usize) -> String) {
        let requests: String = (1..=KEYS).map(request).collect();
        self.stream.write_all(requests.as_bytes()).expect("a connection");
    }

    /// The answers to what was asked, each a line.
    fn answers(&mut self) -> Vec<String> {
        let mut line = || {
            let mut line = String::new();
            self.answers.read_line(&mut line).expect("a connection");
            line.trim_end().to_string()
        };
        (0..KEYS).map(|_| line()).collect()
    }

    /// Keys whose requests have failed. The others have their own answers, in order.
    fn failed(&mut self, protocol: Protocol) -> BTreeSet<usize> {
        let answers = self.answers().into_iter().zip(1..);
        let failed = answers.filter_map(|(answer, key)| match (protocol.key)(&answer) {
            Some(found) => {
                assert_eq!(found, key, "{answer}");
                None
            }
            None => Some(key),
        });
        failed.collect()
    }
}

/// Kills a server of four and starts it again, each time while requests are on their way.
fn dies_and_comes_back(name: &str, protocol: Protocol) {
    if !protocol.kind.is_there() {
        return;
    }
    let mut shards = Shards::start(protocol.kind, &folder(name), 4);
    let mut client = Client::new(shards.gateway);
    client.ask(protocol.set);
    let set = client.answers();
    assert!(set.iter().all(|answer| *answer == set[0]) && !set[0].contains(' '), "{set:?}");
    let mut of_server = Client::new(shards.servers[2]);
    of_server.ask(protocol.ask);
    let others = of_server.failed(protocol);
    assert!((KEYS / 2..KEYS - 10).contains(&others.len()), "{others:?}");
    client.ask(protocol.ask);
    assert_eq!(client.failed(protocol), BTreeSet::new());

    client.ask(protocol.ask);
    shards.kill_server(2);
    let mut failed = client.failed(protocol);
    // Those before had their answers.
    client.ask(protocol.ask);
    failed.append(&mut client.failed(protocol));
    assert_eq!(failed.intersection(&others).collect::<Vec<_>>(), [&0; 0], "others go on");
    assert_eq!(failed.len(), KEYS - others.len());

    client.ask(protocol.set);
    shards.start_server(2);
    client.answers();
    while {
        client.ask(protocol.set);
        client.answers() != set
    } {}
    client.ask(protocol.ask);
    assert_eq!(client.failed(protocol), BTreeSet::new());
}

#[test]
fn a_redis_that_dies_takes_only_its_keys_with_it() {
    dies_and_comes_back("switch-redis-dies", REDIS);
}

#[test]
fn a_memcached_that_dies_takes_only_its_keys_with_it() {
    dies_and_comes_back("switch-memcached-text", TEXT);
    dies_and_comes_back("switch-memcached-meta", META);
}
