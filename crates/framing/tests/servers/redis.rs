//! `redis-cli` and `redis-benchmark` before two Redis servers.

use std::io::Write;
use std::process::{Command, Stdio};

use ratewire_framing::Framing;

use super::between::gateway;
use super::{Server, server};

fn redis() -> Option<Server> {
    server("redis-server", |port| {
        let port = port.to_string();
        let options = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
        options.map(str::to_string).into()
    })
}

/// What `redis-cli` prints for these commands.
fn printed(port: u16, commands: &str) -> String {
    let mut client = Command::new("redis-cli")
        .args(["-p", &port.to_string()])
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
        HGETALL h\nEVAL 'return {KEYS[1],{1,{2}}}' 1 k\nGET\nINCR list\nDEL key1\nEXISTS key1\n";
    let direct = redis().unwrap();
    assert_eq!(printed(gateway, &commands), printed(direct.address.port(), &commands));

    let sizes = [&one, &other].map(|server| printed(server.address.port(), "DBSIZE\n"));
    let sizes = sizes.map(|size| size.trim().parse::<u32>().unwrap());
    assert!(sizes.iter().all(|size| *size > 10), "keys are not spread: {sizes:?}");

    let refused = printed(gateway, "MGET key1 key2\nSELECT 3\nMULTI\nSELECT 0\n");
    let lines: Vec<&str> = refused.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("CROSSSLOT"), "{refused}");
    assert!(lines[1].starts_with("ERR only database 0"), "{refused}");
    assert!(lines[2].starts_with("ERR MULTI"), "{refused}");
    assert_eq!(lines[3..], ["OK"]);
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
