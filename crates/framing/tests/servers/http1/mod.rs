//! A real server reads what the framing `http1` takes for one request as the same request, or
//! refuses it: else a client could smuggle requests into a connection that it shares with others.
//!
//! nginx is compared in each run, node and HAProxy by hand:
//! `cargo test -p ratewire-framing --test servers http1 -- --ignored --nocapture`.

mod streams;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use ratewire_framing::{Answers, Expect, Framing, Reason, Request, Requests, Route};

use super::{Server, server};
use streams::{NEXT, streams};

const LONGEST: usize = 4096;
fn framing() -> Framing {
    Framing::named("http1").unwrap()
}

/// The requests for servers that the framing finds in the streams, without repetition.
fn accepted() -> BTreeMap<Vec<u8>, Request> {
    let mut found = BTreeMap::new();
    for stream in streams() {
        let mut requests = Requests::new(framing(), LONGEST);
        let mut buffer = BytesMut::from(&stream[..]);
        while let Ok(Some(request)) = requests.next(&mut buffer) {
            if matches!(request.route, Route::Server { .. }) {
                found.insert(request.bytes.to_vec(), request);
            }
        }
    }
    found
}

/// The requests that are cut as they come, a byte at a time and in pieces, and then joined.
fn joined(stream: &[u8]) -> (Vec<Vec<u8>>, Option<Reason>) {
    let mut requests = Requests::in_pieces(framing(), LONGEST);
    let (mut buffer, mut found, mut begun) = (BytesMut::new(), Vec::new(), None::<Vec<u8>>);
    for byte in stream {
        buffer.extend_from_slice(&[*byte]);
        loop {
            let (bytes, has_more) = match &begun {
                None => match requests.next(&mut buffer) {
                    Ok(Some(request)) => (request.bytes, request.has_more),
                    Ok(None) => break,
                    Err(violation) => return (found, Some(violation.reason)),
                },
                Some(_) => match requests.rest(&mut buffer) {
                    Ok(Some(rest)) => (rest.bytes, rest.has_more),
                    Ok(None) => break,
                    Err(violation) => return (found, Some(violation.reason)),
                },
            };
            let mut request = begun.take().unwrap_or_default();
            request.extend_from_slice(&bytes);
            match has_more {
                true => begun = Some(request),
                false if request.is_empty() => {}
                false => found.push(request),
            }
        }
    }
    (found, None)
}

/// What is passed on before it is whole is as strictly checked.
#[test]
fn requests_in_pieces_are_those_that_are_cut_whole() {
    let mut spoiled = 0;
    for stream in streams() {
        let mut requests = Requests::new(framing(), LONGEST);
        let mut buffer = BytesMut::from(&stream[..]);
        let mut whole = Vec::new();
        let reason = loop {
            match requests.next(&mut buffer) {
                // An interim answer of the gateway has no bytes.
                Ok(Some(request)) if request.bytes.is_empty() => {}
                Ok(Some(request)) => whole.push(request.bytes.to_vec()),
                Ok(None) => break None,
                // Only a request that has to be whole can be too long.
                Err(violation) if matches!(violation.reason, Reason::TooLong { .. }) => break None,
                Err(violation) => break Some(violation.reason),
            }
        };
        spoiled += usize::from(reason.is_some());
        assert_eq!(joined(&stream), (whole, reason), "{}", String::from_utf8_lossy(&stream));
    }
    assert!(spoiled > 10_000, "{spoiled} are refused");
}

/// Method, target and content of a request, in hexadecimal digits; `None` if they are unclear.
fn reading(request: &[u8]) -> Option<String> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&request[..end]), &request[end + 4..]);
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let is_chunked = lines.map(str::to_lowercase).any(|line| {
        line.strip_prefix("transfer-encoding:").is_some_and(|value| value.contains("chunked"))
    });
    let content = if is_chunked { chunks(body)? } else { body.to_vec() };
    let seen = [format!("{method} {target} ").as_bytes(), &content].concat();
    Some(seen.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The content of chunks.
fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = str::from_utf8(&rest[..digits]).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Some(content);
        }
        content.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}

/// Answers each request of a proxy with what it reads. The proxy writes its requests anew, so
/// this server has nothing doubtful to read; if it has, it answers 500.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for proxy in listener.incoming() {
            let mut proxy = proxy.unwrap();
            std::thread::spawn(move || {
                let mut requests = Requests::new(framing(), LONGEST);
                let mut buffer = BytesMut::new();
                loop {
                    let answer = match requests.next(&mut buffer) {
                        Ok(Some(Request { route: Route::Local(answer), .. })) => answer.to_vec(),
                        Ok(Some(request)) => seen(&reading(&request.bytes).unwrap_or_default()),
                        Ok(None) if fill(&mut proxy, &mut buffer).is_ok_and(|read| read > 0) => {
                            continue;
                        }
                        Ok(None) => return,
                        Err(_) => b"HTTP/1.1 500 Doubtful\r\nContent-Length: 0\r\n\r\n".to_vec(),
                    };
                    if proxy.write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn seen(reading: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nSeen: {reading}\r\nContent-Length: 0\r\n\r\n").into()
}

fn fill(stream: &mut TcpStream, buffer: &mut BytesMut) -> std::io::Result<usize> {
    let mut piece = [0; 4096];
    let read = stream.read(&mut piece)?;
    buffer.extend_from_slice(&piece[..read]);
    Ok(read)
}

/// What a server makes of a request.
#[derive(Debug, PartialEq)]
enum Heard {
    /// It has read a request.
    Read(String),
    /// It answers with this status.
    Refused(String),
    /// It has closed the connection.
    Closed,
    /// It waits for more, although the request is whole.
    Waits,
    /// What it sends is no answer to the request.
    Strange(Reason),
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    fn new(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
        Connection { stream, buffer: BytesMut::new() }
    }

    /// Sends a request and waits for its answer. Returns also whether the answer says that the
    /// server closes the connection.
    fn ask(&mut self, request: &[u8], expect: Expect) -> (Heard, bool) {
        let mut answers = Answers::new(framing(), 1, 1);
        answers.expect(expect).unwrap();
        // A server may have closed: that shows when its answer is read.
        let _ = self.stream.write_all(request);
        let mut whole = BytesMut::new();
        loop {
            match answers.next(&mut self.buffer) {
                Ok(Some(answer)) => {
                    whole.extend_from_slice(&answer.bytes);
                    if answer.has_more {
                        continue;
                    }
                    return (heard(&whole), answer.closes);
                }
                Ok(None) => {}
                Err(violation) => return (Heard::Strange(violation.reason), false),
            }
            match fill(&mut self.stream, &mut self.buffer) {
                Ok(0) => {
                    let last = answers.end(&mut self.buffer).ok().flatten();
                    return (last.map_or(Heard::Closed, |_| heard(&whole)), true);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return (Heard::Waits, false);
                }
                Err(_) => return (Heard::Closed, true),
            }
        }
    }

    /// All that comes until the server closes the connection.
    fn rest(mut self) -> String {
        let _ = self.stream.shutdown(Shutdown::Write);
        while fill(&mut self.stream, &mut self.buffer).is_ok_and(|read| read > 0) {}
        String::from_utf8_lossy(&self.buffer).into_owned()
    }
}

fn heard(answer: &[u8]) -> Heard {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    let seen = text.split("\r\n").find_map(|line| line.strip_prefix("seen: "));
    match seen {
        Some(seen) => Heard::Read(seen.into()),
        // Behind interim answers.
        None => Heard::Refused(text.rsplit("http/1.").next().unwrap()[2..5].into()),
    }
}

/// Sends a server every request that the framing accepts. Returns how many it reads as the framing
/// does, and how many it refuses.
///
/// # Panics
/// If it reads one in another way.
fn compare(address: SocketAddr) -> (usize, usize) {
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    let mut connection = None;
    for (bytes, request) in accepted() {
        let mut open = connection.take().unwrap_or_else(|| Connection::new(address));
        let Route::Server { expect, .. } = request.route else { continue };
        let (first, closes) = open.ask(&bytes, expect);
        let closes = closes || request.closes;
        let is_read = matches!(&first, Heard::Read(seen) if Some(seen) == reading(&bytes).as_ref());
        let is_refused = match &first {
            Heard::Refused(status) => {
                status.starts_with('4') || ["501", "505"].contains(&&status[..])
            }
            first => *first == Heard::Closed,
        };
        let next = if closes { Heard::Closed } else { open.ask(NEXT, Expect::ORDINARY).0 };
        let is_next = matches!(&next, Heard::Read(seen) if Some(seen) == reading(NEXT).as_ref());
        let is_over = next == Heard::Closed && (closes || is_refused);
        let rest = if is_next && (is_read || is_refused) {
            connection = Some(open);
            String::new()
        } else {
            open.rest()
        };
        if !(is_read || is_refused) || !(is_next || is_over) || !rest.is_empty() {
            let bytes = String::from_utf8_lossy(&bytes);
            wrong.push(format!("{bytes:?}: {first:?}, then {next:?}, then {rest:?}"));
            // Each may have taken seconds.
            if wrong.len() == 5 {
                break;
            }
        }
        read += usize::from(is_read);
        refused += usize::from(is_refused);
    }
    assert!(wrong.is_empty(), "read otherwise: {wrong:#?}");
    (read, refused)
}

fn nginx() -> Option<Server> {
    let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "nginx");
    let (shown, echo) = (folder.display(), echo());
    server("nginx", |port| {
        // One process, which ends with the test.
        let text = format!(
            "daemon off; master_process off; pid {shown}/pid; error_log {shown}/error.log crit;
            events {{}}
            http {{
                access_log off; keepalive_requests 1000000;
                client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;
                fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi;
                scgi_temp_path {shown}/scgi;
                upstream echo {{ server {echo}; keepalive 4; }}
                server {{
                    listen 127.0.0.1:{port};
                    location / {{
                        proxy_pass http://echo; proxy_http_version 1.1;
                        proxy_set_header Connection \"\";
                    }}
                }}
            }}"
        );
        ratewire_testing::write(&folder, "nginx.conf", &text);
        let conf = folder.join("nginx.conf").display().to_string();
        ["-p", &shown.to_string(), "-e", &format!("{shown}/error.log"), "-c", &conf]
            .map(str::to_string)
            .into()
    })
}

#[test]
fn nginx_reads_what_the_framing_accepts_in_the_same_way() {
    let Some(nginx) = nginx() else { return };
    let (read, refused) = compare(nginx.address);
    assert!(read > 2000 && refused < read, "{read} requests are read, {refused} are refused");
}

/// Node's own server, without a proxy.
#[test]
#[ignore = "needs node"]
fn node_reads_what_the_framing_accepts_in_the_same_way() {
    let script = "require('http').createServer((request, answer) => {
        const pieces = [Buffer.from(`${request.method} ${request.url} `)];
        request.on('data', piece => pieces.push(piece)).on('end', () => {
            const seen = Buffer.concat(pieces).toString('hex');
            answer.writeHead(200, { Seen: seen, 'Content-Length': 0 }).end();
        });
    }).listen(+process.argv[1], '127.0.0.1')";
    let start = |port: u16| ["-e", script, &port.to_string()].map(str::to_string).into();
    let Some(node) = server("node", start) else { return };
    let (read, refused) = compare(node.address);
    println!("{read} requests are read, {refused} are refused");
}

#[test]
#[ignore = "needs haproxy"]
fn haproxy_reads_what_the_framing_accepts_in_the_same_way() {
    let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "haproxy");
    let echo = echo();
    // Its own errors have a body even in answer to HEAD.
    let errors: String =
        [400, 413, 422, 501].map(|status| format!("errorfile {status} /dev/null\n")).concat();
    let start = |port| {
        let text = format!(
            "defaults
                mode http
                timeout client 10s
                timeout server 10s
                timeout connect 10s
                {errors}
            listen echo
                bind 127.0.0.1:{port}
                server echo {echo}\n"
        );
        ratewire_testing::write(&folder, "haproxy.cfg", &text);
        vec!["-db".into(), "-f".into(), folder.join("haproxy.cfg").display().to_string()]
    };
    let Some(haproxy) = server("haproxy", start) else { return };
    let (read, refused) = compare(haproxy.address);
    println!("{read} requests are read, {refused} are refused");
}
