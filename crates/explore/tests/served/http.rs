//! Requests and answers.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratewire::{Experiment, Listener, Running};
use ratewire_explore::{Explored, Subject};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{HELLO, Served};

fn written(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it's hello.toml");
    std::fs::write(&file, text).expect("a scenario");
    (folder, file)
}

/// The last line of an answer, and the line before the run.
fn run(page: &Served, values: &[(&str, &str)], laws: &[&str], before: Option<u64>) -> [Value; 2] {
    let lines: Vec<Value> = page.run(values, laws, before).collect();
    let plan = lines.iter().find(|line| line["plan"].is_object()).cloned().unwrap_or_default();
    [plan["plan"].clone(), lines.last().expect("a line").clone()]
}

#[test]
fn only_the_address_with_its_token_is_answered() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let (host, token) = page.parts();
    let get =
        |path: &str, host: &str| page.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let own = get(&format!("/?token={token}"), host);
    assert!(own.starts_with("HTTP/1.1 200 OK\r\n") && own.ends_with("</html>\n"), "{own}");
    for header in [
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "content-security-policy: frame-ancestors 'none'",
    ] {
        assert!(own.contains(header), "{header}");
    }
    let wrong = format!("{}0", &token[..token.len() - 1]);
    let wrong = if wrong == token { token.replace('0', "1") } else { wrong };
    for path in ["/", "/run", "/none", "/?token=", &format!("/?token={wrong}")] {
        let refused = get(path, host);
        assert!(refused.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{path}: {refused}");
        assert!(!refused.contains(token) && refused.contains("open the address"));
    }
    let with_token = format!("/?token={token}");
    for host in ["evil.example", "evil.example:80", "192.0.2.1", ""] {
        assert!(get(&with_token, host).starts_with("HTTP/1.1 403 "), "{host}");
    }
    assert!(get(&format!("/none?token={token}"), host).starts_with("HTTP/1.1 404 "));
    assert!(get(&format!("/run?token={token}"), host).starts_with("HTTP/1.1 405 "));
}

#[test]
fn requests_have_bounds() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let (host, token) = page.parts();
    let post = |length: usize, body: &str| {
        page.ask(&format!(
            "POST /run?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    };
    let long = "x".repeat(300_000);
    assert!(post(long.len(), &long).starts_with("HTTP/1.1 413 "));
    let refused = post(2, "{}");
    assert!(
        refused.starts_with("HTTP/1.1 422 ") && refused.contains("reload the page"),
        "{refused}"
    );
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    let refused = page.ask(&head);
    assert!(!refused.contains("200 OK"), "{refused}");
    let host_twice = format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n");
    assert!(page.ask(&format!("{host_twice}\r\n")).starts_with("HTTP/1.1 200 "));
    let refused = page.ask(&format!("{host_twice}Host: evil.example\r\n\r\n"));
    assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
}

/// Connections without a request have some seconds for one. The page does not wait for them.
#[test]
fn connections_that_say_nothing_do_not_delay_the_page() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let (host, token) = page.parts();
    let open = || page.ask(&format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let silent = |number: usize| {
        let streams: Vec<_> = (0..number).map(|_| page.send(b"GET")).collect();
        streams.iter().for_each(|stream| stream.set_nonblocking(true).expect("a stream"));
        streams
    };
    let waits = |stream: &TcpStream| {
        stream.peek(&mut [0]).is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
    };
    let few = silent(64);
    assert!(open().starts_with("HTTP/1.1 200 "));
    assert!(few.iter().all(waits), "the page has waited until they were ended");
    // The oldest of many end.
    let many = silent(200);
    assert!(open().starts_with("HTTP/1.1 200 "));
    assert!(!few.iter().any(waits) && many.iter().rev().take(100).all(waits));
}

#[test]
fn a_change_runs_the_scenario_again_and_keeps_the_run_before() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let [plan, first] = run(&page, &[], &["newreno"], None);
    let shown = plan["controls"]["shown"].as_array().expect("controls").clone();
    let control = |path: &str| {
        let found = shown.iter().find(|control| control["path"] == path);
        found.unwrap_or_else(|| panic!("{path}: {shown:?}")).clone()
    };
    assert_eq!(control("bottleneck.rate")["form"], "slider");
    assert_eq!(control("kind")["form"], "choice");
    assert!(plan["controls"]["open"].to_string().contains("transport.packet"));
    let done = &first["done"];
    assert_eq!((&done["number"], &done["before"]), (&1.into(), &Value::Null));
    assert!(done["body"].as_str().is_some_and(|body| body.contains("class=\"cards\"")));
    assert_eq!(done["data"]["flows"].as_array().map(Vec::len), Some(2));

    let slow = [("bottleneck.rate", "1 Mbit/s")];
    let [plan, second] = run(&page, &slow, &["newreno", "xcp"], Some(1));
    assert_eq!(second["done"]["number"], 2);
    assert_ne!(second["done"]["data"], done["data"]);
    assert_eq!(second["done"]["before"]["flows"], done["data"]["flows"], "the same units");
    // A page that shows other results gets no lines of a run that it never saw.
    let [_, third] = run(&page, &slow, &["xcp"], Some(1));
    assert_eq!(third["done"]["before"], Value::Null);

    let toml = plan["toml"].as_str().expect("TOML");
    assert!(toml.contains("law = [\"newreno\", \"xcp\"]") && toml.contains("1 Mbit/s"), "{toml}");
}

#[test]
fn an_invalid_value_is_refused_in_the_words_of_the_scenario() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let [plan, last] = run(&page, &[("bottleneck.rate", "fast")], &["xcp"], None);
    assert_eq!(plan, Value::Null);
    assert_eq!(last["wrong"]["paths"], json!(["bottleneck.rate"]));
    let own = Experiment::load(&file).expect("a scenario").set("bottleneck.rate", "fast");
    assert_eq!(last["wrong"]["text"], own.expect_err("an invalid value").to_string());
    let [_, last] = run(&page, &[], &["xpc"], None);
    assert!(last["wrong"]["text"].as_str().is_some_and(|text| text.contains("`xcp`")), "{last}");
}

#[test]
fn the_command_line_and_the_text_make_the_same_runs() {
    let (folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let values = [
        ("bottleneck.rate", "5 Mbit/s"),
        ("link.*.overhead", "38 B"),
        ("bottleneck.discipline", "{ codel = { ecn = true } }"),
        ("seed", "7"),
    ];
    let [plan, last] = run(&page, &values, &["cubic", "xcp"], None);
    assert!(last["done"].is_object(), "{last}");
    let set = values.map(|(path, value)| (path.to_string(), value.to_string()));
    let asked = Experiment::load_with(&file, &set).expect("a scenario").laws(["cubic", "xcp"]);

    let words = plan["command"].as_str().and_then(|line| line.strip_prefix("ratewire run "));
    let print = format!("printf '%s\\0' {}", words.expect("a command"));
    let said = Command::new("sh").args(["-c", &print]).output().expect("a shell").stdout;
    let said = String::from_utf8(said).expect("UTF-8");
    let words: Vec<&str> = said.trim_end_matches('\0').split('\0').collect();
    let (file_again, options) = words.split_first().expect("words");
    let [set @ .., ("--law", laws)] =
        &options.chunks(2).map(|o| (o[0], o[1])).collect::<Vec<_>>()[..]
    else {
        panic!("{options:?}");
    };
    let pair = |(option, set): &(&str, &str)| {
        assert_eq!(*option, "--set");
        set.split_once('=')
            .map(|(path, value)| (path.to_string(), value.to_string()))
            .expect("a pair")
    };
    let set: Vec<(String, String)> = set.iter().map(pair).collect();
    let again = Experiment::load_with(file_again, &set).expect("a scenario").laws(laws.split(','));
    assert_eq!(again.digest(), asked.digest());

    let copy = folder.path().join("copy.toml");
    std::fs::write(&copy, plan["toml"].as_str().expect("TOML")).expect("a file");
    assert_eq!(Experiment::load(&copy).expect("a scenario").digest(), asked.digest());
}

/// A run of six hours: it is at work for as long as a test looks.
const LONG: [(&str, &str); 2] = [("duration", "6 h"), ("record.interval", "1 s")];

#[test]
fn a_change_ends_the_run_under_way() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let mut long = page.run(&LONG, &["newreno"], None);
    assert!(long.next().expect("a line")["plan"].is_object());
    let [_, last] = run(&page, &[], &["newreno"], None);
    assert!(last["done"].is_object(), "{last}");
    let rest: Vec<Value> = long.collect();
    let (overtaken, progress) = rest.split_last().expect("an end");
    assert_eq!(overtaken, &json!({ "overtaken": { "by_this_page": true } }));
    assert!(progress.iter().all(|line| line["progress"].is_number()), "no figures of the first");
}

/// Lets each run begin only when the test says so.
struct Gate {
    begun: Mutex<Sender<()>>,
    opened: Mutex<Receiver<()>>,
}

impl Listener for Gate {
    fn begins(&self, _run: &Running<'_>) {
        self.begun.lock().expect("the sender").send(()).expect("the test waits");
        self.opened.lock().expect("the receiver").recv().expect("the test opens the gate");
    }
}

#[test]
fn of_many_changes_only_the_latest_runs() {
    let (_folder, file) = written(HELLO);
    let ((sender, begun), (open, opened)) = (channel(), channel());
    let gate = Gate { begun: Mutex::new(sender), opened: Mutex::new(opened) };
    let page = Served::watched(&file, Arc::new(gate));
    let mut latest = page.run(&[], &["newreno"], None);
    begun.recv().expect("a run");
    for rate in 1..=30 {
        let next = page.run(&[("bottleneck.rate", &format!("{rate} Mbit/s"))], &["xcp"], None);
        // The first run waits at the gate for all this time; no other one begins.
        let end = std::mem::replace(&mut latest, next.begun()).last().expect("an end");
        assert_eq!(end, json!({ "overtaken": { "by_this_page": true } }));
    }
    open.send(()).expect("the first run waits");
    begun.recv().expect("the last run");
    open.send(()).expect("the last run waits");
    let last = latest.last().expect("figures");
    assert!(last["done"].is_object(), "{last}");
    assert!(begun.try_recv().is_err(), "two runs in all");
}

#[test]
fn a_page_stops_its_own_run_and_no_other() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let mut long = page.run(&LONG, &["newreno"], None);
    // The first percent of progress: some samples are there.
    assert!(long.any(|line| line["progress"].is_number()), "progress");
    assert!(page.stop("another").starts_with("HTTP/1.1 204 "));
    assert!(long.any(|line| line["progress"].is_number()), "the run goes on");
    let stopped = page.stop("one");
    assert!(stopped.starts_with("HTTP/1.1 204 "), "{stopped}");
    let last = long.last().expect("figures");
    let body = last["done"]["body"].as_str().expect("figures");
    assert!(body.contains("partial, "), "{body}");
}

#[test]
fn a_page_gets_notice_that_another_one_took_over() {
    let (_folder, file) = written(HELLO);
    let page = Served::scenario(&file);
    let mut long = page.run(&LONG, &["newreno"], None);
    assert!(long.next().is_some());
    let other = page.run_of("another", &[]).last().expect("figures");
    assert!(other["done"].is_object(), "{other}");
    let last = long.last().expect("an end");
    assert_eq!(last, json!({ "overtaken": { "by_this_page": false } }));
}

#[test]
fn a_client_that_does_not_read_loses_its_connection() {
    // Larger than what the system keeps for a connection.
    let long = format!("description = \"{}\"\n{HELLO}", "x".repeat(32 << 20));
    let (_folder, file) = written(&long);
    let subject = Subject::Scenario(Box::new(Explored {
        experiment: Experiment::load(&file).expect("a scenario"),
        file: "hello.toml".to_string(),
        laws: Vec::new(),
        listener: Arc::new(()),
    }));
    let page = Served::with_patience(subject, Duration::from_secs(1));
    let (host, token) = page.parts();
    let get = format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    // As many as the server has places.
    let mut silent: Vec<_> = (0..16).map(|_| page.send(get.as_bytes())).collect();
    let refused = page.ask(&format!("GET /none?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(refused.starts_with("HTTP/1.1 404 "), "there is room again: {refused}");
    let mut part = Vec::new();
    _ = silent[0].read_to_end(&mut part);
    assert!(part.len() < 32 << 20, "{}", part.len());
}

/// Sends a message when a run ends.
struct Ended(Mutex<Sender<()>>);

impl Listener for Ended {
    fn ends(&self, _run: &Running<'_>) {
        self.0.lock().expect("the sender").send(()).expect("the test waits");
    }
}

#[test]
fn a_page_that_has_gone_leaves_no_run_behind() {
    let (_folder, file) = written(HELLO);
    let (sender, ended) = channel();
    let page = Served::watched(&file, Arc::new(Ended(Mutex::new(sender))));
    let mut long = page.run(&LONG, &["newreno"], None);
    assert!(long.next().is_some());
    drop(long);
    ended.recv().expect("the run's end");
}

/// Has a bug in its first run.
#[derive(Default)]
struct Bug(AtomicBool);

impl Listener for Bug {
    fn begins(&self, _run: &Running<'_>) {
        assert!(self.0.swap(true, Ordering::Relaxed), "a bug");
    }
}

#[test]
fn a_run_with_a_bug_ends_and_the_page_goes_on() {
    let (_folder, file) = written(HELLO);
    let page = Served::watched(&file, Arc::new(Bug::default()));
    let [_, last] = run(&page, &[], &["newreno"], None);
    let text = last["wrong"]["text"].as_str().expect("an error");
    assert!(text.contains("a bug in Ratewire"), "{text}");
    let [_, last] = run(&page, &[], &["newreno"], None);
    assert!(last["done"].is_object(), "{last}");
}

#[test]
fn a_sweep_is_looked_into_and_nothing_runs() {
    let (_folder, file) = written(HELLO);
    let experiment = Experiment::load(&file).expect("a scenario");
    let sweep = ratewire::Sweep::of(experiment).over("bottleneck.rate", "1M,2M").expect("values");
    let results = sweep.run().expect("results");
    let page = Served::subject(Subject::Sweep(Box::new(results.sweep().clone())));
    let (host, token) = page.parts();
    let get = page.ask(&format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(get.contains("<section id=\"point\"") && get.contains("movePoint"), "{get}");
    let ran = page.ask(&format!(
        "POST /run?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{{}}"
    ));
    assert!(ran.starts_with("HTTP/1.1 405 "), "{ran}");
}
