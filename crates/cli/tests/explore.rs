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

#[test]
fn a_page_is_served_until_ctrl_c() {
    let folder = folder("explore");
    write(&folder, "hello.toml", HELLO);
    let set = ["hello.toml", "--set", "duration=1s", "--law", "xcp,cubic"];
    let (mut child, host, token) = serve(&folder, &set);
    let page = ask(&host, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(page.contains(r#""values":[["duration","1s"]]"#), "{page}");

    // What the page offers to copy is a command line of this command.
    let body = json!({ "values": [["duration", "1 s"]], "laws": ["cubic", "xcp"] }).to_string();
    let answer = ask(
        &host,
        &format!(
            "POST /run?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    );
    let plan = answer.lines().find(|line| line.starts_with("{\"plan\"")).expect("the beginning");
    let plan: Value = serde_json::from_str(plan).expect("JSON");
    let command = plan["plan"]["command"].as_str().expect("a command").to_string();
    assert_eq!(command, "ratewire run hello.toml --set 'duration=1 s' --law cubic,xcp");
    let words = command.replacen("ratewire", env!("CARGO_BIN_EXE_ratewire"), 1);
    let ran = Command::new("sh")
        .args(["-c", &format!("{words} --no-files --json --quiet")])
        .current_dir(&folder)
        .output()
        .expect("a shell");
    let summary: Value = serde_json::from_str(&out(&ran)).expect("JSON");
    let done = answer.lines().find(|line| line.starts_with("{\"done\"")).expect("figures");
    let done: Value = serde_json::from_str(done).expect("JSON");
    let page = &done["done"]["data"];
    let laws: Vec<&Value> =
        summary["runs"].as_array().expect("runs").iter().map(|run| &run["law"]).collect();
    let drawn: Vec<&Value> =
        page["groups"].as_array().expect("laws").iter().map(|group| &group["name"]).collect();
    assert_eq!((laws, drawn.len()), (drawn.clone(), 2));

    kill(Pid::from_raw(child.0.id() as i32), Signal::SIGINT).expect("Ctrl-C");
    assert_eq!(child.0.wait().expect("an end").code(), Some(0));
}

#[test]
fn mistakes_are_told_before_there_is_a_page() {
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
