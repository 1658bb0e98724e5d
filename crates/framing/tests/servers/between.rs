//! A gateway that holds connections of its own to each server: one for each opening.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use bytes::{Bytes, BytesMut};
use ratewire_framing::{Answers, Expect, Framing, Gather, Reorder, Requests, Route};

const LONGEST: usize = 1 << 20;
const MOST: usize = 64;
/// Bytes from which on an answer comes in pieces.
const PIECE: usize = 1000;

/// Serves clients at the returned address until the test ends.
pub fn gateway(framing: Framing, servers: Vec<SocketAddr>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, servers) = (client.unwrap(), servers.clone());
            std::thread::spawn(move || serve(framing, client, &servers));
        }
    });
    address
}

/// A connection to a server.
struct Member {
    stream: TcpStream,
    answers: Answers,
    buffer: BytesMut,
    /// Places of the requests that are not answered, with the numbers of their parts.
    places: Vec<(u64, u32)>,
}

impl Member {
    fn new(framing: Framing, server: &SocketAddr, opening: &[u8]) -> Member {
        let mut member = Member {
            stream: TcpStream::connect(server).unwrap(),
            answers: Answers::new(framing, PIECE, MOST),
            buffer: BytesMut::new(),
            places: Vec::new(),
        };
        if !opening.is_empty() {
            member.send(opening, Expect::ORDINARY, (0, 0));
            member.collect();
        }
        member
    }

    fn send(&mut self, request: &[u8], expect: Expect, place: (u64, u32)) {
        let probe = self.answers.expect(expect).unwrap();
        self.stream.write_all(&[request, probe].concat()).unwrap();
        self.places.push(place);
    }

    /// The answers to all requests that were sent, with their places.
    fn collect(&mut self) -> Vec<((u64, u32), Bytes)> {
        let mut found = Vec::new();
        for place in std::mem::take(&mut self.places) {
            let mut bytes = BytesMut::new();
            loop {
                match self.answers.next(&mut self.buffer).unwrap() {
                    Some(answer) => {
                        bytes.extend_from_slice(&answer.bytes);
                        if !answer.has_more {
                            break;
                        }
                    }
                    None => assert!(fill(&mut self.stream, &mut self.buffer), "a server closed"),
                }
            }
            found.push((place, bytes.freeze()));
        }
        found
    }
}

/// Connections to all servers.
struct Members {
    framing: Framing,
    servers: Vec<SocketAddr>,
    open: BTreeMap<(usize, &'static [u8]), Member>,
    /// Answers of requests that have parts.
    gathers: BTreeMap<u64, Gather>,
}

impl Members {
    /// Sends a request to the server of the key; one without a key to the first.
    fn send(&mut self, request: &[u8], key: Option<u64>, expect: Expect, place: (u64, u32)) {
        let server = (key.unwrap_or(0) % self.servers.len() as u64) as usize;
        let opening = self.framing.opening(expect);
        let member = self.open.entry((server, opening));
        let new = || Member::new(self.framing, &self.servers[server], opening);
        member.or_insert_with(new).send(request, expect, place);
    }

    /// The answers to all requests that were sent. The last server's come first, so that there is
    /// something to put in order.
    fn collect(&mut self) -> Vec<(u64, Bytes)> {
        let mut found = Vec::new();
        for ((place, part), answer) in self.open.values_mut().rev().flat_map(Member::collect) {
            let Some(gather) = self.gathers.get_mut(&place) else {
                found.push((place, answer));
                continue;
            };
            gather.put(part, answer);
            if let Some(answer) = gather.take() {
                found.push((place, answer));
                self.gathers.remove(&place);
            }
        }
        found
    }
}

fn serve(framing: Framing, mut client: TcpStream, servers: &[SocketAddr]) {
    let (open, gathers) = (BTreeMap::new(), BTreeMap::new());
    let mut members = Members { framing, servers: servers.into(), open, gathers };
    let mut requests = Requests::new(framing, LONGEST).of_client(1);
    let mut buffer = BytesMut::new();
    let mut reorder = Reorder::new(MOST, LONGEST);
    loop {
        let (mut is_idle, mut closes) = (true, false);
        while !reorder.is_full() {
            let Some(request) = requests.next(&mut buffer).unwrap() else { break };
            let place = reorder.reserve().unwrap();
            (is_idle, closes) = (false, request.closes);
            match request.route {
                Route::Server { key, expect } => {
                    members.send(&request.bytes, key, expect, (place, 0));
                }
                Route::Split(parts, mut gather) => {
                    gather.expect(parts.len());
                    members.gathers.insert(place, gather);
                    for (number, part) in (0..).zip(parts) {
                        members.send(&part.bytes, part.key, part.expect, (place, number));
                    }
                }
                Route::All(expect, mut gather) => {
                    gather.expect(servers.len());
                    members.gathers.insert(place, gather);
                    for number in 0..servers.len() as u32 {
                        let key = Some(number.into());
                        members.send(&request.bytes, key, expect, (place, number));
                    }
                }
                Route::Local(answer) => reorder.fill(place, answer).unwrap(),
            }
        }
        for (place, answer) in members.collect() {
            reorder.fill(place, answer).unwrap();
        }
        while let Some(answer) = reorder.pop() {
            if client.write_all(&answer).is_err() {
                return;
            }
        }
        if closes || (is_idle && !fill(&mut client, &mut buffer)) {
            return;
        }
    }
}

/// Reads once; `false` at the end of the stream.
fn fill(stream: &mut TcpStream, buffer: &mut BytesMut) -> bool {
    let mut piece = [0; 4096];
    let read = stream.read(&mut piece).unwrap_or(0);
    buffer.extend_from_slice(&piece[..read]);
    read > 0
}
