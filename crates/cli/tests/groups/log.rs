//! What a daemon logs.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::common::{folder, write};

/// A daemon that ends with the value.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn connections_that_find_no_descriptor_are_logged() {
    let folder = folder("groups-descriptors");
    write(&folder, "groups.toml", "[[daemon]]\nname = \"a\"\nlisten = [\"127.0.0.1:0\"]\n");
    let start = "ulimit -n 24; exec \"$0\" groups daemon --config groups.toml";
    let mut command = Command::new("sh");
    command.args(["-c", start, env!("CARGO_BIN_EXE_ratewire")]).current_dir(&folder);
    let mut daemon = Daemon(command.stderr(Stdio::piped()).spawn().expect("the daemon starts"));
    let log = BufReader::new(daemon.0.stderr.take().expect("a pipe"));
    let mut lines = log.lines().map(|line| line.expect("the log is text"));
    let served = lines.find(|line| line.contains("clients served")).expect("the log says where");
    let (_, address) = served.split_once("address=\"").expect("an address");
    let address = address.trim_end_matches('"');
    let _clients: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(address).expect("the daemon listens")).collect();
    let failed = lines.find(|line| line.contains("cannot accept a connection"));
    let failed = failed.expect("the daemon runs on");
    assert!(failed.contains("listener=\"clients\" reason=\"Too many open files"), "{failed}");
}
