//! `ratewire explore` as users see it.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{HELLO, err, folder, out, ratewire, write};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// A command that serves a page; it is killed if the test fails.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// The command, and the host and the token of the address that it prints.
fn serve(folder: &Path, args: &[&str]) -> (Serving, String, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_ratewire"))
        .arg("explore")
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Serving(child.expect("the command starts"));
    let mut line = String::new();
    let out = child.0.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("Open http://127.0.0.1:").expect("an address");
    let (port, token) = address.split_once("/?token=").expect("a token");
    assert_eq!(token.len(), 32, "128 bits: {line}");
    (child, format!("127.0.0.1:{port}"), token.to_string())
}

fn ask(host: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The answer to a run that a page asks for.
fn run(host: &str, token: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    let head = format!("POST /run?token={token} HTTP/1.1\r\nHost: {host}\r\n");
    ask(host, &format!("{head}Content-Length: {length}\r\n\r\n{body}"))
}

/// The line of an answer that begins with `{"NAME":`, without the name.
fn line(answer: &str, name: &str) -> Value {
    let start = format!("{{\"{name}\":");
    let line = answer.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("no {name}: {answer}"));
    serde_json::from_str::<Value>(line).expect("JSON")[name].clone()
}

/// Files that are only valid with values set, as `ratewire run` takes them.
#[test]
fn values_can_make_a_scenario_valid() {
    let folder = folder("explore-set");
    write(&folder, "timeless.toml", &HELLO.replace("duration", "# duration"));
    write(&folder, "lawless.toml", &HELLO.replace("\nlaw ", "\n# law "));
    for (file, set, page, command) in [
        (
            "timeless.toml",
            "duration=1s",
            r#""values":[["duration","1s"]]"#,
            "ratewire run timeless.toml --set duration=1s --law cubic,xcp",
        ),
        (
            "lawless.toml",
            "law=xcp",
            r#""values":[]"#,
            "ratewire run lawless.toml --set 'law=[\"cubic\", \"xcp\"]'",
        ),
    ] {
        let (_child, host, token) = serve(&folder, &[file, "--set", set]);
        let html = ask(&host, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(html.contains(page), "{html}");
        let values: &[[&str; 2]] = if set.starts_with("law") { &[] } else { &[["duration", "1s"]] };
        let answer =
            run(&host, &token, &json!({ "page": "a", "values": values, "laws": ["cubic", "xcp"] }));
        assert_eq!(line(&answer, "done")["failed"], json!([]));
        let plan = line(&answer, "plan");
        assert_eq!(plan["command"], command);
        let words = command.replacen("ratewire", env!("CARGO_BIN_EXE_ratewire"), 1);
        let ran = Command::new("sh")
            .args(["-c", &format!("{words} --no-files --json --quiet")])
            .current_dir(&folder)
            .output()
            .expect("a shell");
        let summary: Value = serde_json::from_str(&out(&ran)).expect("JSON");
        assert_eq!(summary["runs"].as_array().map(Vec::len), Some(2));
    }
    // Without the value the scenario has its own error, on the page.
    let (_child, host, token) = serve(&folder, &["timeless.toml", "--set", "duration=1s"]);
    let answer = run(&host, &token, &json!({ "page": "a", "values": [], "laws": ["xcp"] }));
    let wrong = line(&answer, "wrong")["text"].to_string();
    assert!(wrong.contains("duration"), "{wrong}");
}

#[test]
fn the_address_of_all_addresses_is_one_that_a_browser_can_open() {
    let folder = folder("explore-listen");
    write(&folder, "hello.toml", HELLO);
    let (_child, host, token) = serve(&folder, &["hello.toml", "--listen", "0.0.0.0"]);
    let page = ask(&host, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
}

#[test]
fn a_run_that_needs_too_much_memory_ends_and_the_page_goes_on() {
    let folder = folder("explore-memory");
    let many = HELLO.replace("[[flow]]", "[[flow]]\ncount = 1000");
    write(&folder, "many.toml", &many.replace("pairs ", "pairs = 20 #"));
    let (_child, host, token) = serve(&folder, &["many.toml", "--memory", "100MB"]);
    let small = json!([["flow.1.count", "1"], ["duration", "1 s"]]);
    let ran = |values: &Value| {
        run(&host, &token, &json!({ "page": "a", "values": values, "laws": ["newreno"] }))
    };
    // The command itself takes some of the memory, more or less by its build.
    let large = ran(&json!([["flow.1.count", "5000"]]));
    let text = line(&large, "wrong")["text"].to_string();
    assert!(text.contains("of memory are in use, and 100 MB are allowed"), "{text}");
    // The allocator returns what the large run had to the system after a while.
    let is_done = |answer: &String| answer.lines().any(|line| line.starts_with("{\"done\":"));
    let mut answers = (0..50).map(|_| ran(&small));
    assert!(answers.any(|answer| is_done(&answer)), "no small run has been done");
}

#[test]
fn a_page_is_served_until_ctrl_c() {
    let folder = folder("explore");
    write(&folder, "hello.toml", HELLO);
    let set = ["hello.toml", "--set", "duration=1s", "--law", "xcp,cubic"];
    let (mut child, host, token) = serve(&folder, &set);
    let page = ask(&host, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(page.contains(r#""values":[["duration","1s"]]"#), "{page}");

    // What the page offers to copy is a command line of this command.
    let body = json!({ "page": "a", "values": [["duration", "1 s"]], "laws": ["cubic", "xcp"] });
    let answer = run(&host, &token, &body);
    let plan = line(&answer, "plan");
    let command = plan["command"].as_str().expect("a command").to_string();
    assert_eq!(command, "ratewire run hello.toml --set 'duration=1 s' --law cubic,xcp");
    let words = command.replacen("ratewire", env!("CARGO_BIN_EXE_ratewire"), 1);
    let ran = Command::new("sh")
        .args(["-c", &format!("{words} --no-files --json --quiet")])
        .current_dir(&folder)
        .output()
        .expect("a shell");
    let summary: Value = serde_json::from_str(&out(&ran)).expect("JSON");
    let done = line(&answer, "done");
    let page = &done["data"];
    let laws: Vec<&Value> =
        summary["runs"].as_array().expect("runs").iter().map(|run| &run["law"]).collect();
    let drawn: Vec<&Value> =
        page["groups"].as_array().expect("laws").iter().map(|group| &group["name"]).collect();
    assert_eq!((laws, drawn.len()), (drawn.clone(), 2));

    kill(Pid::from_raw(child.0.id() as i32), Signal::SIGINT).expect("Ctrl-C");
    assert_eq!(child.0.wait().expect("an end").code(), Some(0));
}

#[test]
fn mistakes_are_reported_before_there_is_a_page() {
    let folder = folder("explore-wrong");
    write(&folder, "hello.toml", HELLO);
    for (args, code, says) in [
        (&["none.toml"][..], 3, "cannot read the scenario"),
        (&["."], 3, "help: name a scenario, or a folder that `ratewire sweep` wrote"),
        (&["hello.toml", "--set", "bottleneck.rat=1M"], 2, "did you mean `rate`?"),
        (&["hello.toml", "--law", "xpc"], 2, "did you mean `xcp`?"),
        (&[".", "--law", "xcp"], 2, "a sweep has its own laws and values"),
        (&["hello.toml", "--listen", "192.0.2.1"], 3, "cannot listen on 192.0.2.1:0"),
    ] {
        let done = ratewire(&folder, &[&["explore"], args].concat());
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(says), "{args:?}: {}", err(&done));
    }
}
