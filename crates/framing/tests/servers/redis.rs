//! `redis-cli` and `redis-benchmark` before two Redis servers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use bytes::BytesMut;
use ratewire_framing::{Answer, Answers, Expect, Framing};

use super::between::gateway;
use super::{Server, server};

fn redis() -> Option<Server> {
    redis_with(&[])
}

fn redis_with(more: &[&str]) -> Option<Server> {
    server("redis-server", |port| {
        let port = port.to_string();
        let options = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
        options.iter().chain(more).map(|option| option.to_string()).collect()
    })
}

/// What `redis-cli` prints for these commands.
fn printed(port: u16, commands: &str) -> String {
    printed_with(&[], port, commands)
}

/// What it prints with these options.
fn printed_with(options: &[&str], port: u16, commands: &str) -> String {
    let mut client = Command::new("redis-cli")
        .args(["-p", &port.to_string()])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("redis-cli");
    client.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn redis_cli_talks_to_two_servers_as_to_one() {
    let (Some(one), Some(other)) = (redis(), redis()) else { return };
    let framing = Framing::named("resp").unwrap();
    let gateway = gateway(framing, vec![one.address, other.address]).port();
    let commands: String = (0..40).map(|i| format!("SET key{i} {i}\n")).collect::<String>()
        + "PING\nGET key7\nGET key8\nGET none\nINCR n\nSET 'a b' \"x\\ny\"\nGET 'a b'\n\
        MSET {u}a 1 {u}b 2\nMGET {u}a {u}b {u}c\nRPUSH list a b c\nLRANGE list 0 -1\nHSET h f v\n\
        HGETALL h\nEVAL 'return {KEYS[1],{1,{2}}}' 1 k\nGET\nINCR list\nDEL key1\nEXISTS key1\n\
        MSET m1 1 m2 2 m3 3 m1 4\nMGET m3 none m1 list m2 m1\nEXISTS m1 m2 m3 m1 none\n\
        TOUCH m1 m2 none\nDEL m1 m2 none\nUNLINK m3 m3\nMGET m1 m3\nMSET a 1 b\nDBSIZE\n\
        SCRIPT LOAD 'return 7'\nSCRIPT EXISTS 57ade87c8731f041ecac85aba56623f8af391fab 0\n\
        EVALSHA 57ade87c8731f041ecac85aba56623f8af391fab 1 k\nSCRIPT FLUSH\n\
        SCRIPT EXISTS 57ade87c8731f041ecac85aba56623f8af391fab\nFLUSHALL NOW\n\
        MULTI\nINCR {t}n\nPING x\nLPUSH {t}n 1\nMGET {t}n t\nEXEC\nGET {t}n\nMULTI\nEXEC\n\
        MULTI\nINCR x\nDISCARD\nGET x\nEXEC\nDISCARD\n\
        MULTI\nMULTI\nWATCH a\nUNWATCH\nSELECT 0\nEXEC\nUNWATCH\n";
    let direct = redis().unwrap();
    let direct = direct.address.port();
    assert_eq!(printed(gateway, &commands), printed(direct, &commands));
    let commands = "MGET key2 none key4\nHGETALL h\nHSET h x y\nCLIENT GETNAME\nGET none\n\
        MULTI\nHGETALL h\nGET h\nEXEC\nDEL key2 key4 none\nZADD z 1.5 a\nZSCORE z a\n\
        CLIENT SETNAME me\nCLIENT GETNAME\nHELLO 4\nHELLO x\nRESET\nHGETALL h\n\
        CLIENT GETNAME\n";
    let of_three = |port| printed_with(&["-3"], port, commands);
    assert_eq!(of_three(gateway), of_three(direct));
    let sizes = [&one, &other].map(|server| printed(server.address.port(), "DBSIZE\n"));
    let sizes = sizes.map(|size| size.trim().parse::<u32>().unwrap());
    assert!(sizes.iter().all(|size| *size > 10), "keys are not spread: {sizes:?}");

    let refused = printed(gateway, "SUNION key1 key2\nSELECT 3\nWATCH a\nSELECT 0\n");
    let lines: Vec<&str> = refused.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("CROSSSLOT"), "{refused}");
    assert!(lines[1].starts_with("ERR only database 0"), "{refused}");
    assert!(lines[2].starts_with("ERR WATCH"), "{refused}");
    assert_eq!(lines[3..], ["OK"]);
    let aborted = printed(gateway, "MULTI\nGET\nINCR x\nEXEC\nGET x\n");
    let why = "ERR wrong number of arguments for 'get' command";
    let expected =
        format!("OK\n{why}\n\nQUEUED\nEXECABORT Transaction discarded because of: {why}\n\n\n");
    assert_eq!(aborted, expected);
    assert_eq!(printed(gateway, "FLUSHALL\nDBSIZE\n"), "OK\n0\n");
}

#[test]
fn redis_benchmark_pipelines_through_the_gateway() {
    let (Some(one), Some(other)) = (redis(), redis()) else { return };
    let framing = Framing::named("resp").unwrap();
    let gateway = gateway(framing, vec![one.address, other.address]).port().to_string();
    let output = Command::new("redis-benchmark")
        .args(["-p", &gateway, "-P", "100", "-c", "3", "-n", "3000", "-r", "100", "-d", "500"])
        .args(["-t", "set,get,incr,lpush,spop", "--csv"])
        .output()
        .expect("redis-benchmark");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text.lines().filter(|line| line.starts_with('"')).count(), 6, "{text}");
}

/// What a connection with these requests gives until it ends, and how many are not answered.
fn until_the_end(server: SocketAddr, requests: &[Vec<u8>]) -> (Vec<Answer>, usize) {
    let mut stream = TcpStream::connect(server).unwrap();
    let mut answers = Answers::new(Framing::named("resp").unwrap(), 1 << 16, 10);
    let mut write = stream.try_clone().unwrap();
    let (all, count) = (requests.concat(), requests.len());
    // Redis closes before it has read all.
    let writing = std::thread::spawn(move || drop(write.write_all(&all)));
    (0..count).for_each(|_| assert!(answers.expect(Expect::ORDINARY).is_some()));
    let (mut buffer, mut found, mut piece) = (BytesMut::new(), Vec::new(), vec![0; 1 << 16]);
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        buffer.extend_from_slice(&piece[..read]);
        while let Some(answer) = answers.next(&mut buffer).unwrap() {
            found.push(answer);
        }
    }
    found.extend(answers.end(&mut buffer).unwrap());
    writing.join().unwrap();
    (found, answers.unanswered())
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

/// The request that passes the server's limit is answered, and the server has not looked at the one
/// behind it.
#[test]
fn redis_closes_behind_the_request_that_it_cannot_read() {
    let Some(redis) = redis_with(&["--proto-max-bulk-len", "1mb"]) else { return };
    let long = vec![b'x'; 2 << 20];
    let requests = [
        command(&[b"SET", b"a", b"1"]),
        command(&[b"SET", b"b", &long]),
        command(&[b"INCR", b"a"]),
    ];
    let (found, unanswered) = until_the_end(redis.address, &requests);
    let last = "-ERR Protocol error: invalid bulk length\r\n";
    let last = Answer { closes: true, ..Answer::whole(last) };
    assert_eq!((&found[..], unanswered), (&[Answer::whole("+OK\r\n"), last][..], 1));
    assert_eq!(printed(redis.address.port(), "GET a\n"), "1\n");
}

/// A script can say the same; the connection goes on.
#[test]
fn the_same_words_of_a_script_end_nothing() {
    let Some(redis) = redis() else { return };
    let script = b"return redis.error_reply('ERR Protocol error: x')";
    let eval = command(&[b"EVAL", script, b"0"]);
    let quit = command(&[b"QUIT"]);
    let (found, unanswered) = until_the_end(redis.address, &[eval, quit]);
    let expected = ["-ERR Protocol error: x\r\n", "+OK\r\n"].map(Answer::whole);
    assert_eq!((&found[..], unanswered), (&expected[..], 0));
}

#[test]
fn a_long_answer_comes_in_pieces() {
    let Some(redis) = redis() else { return };
    let length = 30 << 20;
    let requests = [
        command(&[b"SETRANGE", b"a", (length - 1).to_string().as_bytes(), b"x"]),
        command(&[b"GET", b"a"]),
        command(&[b"QUIT"]),
    ];
    let (found, unanswered) = until_the_end(redis.address, &requests);
    let [_, pieces @ .., quit] = &found[..] else { panic!("{} answers", found.len()) };
    assert!(pieces.len() > 100 && pieces.iter().all(|piece| piece.bytes.len() < 200_000));
    let total: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
    assert_eq!((total, unanswered), (length + "$31457280\r\n\r\n".len(), 0));
    assert_eq!(quit, &Answer::whole("+OK\r\n"));
}
