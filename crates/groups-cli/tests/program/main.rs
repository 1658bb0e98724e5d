//! `ratewire-groups`: its files, and its clients against a daemon of a few lines.

mod clients;
mod common;
mod daemon;
mod log;
mod process;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{err, folder, out, program, write};
use daemon::{Fault, serve};
use serde_json::Value;

const TWO: &str = r#"
certificates = "set"

[[daemon]]
name    = "paris"
address = "10.0.0.1:4804"

[[daemon]]
name    = "tokyo"
address = "10.0.0.2:4804"
"#;

/// Runs the command against a daemon with this fault, whose socket is `d` in the folder.
fn client(folder: &Path, fault: Fault, input: &str, args: &[&str]) -> Output {
    let socket = std::env::temp_dir().join(format!(
        "ratewire-{}-{}",
        std::process::id(),
        folder.file_name().unwrap().display()
    ));
    std::fs::remove_file(&socket).ok();
    write(folder, "input", input);
    let mut command = Command::new(crate::common::PROGRAM);
    command.args(args).arg("--at").arg(&socket);
    command.stdin(std::fs::File::open(folder.join("input")).unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = tokio::task::LocalSet::new().block_on(&runtime, async {
        tokio::select! {
            // The socket is bound before the command starts.
            biased;
            () = serve(&socket, fault) => unreachable!("the daemon does not end"),
            done = tokio::task::spawn_blocking(move || command.output()) => done.unwrap(),
        }
    });
    std::fs::remove_file(&socket).unwrap();
    done.expect("the command starts")
}

#[test]
fn a_file_is_checked() {
    let folder = folder("groups-check");
    write(&folder, "groups.toml", TWO);
    let done = program(&folder, &["check", "groups.toml"]);
    assert_eq!((done.status.code(), out(&done).lines().count()), (Some(0), 2), "{}", err(&done));
    assert!(err(&done).contains("has no key of a daemon"), "{}", err(&done));
    write(&folder, "wrong.toml", &TWO.replace("address", "adress").replace("tokyo", "paris"));
    let done = program(&folder, &["check", "wrong.toml"]);
    assert_eq!((done.status.code(), &*out(&done)), (Some(2), ""));
    assert!(err(&done).contains("wrong.toml:6:1: unknown key `adress`"), "{}", err(&done));
    assert!(err(&done).contains("did you mean `address`?"), "{}", err(&done));
    let done = program(&folder, &["check", "missing.toml"]);
    assert_eq!(done.status.code(), Some(3), "{}", err(&done));
}

#[test]
fn files_that_are_no_regular_ones_are_refused() {
    let folder = folder("groups-irregular");
    let set = folder.join("set");
    let checked = || {
        // A pipe would never be read to its end.
        let args = ["60", common::PROGRAM, "check", "groups.toml"];
        let done = ratewire_testing::run("timeout", &folder, &args);
        assert!([2, 3].map(Some).contains(&done.status.code()), "{}", err(&done));
        err(&done)
    };
    let files = [
        ("ca.pem", "longer than 1 MiB"),
        ("paris.pem", "longer than 1 MiB"),
        ("paris.key", "longer than 1 MiB"),
        ("groups.toml", "longer than 16 MiB"),
    ];
    for (named, limit) in files {
        write(&folder, "groups.toml", TWO);
        std::fs::remove_dir_all(&set).ok();
        assert!(program(&folder, &["certificates", "--config", "groups.toml"]).status.success());
        let file = [&set, &folder].map(|place| place.join(named));
        let file = file.into_iter().find(|file| file.exists()).expect("the file");
        std::fs::File::create(&file).and_then(|file| file.set_len((16 << 20) + 1)).unwrap();
        assert!(checked().contains(limit), "{named}: {}", checked());
        std::fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        let said = checked();
        assert!(said.contains("not a regular file, but a pipe"), "{named}: {said}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn certificates_are_those_of_the_file() {
    let folder = folder("groups-certificates");
    write(&folder, "groups.toml", TWO);
    let make = ["certificates", "--config", "groups.toml"];
    let done = program(&folder, &make);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("host of tokyo: ca.pem tokyo.pem tokyo.key"), "{}", out(&done));
    let done = program(&folder, &["check", "groups.toml"]);
    assert_eq!((done.status.code(), &*err(&done)), (Some(0), ""));
    let done = program(&folder, &make);
    assert_eq!(done.status.code(), Some(3));
    assert!(err(&done).contains("--overwrite"), "{}", err(&done));
    let done = program(&folder, &["certificates", "other", "a", "A"]);
    assert_eq!(done.status.code(), Some(2), "{}", err(&done));
    std::fs::copy(folder.join("set/paris.pem"), folder.join("set/tokyo.pem")).unwrap();
    let done = program(&folder, &["check", "groups.toml"]);
    assert_eq!(done.status.code(), Some(2), "{}", err(&done));
    let said = err(&done);
    assert!(
        said.contains("set/tokyo.pem cannot be used: ") && said.contains("\n  help: make a new")
    );
}

#[test]
fn certificates_of_nobody_are_refused_with_the_ways_to_name_daemons() {
    let folder = folder("groups-nobody");
    for args in [&[][..], &["set"], &["--overwrite"]] {
        let done = program(&folder, &[&["certificates"], args].concat());
        assert_eq!(done.status.code(), Some(2), "{}", err(&done));
        let ways = ["`--config groups.toml`", "DIR NAME..."];
        assert!(ways.iter().all(|way| err(&done).contains(way)), "{}", err(&done));
    }
    assert!(!folder.join("set").exists());
    let done = program(&folder, &["certificates", "--help"]);
    assert!(
        out(&done).contains("certificates [OPTIONS] --config <FILE> [DIR]\n"),
        "{}",
        out(&done)
    );
}

#[test]
fn a_cause_is_told_once_and_the_remedy_as_help() {
    let folder = folder("groups-causes");
    write(&folder, "groups.toml", TWO);
    let daemon = ["daemon", "--config", "groups.toml", "--name", "paris"];
    let done = program(&folder, &daemon);
    assert_eq!(done.status.code(), Some(3), "{}", err(&done));
    assert_eq!(err(&done).matches("No such file").count(), 1, "{}", err(&done));
    assert!(err(&done).contains("\n  help: copy paris.pem of the set there"), "{}", err(&done));
    // Nobody listens on port 1.
    let done = program(&folder, &["status", "--at", "127.0.0.1:1"]);
    assert_eq!(done.status.code(), Some(5), "{}", err(&done));
    assert!(err(&done).contains("\n  help: start a daemon, or name the address"), "{}", err(&done));
}

#[test]
fn a_chat_in_a_pipe_shows_its_own_messages_and_ends() {
    let input = "hello\n/to #ann#fake psst\n/nonsense\n/join more\n\u{1b}[2J\n/leave more\n//x";
    let folder = folder("groups-chat");
    let done = client(&folder, Fault::None, input, &["chat", "room", "--name", "ann"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let shown = "-- #ann#fake has joined room (1 member)\n#ann#fake: hello\n";
    assert!(out(&done).starts_with(shown), "{}", out(&done));
    assert!(out(&done).contains("#ann#fake to more, room: \\u001b[2J\n"), "{}", out(&done));
    assert!(out(&done).ends_with("#ann#fake: /x\n-- you have left room\n"), "{}", out(&done));
    assert_eq!(err(&done), "ratewire: no command is called /nonsense; /help lists all\n");
}

#[test]
fn a_daemon_that_is_away_or_goes_is_told() {
    let folder = folder("groups-away");
    for command in ["chat", "flood"] {
        let room = if command == "chat" { &["room"][..] } else { &[] };
        let args = [&[command, "--at", "./no-daemon"], room].concat();
        let done = program(&folder, &args);
        assert_eq!(done.status.code(), Some(5), "{}", err(&done));
        assert!(err(&done).contains("cannot connect to a daemon at ./no-daemon"), "{}", err(&done));
    }
    let done = client(&folder, Fault::Ends, "1\n2\n3\n", &["chat", "room"]);
    assert_eq!(done.status.code(), Some(5), "{}", err(&done));
    assert!(err(&done).contains("has ended the connection"), "{}", err(&done));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the server runs beside the command")]
fn a_chat_with_another_server_says_which_address_to_give() {
    let folder = folder("groups-other-server");
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let chat = || program(&folder, &["chat", "room", "--at", &address]);
    let help = "\n  help: give --at an address that `listen` has in a daemon's groups.toml";
    // Nobody answers: the kernel accepts the connection.
    let done = chat();
    assert_eq!(done.status.code(), Some(5), "{}", err(&done));
    assert!(err(&done).contains(&format!("{address} has not answered within 10 s{help}")));
    let answering = std::thread::spawn(move || {
        // The first is that of the client that has gone.
        for stream in server.incoming().take(2) {
            let mut stream = stream.unwrap();
            _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            // To close with unread bytes would discard the answer.
            _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let done = chat();
    answering.join().unwrap();
    assert_eq!(done.status.code(), Some(5), "{}", err(&done));
    assert!(err(&done).contains(&format!("it speaks HTTP{help}")), "{}", err(&done));
}

/// Results of a flood of 1000 messages for two receivers, and the exit code.
fn flood(test: &str, fault: Fault, more: &[&str]) -> (Value, Option<i32>) {
    let args = [&["flood", "--json", "--receivers", "2"], more].concat();
    let done = client(&folder(test), fault, "", &args);
    let results = serde_json::from_str(&out(&done));
    (results.unwrap_or_else(|wrong| panic!("{wrong}: {}", err(&done))), done.status.code())
}

#[test]
fn a_flood_counts_every_message() {
    let args = ["--count", "500", "--senders", "2", "--groups", "3", "--window", "10"];
    let (results, exit) = flood("groups-flood", Fault::None, &args);
    assert_eq!(exit, Some(0), "{results}");
    assert_eq!(results["sent"]["messages"], 1_000, "{results}");
    assert_eq!(results["delivered"]["messages"], 2_000, "{results}");
    let broken = ["lost", "misplaced", "disagreeing", "membership_changes", "refused"];
    assert!(broken.iter().all(|key| results[key] == 0), "{results}");
    assert!(results["latency_us"]["max"].as_f64() > Some(0.0), "{results}");
}

#[test]
fn a_flood_keeps_its_rate_and_time() {
    let args = ["--rate", "2000", "--time", "500ms", "--warmup", "100ms", "--receivers", "0"];
    let done = client(&folder("groups-rate"), Fault::None, "", &[&["flood"], &args[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(
        out(&done).starts_with("1 sender, 1 receiver, 1 group, 100 B, agreed; 0.5 s after 0.1")
    );
}

#[test]
fn a_flood_finds_lost_and_swapped_messages() {
    let (results, exit) = flood("groups-lost", Fault::Loses, &["--count", "50"]);
    assert_eq!((exit, &results["lost"]), (Some(1), &1.into()), "{results}");
    let args = ["--count", "50", "--service", "unreliable"];
    let (results, exit) = flood("groups-lost-allowed", Fault::Loses, &args);
    assert_eq!((exit, &results["lost"]), (Some(0), &1.into()), "{results}");
    let (results, exit) = flood("groups-swapped", Fault::Swaps, &["--count", "50"]);
    assert_eq!((exit, &results["misplaced"]), (Some(1), &1.into()), "{results}");
    assert_eq!((&results["disagreeing"], &results["first_difference"]), (&1.into(), &2.into()));
}
