//! The program `ask` in `examples/`, as its text calls it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use ratewire_testing::{err, example, out, write};

#[test]
fn questions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(example("ask"));
        command.args(arguments).current_dir(&folder);
        command
    };
    write(folder.path(), "secret", &"s".repeat(32));
    write(folder.path(), "short", "s");
    let serve = &["serve", "secret", "127.0.0.1:0"];
    let mut server = ask(serve).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line}"));

    let answered = ask(&["ask", "secret", address, "hello", "how are you?"]).output().unwrap();
    assert!(answered.status.success(), "{}", err(&answered));
    assert_eq!(out(&answered), "0: HELLO\n1: HOW ARE YOU?\n");
    let refused = ask(&["ask", "short", address, "hello"]).output().unwrap();
    assert!(err(&refused).contains("32 bytes: head -c 32"), "{}", err(&refused));
    server.kill().unwrap();
    server.wait().unwrap();
}
