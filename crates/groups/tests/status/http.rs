//! The HTTP server: what it answers, and to whom.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use ratewire_groups::daemon::{StatusError, fetch_status};

use crate::running::paris;

/// Names of the metrics, each with its kind. Panics if the text is not of Prometheus's format.
fn families(text: &str) -> Vec<(String, String)> {
    let mut families: Vec<(String, String)> = Vec::new();
    let mut helped = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect(line);
            assert!(!help.is_empty(), "{line}");
            helped = name.to_string();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect(line);
            assert_eq!(name, helped, "a type follows the help");
            assert!(families.iter().all(|(known, _)| known != name), "{name} comes twice");
            families.push((name.to_string(), kind.to_string()));
        } else if let Some(unit) = line.strip_prefix("# UNIT ") {
            let (name, unit) = unit.split_once(' ').expect(line);
            assert!(name.ends_with(unit), "{line}");
        } else if line != "# EOF" {
            let (sample, value) = line.rsplit_once(' ').expect(line);
            let name = sample.split('{').next().unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let (family, kind) = families.last().expect("a sample follows its type");
            let is_total = kind == "counter" && name == format!("{family}_total");
            let is_info = kind == "info" && name == format!("{family}_info");
            assert!(name == family || is_total || is_info, "{line} is not of {family}");
        }
    }
    families
}

#[test]
fn metrics_are_prometheus_text() {
    let daemon = paris();
    let mut ann = daemon.client("ann");
    ann.join("a\\b".parse().unwrap()).unwrap();
    daemon.wait(|status| status.group_count == 1);
    let (head, text) = daemon.ask("GET /metrics", "");
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let names = families(&text);
    let kind = |name: &str| {
        let name = format!("ratewire_groups_{name}");
        names.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind.as_str())
    };
    assert_eq!(kind("clients"), Some("gauge"));
    assert_eq!(kind("messages_in_total"), Some("counter"));
    assert_eq!(kind("uptime_seconds"), Some("gauge"));
    assert_eq!(kind("link_price_dollars"), Some("gauge"));
    assert_eq!(kind("link_sent_bytes_total"), Some("counter"));
    assert!(names.iter().all(|(name, _)| name.starts_with("ratewire_groups_")));
    assert!(text.contains("\nratewire_groups_clients 1\n"), "{text}");
    assert!(text.contains("\nratewire_groups_group_members{group=\"a\\\\b\"} 1\n"), "{text}");
    assert!(!text.contains("ann"), "clients have no series of their own");

    let accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n";
    let (head, text) = daemon.ask("GET /metrics?name=all", accept);
    assert!(head.contains("content-type: application/openmetrics-text"), "{head}");
    assert!(text.ends_with("# EOF\n") && text.contains("\n# UNIT "), "{text}");
    assert_eq!(families(&text).len(), names.len());
}

#[test]
fn other_pages_and_methods_are_refused() {
    let daemon = paris();
    let (head, text) = daemon.ask("GET /", "");
    assert!(head.starts_with("HTTP/1.1 200 ") && text.contains("/status.json"), "{head}");
    let (head, json) = daemon.ask("GET /status.json", "");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(json.starts_with("{\"daemon\":\"paris\","), "{json}");
    let (head, body) = daemon.ask("HEAD /status.json", "");
    assert!(head.starts_with("HTTP/1.1 200 ") && body.is_empty(), "{head}");
    let (head, text) = daemon.ask("GET /../etc/passwd", "");
    assert!(head.starts_with("HTTP/1.1 404 ") && text.contains("/metrics"), "{head}");
    let (head, _) = daemon.ask("DELETE /status.json", "");
    assert!(head.starts_with("HTTP/1.1 405 ") && head.contains("allow: GET, HEAD"), "{head}");
    let (head, _) = daemon.ask("POST /metrics", "Content-Length: 1000000\r\n");
    assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
}

#[test]
fn half_a_request_keeps_nobody_waiting() {
    let daemon = paris();
    let mut half = daemon.http("GET /status.json HTTP/1.1\r\nHost: local");
    assert_eq!(daemon.status().daemon, "paris");
    half.write_all(b"host\r\n\r\n").unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "the rest of the request came in time");
}

#[test]
fn nonsense_and_long_heads_are_refused() {
    let daemon = paris();
    let long = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(100_000));
    for request in ["\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", &long] {
        let mut answer = String::new();
        let mut stream = std::net::TcpStream::connect(daemon.status).unwrap();
        // The daemon may end the connection before all is written.
        _ = stream.write_all(request.as_bytes());
        _ = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(daemon.status().daemon, "paris");
}

#[test]
fn one_connection_too_many_ends_the_oldest() {
    let daemon = paris();
    let mut open: Vec<_> = (0..40).map(|_| daemon.http("GET /")).collect();
    assert_eq!(daemon.status().daemon, "paris");
    // Those that remain open still wait for the rest of their requests.
    let is_open = |stream: &mut std::net::TcpStream| {
        stream.set_nonblocking(true).unwrap();
        let read = stream.read(&mut [0; 16]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    thread::sleep(Duration::from_millis(50));
    let open: Vec<bool> = open.iter_mut().map(is_open).collect();
    assert_eq!(open, (0..40).map(|place| place >= 25).collect::<Vec<_>>());
}

/// Asks a server that answers this, whatever the request.
fn asked(answer: &'static str) -> StatusError {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let answering = thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        _ = stream.read(&mut [0; 1000]);
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let error = fetch_status(address).unwrap_err();
    answering.join().unwrap();
    error
}

#[test]
fn answers_of_other_servers_are_told_apart() {
    let other = asked("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(other, StatusError::Refused(_, 404)), "{other}");
    let other = asked("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    assert!(matches!(other, StatusError::Malformed(..)), "{other}");
    let other = asked("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}");
    assert!(matches!(other, StatusError::Connection(..)), "{other}");
    let other = asked("220 mail.example.com ESMTP\r\n");
    assert!(matches!(other, StatusError::Connection(..)), "{other}");
    assert!(other.help().ends_with("in the daemon's groups.toml"), "{}", other.help());
}

#[test]
fn a_site_whose_name_leads_to_this_host_reads_nothing() {
    let daemon = paris();
    let answer = |head: &str| {
        let mut stream = daemon.http(&format!("GET /status.json {head}\r\n\r\n"));
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let own = own.trim_end();
    for head in [
        "HTTP/1.0".to_string(),
        format!("HTTP/1.1\r\nHost: {}", daemon.status),
        "HTTP/1.1\r\nHost: LOCALHOST:1".to_string(),
        "HTTP/1.1\r\nHost: [::1]".to_string(),
        format!("HTTP/1.1\r\nHost: {}", own.to_uppercase()),
    ] {
        let answer = answer(&head);
        assert!(answer.contains(" 200 OK\r\n") && answer.contains("\"paris\""), "{head}: {answer}");
    }
    for other in ["evil.example", "localhost.evil.example", "a@127.0.0.1", "127.0.0.1.evil.example"]
    {
        let answer = answer(&format!("HTTP/1.1\r\nHost: {other}"));
        assert!(answer.starts_with("HTTP/1.1 4") && !answer.contains("paris"), "{other}: {answer}");
    }
    let refused = answer("HTTP/1.1\r\nHost: evil.example");
    assert!(refused.starts_with("HTTP/1.1 421 "), "{refused}");
    let remedy = format!("ask by an IP address, as localhost or {own}\n");
    assert!(refused.ends_with(&remedy), "{refused}");
}
