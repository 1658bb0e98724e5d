//! `ratewire-switch`: unmodified Redis and memcached behind a gateway, a switch and members, as
//! processes.
//!
//! The tests that need Debian's redis-server or memcached skip without it; with
//! `RATEWIRE_REQUIRE_TOOLS=1` they fail instead.

mod commands;
mod common;
mod deaths;
mod ends;
mod faults;
mod files;
mod hosts;
mod log;
mod processes;
mod proxy;
mod shards;
mod status;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use ratewire_testing::port;

use common::{PROGRAM, err, folder, out, program, write};
use processes::Process;
use shards::{Kind, Shards};

/// A routing module.
const LAST: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../wasm/examples/last.wat"));

#[test]
fn a_file_is_checked() {
    let folder = folder("switch-check");
    let missing = program(&folder, &["check"]);
    assert_eq!(missing.status.code(), Some(3), "{}", err(&missing));
    write(&folder, "switch.toml", "key = \"k\"\n[[member]]\nname = \"a\"\n");
    let wrong = program(&folder, &["check"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        err(&wrong).contains("switch.toml:2:1: [[member]] needs the key `address`"),
        "{wrong:?}"
    );
    let member = "key = \"k\"\n[[member]]\nname = \"a\"\naddress = \"127.0.0.1:5001\"\n";
    write(&folder, "switch.toml", member);
    let no_key = program(&folder, &["check"]);
    assert_eq!(no_key.status.code(), Some(2));
    assert!(err(&no_key).contains("ratewire-switch key FILE"), "{}", err(&no_key));
    assert!(program(&folder, &["key", "k"]).status.success());
    let good = program(&folder, &["check"]);
    assert!(good.status.success(), "{}", err(&good));
    assert!(out(&good).contains("a: 127.0.0.1:5001"));
    // A key is not overwritten.
    assert_eq!(program(&folder, &["key", "k"]).status.code(), Some(3));
}

#[test]
fn files_that_are_no_regular_ones_are_refused() {
    let folder = folder("switch-irregular");
    let module = "routing = \"wasm\"\n[wasm]\nmodule = \"m\"\n";
    let register = "[register]\ntoken = \"t\"\n";
    let text = format!("key = \"k\"\n{module}{register}");
    let refused = |named: &str| {
        // A pipe would never be read to its end.
        let done = ratewire_testing::run("timeout", &folder, &["60", PROGRAM, "check"]);
        let said = err(&done);
        assert!([2, 3].map(Some).contains(&done.status.code()), "{named}: {said}");
        assert_eq!(said.matches("help: ").count(), 1, "{named}: {said}");
        said
    };
    for (named, limit) in [
        ("k", "longer than 4 KiB"),
        ("t", "longer than 4 KiB"),
        ("m", "longer than 256 KiB"),
        ("switch.toml", "longer than 16 MiB"),
    ] {
        write(&folder, "switch.toml", &text);
        std::fs::write(folder.join("m"), LAST).expect("a module");
        for secret in ["k", "t"] {
            std::fs::remove_file(folder.join(secret)).ok();
            assert!(program(&folder, &["key", secret]).status.success());
        }
        let file = folder.join(named);
        std::fs::remove_file(&file).expect("the file");
        std::fs::File::create(&file).and_then(|file| file.set_len((16 << 20) + 1)).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        assert!(refused(named).contains(limit), "{named}: {}", refused(named));
        std::fs::remove_file(&file).expect("the file");
        let made = Command::new("mkfifo").args(["-m", "600"]).arg(&file).status();
        assert!(made.expect("mkfifo starts").success());
        let said = refused(named);
        assert!(said.contains("not a regular file, but a pipe"), "{named}: {said}");
        assert!(said.contains("copy its content into a regular file"), "{named}: {said}");
        std::fs::remove_file(&file).expect("the pipe");
        std::fs::write(&file, "").expect("a file");
    }
}

#[test]
fn a_switch_tells_its_status_and_ends_when_told() {
    let folder = folder("switch-status");
    assert!(program(&folder, &["key", "k"]).status.success());
    let text = "key = \"k\"\nlisten = \"127.0.0.1:0\"\nstatus = \"127.0.0.1:0\"\n\
                [[member]]\nname = \"a\"\naddress = \"127.0.0.1:9\"\n";
    write(&folder, "switch.toml", text);
    let mut switch = Process::start(&folder, &["run"]);
    let served = switch.logged("status served");
    let address = processes::address(&served);
    let status = program(&folder, &["status", "--at", &address]);
    assert!(out(&status).contains("a       127.0.0.1:9  unknown"), "{}", out(&status));
    let json = program(&folder, &["status", "--json", "--at", &address]);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).expect("JSON");
    assert_eq!((&json["peers"], &json["members"][0]["health"]), (&0.into(), &"unknown".into()));
    assert_eq!(switch.end(), Some(0));
    let gone = program(&folder, &["status", "--at", &address]);
    assert_eq!(gone.status.code(), Some(5));
}

/// Sets keys through the gateway, and returns the answers.
fn set(port: u16, keys: std::ops::Range<u32>) -> Vec<String> {
    processes::redis(port, keys.map(|i| format!("set key{i} {i}")))
}

#[test]
fn keys_are_spread_over_servers_and_come_back() {
    if !Kind::Redis.is_there() {
        return;
    }
    let folder = folder("switch-redis");
    let shards = Shards::start(Kind::Redis, &folder, 3);
    let answers = set(shards.gateway, 0..300);
    assert_eq!(answers, vec!["OK"; 300]);
    let got = processes::redis(shards.gateway, (0..300).map(|i| format!("get key{i}")));
    assert_eq!(got, (0..300).map(|i| i.to_string()).collect::<Vec<_>>());
    let sizes: Vec<u32> = shards.servers.iter().map(|port| size(*port)).collect();
    assert_eq!(sizes.iter().sum::<u32>(), 300);
    assert!(sizes.iter().all(|size| (50..150).contains(size)), "{sizes:?}");
    let both = ["mget key1 key2 key3", "msetnx key1 1 key2 2 key3 3"].map(str::to_string);
    let both = processes::redis(shards.gateway, both);
    assert_eq!(both[..3], ["1", "2", "3"]);
    assert!(both[3].starts_with("CROSSSLOT"), "{both:?}");
    let port = shards.gateway.to_string();
    let load = ["-p", &port, "-t", "set,get", "-n", "2000", "-P", "16", "-q"];
    let load = Command::new("redis-benchmark").args(load).output().expect("redis-benchmark runs");
    assert!(load.status.success() && out(&load).contains("GET: "), "{load:?}");
}

fn size(port: u16) -> u32 {
    processes::redis(port, ["dbsize".to_string()])[0].parse().expect("a number")
}

#[test]
fn keys_of_a_member_that_is_dead_fail_until_it_is_back() {
    if !Kind::Redis.is_there() {
        return;
    }
    let folder = folder("switch-redis-death");
    let mut shards = Shards::start(Kind::Redis, &folder, 3);
    assert_eq!(set(shards.gateway, 0..100), vec!["OK"; 100]);
    shards.kill_member(1);
    // The first request that goes to the dead member waits until it counts as silent.
    let answers = set(shards.gateway, 0..100);
    let (done, failed): (Vec<&String>, Vec<&String>) =
        answers.iter().partition(|answer| *answer == "OK");
    assert!(done.len() > 30 && failed.len() > 10, "{answers:?}");
    let is_down = |why: &&&String| why.starts_with("ERR member m1 is down: it has left packets");
    assert_eq!(failed.iter().filter(is_down).count(), failed.len() - 1, "{failed:?}");
    assert!(failed[0].starts_with("ERR the connection with the server is lost"), "{failed:?}");
    assert_eq!(size(shards.servers[0]) + size(shards.servers[2]), done.len() as u32);
    let member = shards.member(1);
    assert_eq!(member["health"], "down");
    assert!(member["reason"].as_str().is_some_and(|why| why.contains("unanswered")), "{member}");
    shards.start_member(1);
    while shards.member(1)["health"] != "up" {
        std::thread::yield_now();
    }
    assert_eq!(set(shards.gateway, 0..100), vec!["OK"; 100]);
    assert!(size(shards.servers[1]) > 0, "its keys have come back");
}

#[test]
fn a_gateway_without_a_switch_says_so_to_its_clients() {
    if !Kind::Redis.is_there() {
        return;
    }
    let folder = folder("switch-none");
    assert!(program(&folder, &["key", "switch.key"]).status.success());
    let (listen, switch) = (port(), port());
    let args = format!(
        "gateway --framing resp --listen 127.0.0.1:{listen} --switch 127.0.0.1:{switch} \
         --timeout 100ms"
    );
    let mut gateway = Process::start(&folder, &args.split(' ').collect::<Vec<_>>());
    gateway.logged("clients served");
    let answers = processes::redis(listen, ["get a".to_string(), "ping".to_string()]);
    assert!(answers[0].starts_with("ERR the switch takes no requests"), "{answers:?}");
    assert_eq!(answers[1], "PONG");
    assert_eq!(gateway.end(), Some(0));
}
