//! A gateway, a switch and members in one process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use ratewire_testing::port;

use crate::common::{err, folder, out, program};
use crate::processes::{self, Process};
use crate::shards::Kind;

/// Starts a proxy, which serves clients at the address that is returned.
fn start(folder: &Path, args: &str) -> (Process, String) {
    let args = format!("proxy --listen 127.0.0.1:0 {args}");
    let mut proxy = Process::start(folder, &args.split(' ').collect::<Vec<_>>());
    let address = processes::address(&proxy.logged("clients served"));
    (proxy, address)
}

#[test]
fn keys_are_spread_over_servers_and_fail_with_their_own() {
    if !Kind::Redis.is_there() {
        return;
    }
    let folder = folder("switch-proxy");
    let ports = [(); 3].map(|()| port());
    let mut servers = ports.map(|port| Some(Kind::Redis.start(&folder, port)));
    let named = ports.map(|port| format!("127.0.0.1:{port}")).join(" ");
    let status = format!("127.0.0.1:{}", port());
    let (mut proxy, address) = start(&folder, &format!("--framing resp --status {status} {named}"));
    let at: u16 = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let set = || processes::redis(at, (0..100).map(|i| format!("set key{i} {i}")));
    assert_eq!(set(), vec!["OK"; 100]);
    let sizes = ports.map(|port| {
        let size = processes::redis(port, ["dbsize".to_string()]);
        size[0].parse::<usize>().expect("a number")
    });
    assert!(sizes.iter().sum::<usize>() == 100 && sizes.iter().all(|size| *size > 10), "{sizes:?}");
    let told = program(&folder, &["status", "--at", &status]);
    assert!(out(&told).contains(&format!("127.0.0.1:{}", ports[1])), "{}", out(&told));
    servers[1] = None;
    let answers = set();
    let done = answers.iter().filter(|answer| *answer == "OK").count();
    let gone = |answer: &&String| answer.starts_with("ERR the server is gone");
    let failed = answers.iter().filter(|answer| *answer != "OK");
    assert_eq!((done, failed.clone().count()), (100 - sizes[1], sizes[1]), "{answers:?}");
    assert!(failed.clone().filter(gone).count() + 1 >= sizes[1], "{answers:?}");
    assert_eq!(proxy.end(), Some(0));
}

/// The command in the README works as printed, in an empty folder, but for its ports.
#[test]
fn the_command_of_the_readme_spreads_requests_over_its_servers() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let commands: Vec<&str> = readme
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| code.strip_prefix("ratewire-switch "))
        .collect();
    assert!(commands.iter().all(|command| command.starts_with("proxy ")), "{commands:?}");
    let [command] = commands[..] else { panic!("one command: {commands:?}") };
    let servers = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let [one, two] = [0, 1].map(|at| servers[at].local_addr().expect("an address").to_string());
    let ports =
        [("127.0.0.1:8080", "127.0.0.1:0"), ("127.0.0.1:8001", &one), ("127.0.0.1:8002", &two)];
    let command = ports.iter().fold(command.to_string(), |command, (printed, own)| {
        assert!(command.contains(printed), "{command}");
        command.replace(printed, own)
    });
    let folder = folder("switch-proxy-readme");
    let mut proxy = Process::start(&folder, &command.split(' ').collect::<Vec<_>>());
    let address = processes::address(&proxy.logged("clients served"));
    let client = TcpStream::connect(&address).expect("a client");
    let asked = std::thread::scope(|scope| {
        let serve = |server: &TcpListener| {
            let (mut asked, _) = server.accept().expect("a member");
            let mut head = [0; 4096];
            let mut count = 0;
            while asked.read(&mut head).is_ok_and(|count| count > 0) {
                count += 1;
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                asked.write_all(answer).expect("room");
            }
            count
        };
        let serving = servers.each_ref().map(|server| scope.spawn(move || serve(server)));
        for _ in 0..4 {
            (&client).write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("room");
            let mut answer = String::new();
            while !answer.ends_with("\r\n\r\nok") {
                let mut byte = [0];
                (&client).read_exact(&mut byte).expect("an answer");
                answer.push(char::from(byte[0]));
            }
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        }
        assert_eq!(proxy.end(), Some(0));
        // A server that nobody asked waits no longer.
        for server in [one, two] {
            drop(TcpStream::connect(server));
        }
        serving.map(|server| server.join().expect("a server"))
    });
    assert!(asked.iter().sum::<i32>() == 4 && asked.iter().all(|count| *count > 0), "{asked:?}");
}

/// A server that answers when the test says so.
#[test]
fn who_has_asked_gets_an_answer_though_the_proxy_is_told_to_end() {
    let folder = folder("switch-proxy-end");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("an address");
    let (mut proxy, address) = start(&folder, &format!("--framing lines {server}"));
    let mut client = TcpStream::connect(&address).expect("a client");
    let mut idle = TcpStream::connect(&address).expect("a client");
    client.write_all(b"question\n").expect("room");
    let (mut asked, _) = listener.accept().expect("a member");
    let mut question = String::new();
    BufReader::new(asked.try_clone().expect("a socket")).read_line(&mut question).expect("a line");
    assert_eq!(question, "question\n");
    proxy.signal("TERM");
    // The end of the other client shows that the proxy ends.
    assert_eq!(idle.read(&mut [0]).expect("an end"), 0);
    assert!(TcpStream::connect(&address).is_err() && proxy.runs());
    asked.write_all(b"answer\n").expect("room");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer and an end");
    assert_eq!(answer, "answer\n");
    assert_eq!(proxy.end(), Some(0));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = folder("switch-proxy-options");
    let refused = |args: &str, why: &str| {
        let args = format!("proxy --listen 127.0.0.1:1 {args}");
        let refused = program(&folder, &args.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status.code(), Some(2), "{args}");
        assert!(err(&refused).contains(why), "{why:?} is not in {}", err(&refused));
    };
    refused("--framing resp 127.0.0.1:5 127.0.0.1:5", "127.0.0.1:5 is named twice");
    refused("--framing resp 127.0.0.1:1", "its own server, at 127.0.0.1:1");
    refused("--framing http1 --when-down fail 127.0.0.1:5", "add --routing hash");
    refused("--framing resp --listen-mode 660 127.0.0.1:5", "take `--listen-mode` away");
    refused("--framing resp", "<SERVER>");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listener.local_addr().expect("an address").to_string();
    let args = ["proxy", "--framing", "resp", "--listen", &taken, "127.0.0.1:5"];
    let taken = program(&folder, &args);
    assert_eq!(taken.status.code(), Some(5));
    assert!(err(&taken).contains("name another with --listen"), "{}", err(&taken));
}
