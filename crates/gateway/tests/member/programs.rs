//! Real servers.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ratewire_gateway::{CREDIT, Reply};

use super::peer::{Peer, get};
use super::{in_time, member};

/// A program that ends with the test.
struct Program {
    process: Child,
    address: SocketAddr,
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Starts a server with arguments that have its port; `None` if it is not installed.
fn program(name: &str, arguments: impl Fn(u16) -> Vec<String>) -> Option<Program> {
    let address = ratewire_testing::free_address();
    let mut command = Command::new(name);
    command.args(arguments(address.port())).stdout(Stdio::null()).stderr(Stdio::null());
    let process = match command.spawn() {
        Ok(process) => process,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but {name} is not installed");
            eprintln!("skipped: {name} is not installed");
            return None;
        }
        Err(error) => panic!("{name} does not start: {error}"),
    };
    let program = Program { process, address };
    for _ in 0..200 {
        if TcpStream::connect(address).is_ok() {
            return Some(program);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{name} does not listen at {address}");
}

fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

fn redis() -> Option<Program> {
    program("redis-server", |port| {
        let port = port.to_string();
        let options = ["--port", &port, "--bind", "127.0.0.1", "--save", ""];
        options.iter().chain(&["--proto-max-bulk-len", "1mb"]).map(|o| o.to_string()).collect()
    })
}

/// Redis closes the connection that it gets a longer value from than it takes.
#[tokio::test(flavor = "current_thread")]
async fn a_value_that_redis_does_not_take_fails_its_own_request_only() {
    let Some(redis) = redis() else { return };
    in_time(async {
        let peer = Peer::new(member("resp", redis.address)).await;
        let long = vec![b'x'; 2 << 20];
        let (mut counted, mut refused) = (Vec::new(), Vec::new());
        for round in 0..20 {
            counted.push(peer.ask(command(&[b"INCR", b"n"])).await);
            if round % 4 == 0 {
                refused.push(peer.ask(command(&[b"SET", b"a", &long])).await);
            }
            counted.push(peer.ask(command(&[b"INCR", b"n"])).await);
        }
        for (number, exchange) in (1..).zip(counted) {
            assert_eq!(peer.text(exchange).await, format!(":{number}\r\n"));
        }
        for exchange in refused {
            let (text, closes) = peer.answer(exchange).await.expect("an answer");
            let text = String::from_utf8(text).expect("text");
            assert_eq!((&text[..], closes), ("-ERR Protocol error: invalid bulk length\r\n", true));
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_long_answer_of_redis_is_passed_in_pieces() {
    let Some(redis) = redis() else { return };
    in_time(async {
        let peer = Peer::new(member("resp", redis.address)).await;
        let value = vec![b'v'; 1 << 20];
        for _ in 0..50 {
            let pushed = peer.ask(command(&[b"RPUSH", b"list", &value])).await;
            peer.text(pushed).await;
        }
        let range = peer.ask(command(&[b"LRANGE", b"list", b"0", b"-1"])).await;
        let echo = peer.ask(command(&[b"ECHO", b"behind"])).await;
        let (all, _) = peer.answer(range).await.expect("an answer");
        assert_eq!(all.iter().filter(|byte| **byte == b'v').count(), 50 << 20);
        assert!(peer.longest.get() < 200_000, "{}", peer.longest.get());
        assert_eq!(peer.text(echo).await, "$6\r\nbehind\r\n");
    })
    .await;
}

fn nginx(folder: &std::path::Path) -> Option<Program> {
    let shown = folder.display();
    program("nginx", |port| {
        let text = format!(
            "daemon off; master_process off; pid {shown}/pid; error_log {shown}/error.log crit;
            events {{}}
            http {{
                access_log off; client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;
                fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi;
                scgi_temp_path {shown}/scgi; client_max_body_size 0; keepalive_requests 7;
                server {{
                    listen 127.0.0.1:{port}; root {shown};
                    location /upload {{ dav_methods PUT; create_full_put_path on; }}
                }}
            }}"
        );
        ratewire_testing::write(folder, "nginx.conf", &text);
        let conf = folder.join("nginx.conf").display().to_string();
        ["-p", &shown.to_string(), "-e", &format!("{shown}/error.log"), "-c", &conf]
            .map(str::to_string)
            .into()
    })
}

/// nginx closes each connection after seven requests, with an answer that says so.
#[tokio::test(flavor = "current_thread")]
async fn nginx_sends_a_large_file_beside_small_ones() {
    let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "member-nginx");
    std::fs::write(folder.join("large"), vec![b'x'; 100 << 20]).expect("a file");
    std::fs::write(folder.join("small"), "small").expect("a file");
    let Some(nginx) = nginx(&folder) else { return };
    in_time(async {
        let peer = Peer::new(member("http1", nginx.address)).await;
        let large = peer.ask(get("/large")).await;
        for _ in 0..100 {
            let small = peer.ask(get("/small")).await;
            assert_eq!(peer.body(small).await, "small");
        }
        let (all, _) = peer.answer(large).await.expect("an answer");
        assert!(all.len() > 100 << 20 && all.ends_with(b"xxx"), "{}", all.len());
    })
    .await;
}

/// Node answers uploads with their lengths, `/events` with three events of which the second waits
/// for nobody, and changes the protocol to one that gives bytes back.
const NODE: &str = "const http = require('http');
    const server = http.createServer((request, answer) => {
        if (request.url === '/events') {
            answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
            answer.write('data: 1\\n\\n');
            return;
        }
        let length = 0;
        request.on('data', piece => length += piece.length);
        request.on('end', () => answer.end(`${request.url} ${length}`));
    });
    server.on('upgrade', (request, socket, head) => {
        socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: upgrade\\r\\n' +
            'Upgrade: echo\\r\\n\\r\\n');
        socket.write(head);
        socket.pipe(socket);
    });
    server.listen(+process.argv[1], '127.0.0.1')";

#[tokio::test(flavor = "current_thread")]
async fn node_takes_uploads_and_sends_events_and_changes_the_protocol() {
    let start = |port: u16| ["-e", NODE, &port.to_string()].map(str::to_string).into();
    let Some(node) = program("node", start) else { return };
    in_time(async {
        let peer = Peer::new(member("http1", node.address)).await;
        let events = peer.ask(get("/events")).await;
        let mut first = String::new();
        while !first.contains("data: 1\n\n") {
            let Reply::More(bytes) = peer.reply(events).await else { panic!("{first}") };
            first.push_str(std::str::from_utf8(&bytes).expect("text"));
        }

        let head = "POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let upload = peer.begin(head, 0).await;
        let chunk = format!("{:x}\r\n{}\r\n", 50_000, "x".repeat(50_000));
        let mut credit = CREDIT;
        for _ in 0..400 {
            while credit < chunk.len() as u64 {
                let Reply::Credit(more) = peer.reply(upload).await else { panic!("no credit") };
                credit += more;
            }
            credit -= chunk.len() as u64;
            peer.more(upload, chunk.clone(), false).await;
        }
        peer.more(upload, "0\r\n\r\n", true).await;
        let told = peer.body(upload).await;
        assert!(told.contains("/up 20000000"), "{told}");

        let asked = "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
        let chat = peer.begin(asked, 2).await;
        assert_eq!(peer.reply(chat).await, Reply::Switched);
        let Reply::More(_) = peer.reply(chat).await else { panic!("no head") };
        peer.more(chat, "hello", false).await;
        assert_eq!(peer.reply(chat).await, Reply::More("hello".into()));
        peer.more(chat, "", true).await;
        assert_eq!(peer.answer(chat).await, Ok((Vec::new(), true)));
    })
    .await;
}

/// Python's server answers by HTTP/1.0 and closes each connection.
#[tokio::test(flavor = "current_thread")]
async fn pythons_server_closes_behind_each_answer() {
    let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "member-python");
    std::fs::write(folder.join("small"), "small").expect("a file");
    let shown = folder.display().to_string();
    let start = |port: u16| {
        let port = port.to_string();
        ["-m", "http.server", &port, "--bind", "127.0.0.1", "--directory", &shown]
            .map(str::to_string)
            .into()
    };
    let Some(python) = program("python3", start) else { return };
    in_time(async {
        let peer = Peer::new(member("http1", python.address)).await;
        // It has a queue of five connections, and the kernel drops others for a second.
        for _ in 0..20 {
            let asked = [peer.ask(get("/small")).await, peer.ask(get("/small")).await];
            for exchange in asked {
                let (answer, closes) = peer.answer(exchange).await.expect("an answer");
                assert!(answer.ends_with(b"small") && closes, "{answer:?}");
            }
        }
    })
    .await;
}
