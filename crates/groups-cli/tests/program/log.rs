//! What a daemon logs, and what it tells systemd.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use ratewire_testing::{Unwritable, port};

use super::common::{folder, write};
use super::process::{Daemon, command};

#[test]
fn connections_that_find_no_descriptor_are_logged() {
    let mut daemon = Daemon::start(&folder("groups-descriptors"), 0, 24);
    let _clients: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(&daemon.address).expect("the daemon listens")).collect();
    let failed = daemon.logged("cannot accept a connection");
    assert!(failed.contains("listener=\"clients\" reason=\"Too many open files"), "{failed}");
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_daemon() {
    for log in Unwritable::ALL {
        let (folder, port) = (folder(&format!("groups-log-{log:?}")), port());
        let mut daemon =
            command(&folder, port).stderr(log.open()).spawn().expect("the daemon starts");
        for _ in 0..3 {
            // The daemon logs that it refuses this client.
            let mut client = loop {
                assert_eq!(daemon.try_wait().expect("a process"), None, "{log:?}: it has ended");
                match TcpStream::connect(("127.0.0.1", port)) {
                    Ok(client) => break client,
                    Err(_) => std::thread::yield_now(),
                }
            };
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("room");
            client.read_to_end(&mut Vec::new()).ok();
        }
        let told = Command::new("kill").arg(daemon.id().to_string()).status();
        assert!(told.expect("kill").success());
        assert_eq!(daemon.wait().expect("an end").code(), Some(0), "{log:?}");
    }
}

#[test]
fn a_hangup_or_a_command_reads_the_file_again() {
    let folder = folder("groups-reload");
    let mut daemon = Daemon::start(&folder, 0, 1024);
    daemon.logged("daemon ready");
    let text = std::fs::read_to_string(folder.join("groups.toml")).expect("the file");
    write(&folder, "groups.toml", &format!("{text}[[group]]\nname = \"x\"\nlag = 5\n"));
    daemon.signal("-HUP");
    daemon.logged("groups.toml reloaded");
    write(&folder, "groups.toml", &format!("{text}[flow-control]\nfee = 2\n"));
    daemon.signal("-HUP");
    let refused = daemon.logged("groups.toml not reloaded");
    assert!(refused.contains("[flow-control] cannot change while the daemon runs"), "{refused}");
    let reload = || {
        let mut command = Command::new(crate::common::PROGRAM);
        let done = command.arg("reload").current_dir(&folder).output().expect("it runs");
        (
            done.status.code(),
            String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap(),
        )
    };
    let (code, said) = reload();
    assert!(code == Some(2) && said.contains("has no key `control`"), "{said}");
    drop(daemon);
    let (control, address) = ("control = \"a.control\"\n", "listen = [\"127.0.0.1:0\"]\n");
    write(&folder, "groups.toml", &format!("[[daemon]]\nname = \"a\"\n{address}{control}"));
    let (code, said) = reload();
    assert!(code == Some(5) && said.contains("no daemon takes commands at"), "{said}");
    let mut daemon = Daemon::spawn(&folder, 1024);
    daemon.logged("daemon ready");
    assert_eq!(reload(), (Some(0), "the file has been read again\n".to_string()));
}

#[test]
fn the_watchdog_of_systemd_is_notified_again_and_again() {
    let folder = folder("groups-watchdog");
    let socket = UnixDatagram::bind(folder.join("notify")).expect("a socket");
    let mut command = command(&folder, port());
    command.env("NOTIFY_SOCKET", folder.join("notify")).env("WATCHDOG_USEC", "20000");
    let mut daemon = command.stderr(Stdio::null()).spawn().expect("the daemon starts");
    let mut told = [0; 100];
    let mut next = || {
        let length = socket.recv(&mut told).expect("a notification");
        String::from_utf8_lossy(&told[..length]).trim_end().to_string()
    };
    let first: Vec<String> = (0..4).map(|_| next()).collect();
    daemon.kill().expect("a process");
    daemon.wait().expect("an end");
    assert_eq!(first, ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"]);
}
