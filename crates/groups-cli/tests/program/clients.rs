//! `ratewire-groups send` and `receive`, against the daemon.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use ratewire_groups::client::blocking::Connection;
use ratewire_groups::client::{Options, Received};

use super::common::{err, folder, out};
use super::process::Daemon;

/// Starts a client of the daemon at an address.
fn start(folder: &Path, at: &str, args: &[&str]) -> Child {
    let mut command = Command::new(crate::common::PROGRAM);
    command.args(args).args(["--at", at]).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("the client ends")
}

/// Runs a client to its end.
fn run(folder: &Path, at: &str, args: &[&str], input: &str) -> Output {
    let mut child = start(folder, at, args);
    // A client that refuses its arguments has ended.
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).ok();
    ended(child)
}

/// Joins a group, and returns the names of its members once there are so many others.
fn members(at: &str, group: &str, others: usize) -> Vec<String> {
    let options = Options { membership: true, ..Options::default() };
    let mut connection = Connection::connect(&at.parse().unwrap(), options).expect("a daemon");
    connection.join(group.parse().unwrap()).expect("a daemon");
    loop {
        if let Received::Membership(view) = connection.receive().expect("a daemon")
            && view.members.len() == others + 1
        {
            let me = connection.private_name();
            let others = view.members.iter().filter(|name| **name != me);
            return others.map(|name| name.client().to_string()).collect();
        }
    }
}

#[test]
fn lines_that_are_sent_are_printed_by_who_receives() {
    let folder = folder("groups-lines");
    let daemon = Daemon::start(&folder, 0, 100);
    let receiver = start(&folder, &daemon.address, &["receive", "other", "news", "--count", "3"]);
    members(&daemon.address, "news", 1);
    let sent = run(&folder, &daemon.address, &["send", "news"], "one\n\nthree\nfour\n");
    assert_eq!((sent.status.code(), &*out(&sent)), (Some(0), "4 messages\n"), "{}", err(&sent));
    let received = ended(receiver);
    assert_eq!((received.status.code(), &*out(&received)), (Some(0), "one\n\nthree\n"));
    let sent = run(&folder, &daemon.address, &["send", "news"], "one\n");
    assert_eq!(out(&sent), "1 message\n");
}

#[test]
fn clients_of_one_command_have_numbers_and_a_sum() {
    let folder = folder("groups-sum");
    let daemon = Daemon::start(&folder, 0, 100);
    let many = ["receive", "news", "--clients", "2", "--name", "c", "--count", "10", "--quiet"];
    let receivers = start(&folder, &daemon.address, &many);
    assert_eq!(members(&daemon.address, "news", 2), ["c1", "c2"]);
    let load = ["send", "news", "--clients", "2", "--size", "100 B", "--count", "5"];
    let sent = run(&folder, &daemon.address, &load, "");
    assert_eq!((sent.status.code(), &*out(&sent)), (Some(0), "10 messages\n"), "{}", err(&sent));
    assert_eq!(out(&ended(receivers)), "20 messages, 2000 bytes\n");
    let timed = ["send", "news", "--size", "1 kB", "--rate", "100", "--time", "100 ms"];
    let sent = run(&folder, &daemon.address, &timed, "");
    let number = out(&sent).split(' ').next().and_then(|number| number.parse::<u32>().ok());
    assert!(number.is_some_and(|number| (1..=11).contains(&number)), "{}", out(&sent));
}

#[test]
fn clients_that_connect_again_outlive_their_daemon() {
    let folder = folder("groups-again");
    let daemon = Daemon::start(&folder, 0, 100);
    let at = daemon.address.clone();
    let again = ["receive", "news", "--count", "2", "--reconnect", "--name", "c"];
    let (receiver, once) = (start(&folder, &at, &again), start(&folder, &at, &["receive", "news"]));
    members(&at, "news", 2);
    assert_eq!(out(&run(&folder, &at, &["send", "news"], "before\n")), "1 message\n");
    drop(daemon);
    let once = ended(once);
    assert_eq!((once.status.code(), &*out(&once)), (Some(5), "before\n"), "{}", err(&once));
    let port = at.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
    let _daemon = Daemon::start(&folder, port, 100);
    assert_eq!(members(&at, "news", 1), ["c"]);
    run(&folder, &at, &["send", "news"], "after\n");
    let received = ended(receiver);
    assert_eq!((received.status.code(), &*out(&received)), (Some(0), "before\nafter\n"));
    assert!(err(&received).contains("connecting again"), "{}", err(&received));
}

#[test]
fn what_cannot_be_sent_is_refused_before_a_daemon_is_asked() {
    let folder = folder("groups-refused");
    for (args, said) in [
        (&["send", "news", "--count", "3"][..], "--size"),
        (&["send", "news", "--clients", "2"], "add --size"),
        (&["send", "news", "--size", "1 MB"], "at most"),
        (&["send", "a group with a name of more than 31 bytes"], "31"),
        (&["receive"], "<GROUP>"),
        (&["receive", "news", "--clients", "0"], "from 1 to"),
    ] {
        let done = run(&folder, "127.0.0.1:1", args, "");
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(said), "{args:?}: {}", err(&done));
    }
    let done = run(&folder, "127.0.0.1:1", &["send", "news"], "one\n");
    assert_eq!(done.status.code(), Some(5), "{}", err(&done));
    assert!(err(&done).contains("start a daemon there"), "{}", err(&done));
}
