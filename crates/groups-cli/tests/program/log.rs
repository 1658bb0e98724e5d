//! What a daemon logs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use ratewire_testing::{UNWRITABLE, port};

use super::common::{PROGRAM, folder, write};
use super::process::Daemon;

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
    for (case, log) in UNWRITABLE {
        let (folder, port) = (folder(&format!("groups-log-{case}")), port());
        let listen = format!("[[daemon]]\nname = \"a\"\nlisten = [\"127.0.0.1:{port}\"]\n");
        write(&folder, "groups.toml", &listen);
        let mut command = Command::new(PROGRAM);
        command.args(["daemon", "--config", "groups.toml"]).current_dir(&folder).stderr(log());
        let mut daemon = command.spawn().expect("the daemon starts");
        for _ in 0..3 {
            // The daemon logs that it refuses this client.
            let mut client = loop {
                assert_eq!(daemon.try_wait().expect("a process"), None, "{case}: it has ended");
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
        assert_eq!(daemon.wait().expect("an end").code(), Some(0), "{case}");
    }
}
