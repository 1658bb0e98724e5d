//! Sessions recorded between Spread's programs and daemons, replayed against this daemon.
//!
//! The daemon must send what Spread's has sent, byte for byte, but for:
//! - identifiers of memberships, which say when and where a view was formed;
//! - the version of the daemon;
//! - the sections in [`DIFFERENT`].

use std::collections::BTreeMap;

use super::client::Stream;
use super::overlay::Overlay;

/// Sections of the recordings, by how their comments start, in which this daemon differs.
const DIFFERENT: &[(&str, &str)] = &[
    // Spread's daemon takes one read for the whole message: what it makes of a message depends on
    // the network. This one waits for the rest, until `handshake-timeout`.
    ("hand-made: length says 5, 3 bytes sent", "waits for the rest"),
    ("hand-made: length says 3, 5 bytes sent", "takes the rest for the next message"),
    ("hand-made: hello in two writes", "is served"),
    ("hand-made: right hello, only 30 bytes", "waits for the rest"),
    // Ends after `handshake-timeout`.
    ("hand-made: nothing sent", "is a matter of time"),
    ("hand-made: no name", "gets another name from each daemon"),
    // Spread documents that names have characters from `$` to `~`, and its daemon does not check.
    ("after login: join with a group name with a space", "ends the connection"),
    // Spread's daemon loses the message. This one delivers up to the 100 groups of the protocol.
    ("client 1: 44 groups", "delivers the message"),
];

const RECORDINGS: [(&str, &str); 5] = [
    ("notices", include_str!("../data/spread-4.4.0-notices.txt")),
    ("multigroup", include_str!("../data/spread-4.4.0-multigroup.txt")),
    ("private", include_str!("../data/spread-5.0.1-private.txt")),
    ("refused", include_str!("../data/spread-4.4.0-refused.txt")),
    ("java", include_str!("../data/spread-5.0.1-java.txt")),
];

/// Bytes of a header, of a name, and of the identifier of a membership.
const HEADER: usize = 48;
const NAME: usize = 32;
const ID: usize = 12;

/// A client's connection.
struct Replayed {
    stream: Stream,
    sent: Vec<u8>,
    recorded: Vec<u8>,
    received: Vec<u8>,
}

impl Replayed {
    /// Compares all that has come with the recording.
    fn check(&self, place: &str) {
        let (recorded, received) =
            (masked(&self.sent, &self.recorded), masked(&self.sent, &self.received));
        assert!(
            recorded == received,
            "{place}: received\n{}\nand Spread's daemon has sent\n{}",
            hex(&received),
            hex(&recorded)
        );
    }
}

#[test]
fn recorded_sessions_of_spread_are_answered_alike() {
    for (name, recording) in RECORDINGS {
        let (overlay, _daemon) = Overlay::single("");
        let sections = replay(&overlay, name, recording);
        assert!(sections > 0, "{name} has no section");
    }
}

#[test]
fn all_exceptions_are_of_use() {
    for (start, _) in DIFFERENT {
        let is_there = |text: &str| text.lines().any(|line| line[1..].trim().starts_with(start));
        assert!(RECORDINGS.iter().any(|(_, text)| is_there(text)), "no section starts {start:?}");
    }
}

/// Replays a recording; returns the number of its sections.
fn replay(overlay: &Overlay, name: &str, recording: &str) -> usize {
    let mut clients: BTreeMap<&str, Replayed> = BTreeMap::new();
    let (mut current, mut is_left_out, mut sections) = ("", false, 0);
    for (number, line) in recording.lines().enumerate() {
        let place = format!("{name}, line {}, client {current}", number + 1);
        if let Some(comment) = line.strip_prefix('#').map(str::trim) {
            match comment.strip_prefix("client ").and_then(|rest| rest.split_once(": closed by")) {
                Some((client, by)) => {
                    if let Some(client) = clients.remove(client) {
                        end(client, by.contains("daemon"), &place);
                    }
                }
                None => match comment.strip_prefix("client ") {
                    Some(client) if client.parse::<u32>().is_ok() => current = client,
                    _ if comment.starts_with("answer in full") => {}
                    _ => {
                        is_left_out = DIFFERENT.iter().any(|(start, _)| comment.starts_with(start));
                        sections += 1;
                    }
                },
            }
            continue;
        }
        if is_left_out {
            continue;
        }
        let bytes = bytes_of(line);
        let client = clients.entry(current).or_insert_with(|| Replayed {
            stream: Stream::unix(&overlay.socket("localhost")),
            sent: Vec::new(),
            recorded: Vec::new(),
            received: Vec::new(),
        });
        if line.starts_with("C>D") {
            client.sent.extend(&bytes);
            client.stream.write(&bytes);
        } else {
            println!("{place}: waits for {} bytes", bytes.len());
            client.received.extend(client.stream.read(bytes.len()));
            client.recorded.extend(bytes);
            client.check(&place);
        }
    }
    sections
}

/// Compares what a client receives to the end of its connection.
fn end(mut client: Replayed, is_by_daemon: bool, place: &str) {
    // Spread's clients end their connections when they have said so.
    const DISCONNECTS: [&[u8]; 2] = [&[0x80, 0, 4, 0x80], &[0, 4, 0, 0]];
    let last = client.sent.len().saturating_sub(HEADER + NAME);
    if is_by_daemon || DISCONNECTS.iter().any(|kind| client.sent[last..].starts_with(kind)) {
        let rest = client.stream.rest();
        client.received.extend(rest);
    }
    client.check(place);
}

/// What the daemon has sent without the parts that differ between daemons.
fn masked(sent: &[u8], received: &[u8]) -> Vec<u8> {
    const OFFER: &[u8] = b"\x05NULL ";
    let mut masked = received.to_vec();
    let mut at = if masked.starts_with(OFFER) { OFFER.len() } else { 0 };
    if masked.get(at) != Some(&1) {
        return masked;
    }
    let version = if sent[..2] < [3, 15][..] { 2 } else { 3 };
    let end = masked.len().min(at + 1 + version);
    masked[at + 1..end].fill(0);
    let Some(length) = masked.get(end).copied() else { return masked };
    at = end + 1 + usize::from(length);
    while let Some(header) = masked.get(at..at + HEADER) {
        let number = |place: usize| {
            u32::from_le_bytes(header[place..place + 4].try_into().unwrap()) as usize
        };
        let (kind, names, data) = (number(0), number(36), number(44));
        let body = at + HEADER + names * NAME;
        let (start, end) = (body.min(masked.len()), (body + ID).min(masked.len()));
        if kind & 0x3000 != 0 {
            masked[start..end].fill(0);
        }
        at = body + data;
    }
    masked
}

fn bytes_of(line: &str) -> Vec<u8> {
    let (size, hex) = line[4..].split_once(' ').unwrap();
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    assert_eq!(bytes.len(), size.parse::<usize>().unwrap());
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
