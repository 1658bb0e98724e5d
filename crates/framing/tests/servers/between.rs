//! A gateway that holds one connection of its own to each server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use bytes::{Bytes, BytesMut};
use ratewire_framing::{Answers, Expect, Framing, Reorder, Requests, Route};

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
    /// Places of the requests that are not answered.
    places: Vec<u64>,
}

impl Member {
    fn new(framing: Framing, server: &SocketAddr) -> Member {
        Member {
            stream: TcpStream::connect(server).unwrap(),
            answers: Answers::new(framing, PIECE, MOST),
            buffer: BytesMut::new(),
            places: Vec::new(),
        }
    }

    fn send(&mut self, request: &[u8], expect: Expect, place: u64) {
        let probe = self.answers.expect(expect).unwrap();
        self.stream.write_all(&[request, probe].concat()).unwrap();
        self.places.push(place);
    }

    /// The answers to all requests that were sent, with their places.
    fn collect(&mut self) -> Vec<(u64, Bytes)> {
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

fn serve(framing: Framing, mut client: TcpStream, servers: &[SocketAddr]) {
    let mut members: Vec<Member> = servers.iter().map(|s| Member::new(framing, s)).collect();
    let mut requests = Requests::new(framing, LONGEST);
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
                    let member = key.unwrap_or(0) % members.len() as u64;
                    members[member as usize].send(&request.bytes, expect, place);
                }
                Route::Local(answer) => reorder.fill(place, answer).unwrap(),
            }
        }
        // The last server's answers come first, so that there is something to put in order.
        for (place, answer) in members.iter_mut().rev().flat_map(Member::collect) {
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
