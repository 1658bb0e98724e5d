//! The status of gateways and members, and wrong keys.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use ratewire_testing::port;
use serde_json::Value;

use super::common::{err, folder, one_member, out, program};
use super::processes::{Process, address};

/// What a page of a status address has, with its head.
fn page(at: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("a status");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("room");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

fn status(folder: &Path, at: &str) -> Value {
    let status = program(folder, &["status", "--json", "--at", at]);
    serde_json::from_str(&out(&status)).unwrap_or_else(|_| panic!("{}", err(&status)))
}

/// Reads a status until it is as it should be.
fn until(folder: &Path, at: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    loop {
        let status = status(folder, at);
        if is_right(&status) {
            return status;
        }
        std::thread::yield_now();
    }
}

/// Keys of a state, with those of the tables in it.
fn keys<'v>(state: &'v Value, into: &mut Vec<&'v str>) {
    match state {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            into.push(key);
            keys(value, into);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn gateways_and_members_tell_their_state_while_requests_run() {
    let folder = folder("switch-parts-status");
    assert!(program(&folder, &["key", "other.key"]).status.success());
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server_address = server.local_addr().expect("an address");
    let [switch, member, gateway] = [(); 3].map(|()| format!("127.0.0.1:{}", port()));
    one_member(&folder, [&switch, "127.0.0.1:0", &member]);
    let start = |args: &str| Process::start(&folder, &args.split(' ').collect::<Vec<_>>());
    let mut switch_runs = start("run");
    let at_switch = address(&switch_runs.logged("status served"));
    let mut member_runs = start(&format!(
        "member --framing lines --listen {member} --server {server_address} --status 127.0.0.1:0"
    ));
    let at_member = address(&member_runs.logged("status served"));
    let mut gateway_runs = start(&format!(
        "gateway --framing lines --listen {gateway} --switch {switch} --status 127.0.0.1:0"
    ));
    let at_gateway = address(&gateway_runs.logged("status served"));
    gateway_runs.logged("connected");

    let client = TcpStream::connect(&gateway).expect("a gateway");
    (&client).write_all(b"question\n").expect("room");
    let (mut connection, _) = server.accept().expect("a member");
    let mut line = String::new();
    BufReader::new(&connection).read_line(&mut line).expect("a request");
    assert_eq!(line, "question\n");
    let asked = status(&folder, &at_gateway);
    assert!(asked["program"] == "gateway" && asked["clients"]["now"] == 1, "{asked}");
    let of = &asked["members"][0];
    assert!(of["name"] == "one" && of["state"] == "up" && of["is_connected"] == true, "{of}");
    assert!(of["under_way"] == 1 && of["answered"] == 0, "{of}");
    let served = status(&folder, &at_member);
    assert!(served["program"] == "member" && served["gateways"] == 1, "{served}");
    assert!(served["requests"]["under_way"] == 1 && served["server_in_use"] == 1, "{served}");
    let metrics = page(&at_gateway, "/metrics");
    assert!(
        metrics.contains("\nratewire_gateway_member_under_way{member=\"one\"} 1\n"),
        "{metrics}"
    );
    let metrics = page(&at_member, "/metrics");
    assert!(metrics.contains("\nratewire_member_requests_under_way 1\n"), "{metrics}");

    connection.write_all(b"answer\n").expect("room");
    line.clear();
    BufReader::new(&client).read_line(&mut line).expect("an answer");
    assert_eq!(line, "answer\n");
    let asked = status(&folder, &at_gateway);
    let requests = &asked["requests"];
    assert!(requests["asked"] == 1 && requests["answered"] == 1, "{asked}");
    assert!(asked["members"][0]["latency_s"].as_f64().is_some_and(|latency| latency > 0.0));
    let served = until(&folder, &at_member, |served| served["requests"]["answered"] == 1);
    let metrics = page(&at_gateway, "/metrics");
    assert!(metrics.contains("\nratewire_gateway_requests_answered_total 1\n"), "{metrics}");
    assert!(
        metrics.contains("# HELP ratewire_gateway_member_latency_seconds Smoothed"),
        "{metrics}"
    );
    // The answer is in one of the buckets, and in those with higher bounds.
    for (at, name, label) in [
        (&at_gateway, "gateway_member_answer_time", "member=\"one\","),
        (&at_member, "member_answer_time", ""),
    ] {
        let metrics = page(at, "/metrics");
        let name = format!("ratewire_{name}_seconds");
        let all = format!("\n{name}_bucket{{{label}le=\"+Inf\"}} 1\n");
        assert!(metrics.contains(&all), "{all} is not in {metrics}");
        assert!(metrics.contains(&format!("\n# TYPE {name} histogram\n")), "{metrics}");
        let buckets = metrics.lines().filter(|line| line.starts_with(&format!("{name}_bucket")));
        let counts: Vec<&str> = buckets.filter_map(|line| line.rsplit(' ').next()).collect();
        assert!(counts.len() == 18 && counts.is_sorted(), "{counts:?}");
    }
    let bound = asked["members"][0]["latency_p99_at_most_s"].as_f64();
    let time = asked["members"][0]["latency_sum_s"].as_f64();
    assert!(bound.is_none() || bound >= time, "{asked}");
    let table = out(&program(&folder, &["status", "--at", &at_gateway]));
    assert!(table.contains("\none     up     yes "), "{table}");
    let table = out(&program(&folder, &["status", "--at", &at_member]));
    assert!(table.contains("\nrequests      1 so far, 0 under way, 1 answered"), "{table}");

    // A server that ends the connection.
    (&client).write_all(b"question\n").expect("room");
    line.clear();
    BufReader::new(&connection).read_line(&mut line).expect("a request");
    drop(connection);
    let failed = until(&folder, &at_gateway, |asked| asked["requests"]["failed"]["server"] == 1);
    until(&folder, &at_member, |served| served["requests"]["failed"]["broken"] == 1);

    // Every key is in the documentation.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/gateway-status.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut all = Vec::new();
    keys(&failed, &mut all);
    keys(&served, &mut all);
    let missing: Vec<&&str> =
        all.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");

    // Who has another key gets no answer, and is logged and counted.
    let stranger = |to: &str| {
        let listen = format!("127.0.0.1:{}", port());
        start(&format!("gateway --framing lines --listen {listen} --switch {to} --key other.key"))
    };
    let _strangers = [stranger(&switch), stranger(&member)];
    let told = switch_runs.logged("a peer has another key");
    assert!(told.contains("peer=\"127.0.0.1:"), "{told}");
    let told = member_runs.logged("a switch has another key");
    assert!(told.contains("switch=\"127.0.0.1:"), "{told}");
    for at in [&at_switch, &at_member] {
        assert!(status(&folder, at)["wrong_keys"].as_u64().is_some_and(|count| count > 0));
    }
    let ends = [gateway_runs, member_runs, switch_runs].map(|mut process| process.end());
    assert_eq!(ends, [Some(0); 3]);
}
