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
        MULTI\nINCR x\nDISCARD\nGET x\nMULTI\nGET\nINCR x\nEXEC\nGET x\nEXEC\nDISCARD\n\
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
