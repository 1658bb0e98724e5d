//! The daemon as a process.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use super::common::write;

/// Writes a `groups.toml` for a daemon that listens at a port of the loopback interface.
fn configure(folder: &Path, port: u16) {
    let listen = format!("[[daemon]]\nname = \"a\"\nlisten = [\"127.0.0.1:{port}\"]\n");
    write(folder, "groups.toml", &listen);
}

/// The command of a daemon that listens at a port of the loopback interface.
pub(crate) fn command(folder: &Path, port: u16) -> Command {
    configure(folder, port);
    let mut command = Command::new(crate::common::PROGRAM);
    command.args(["daemon", "--config", "groups.toml"]).current_dir(folder);
    command
}

/// A daemon that ends with the value.
pub(crate) struct Daemon {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    /// Where clients reach it.
    pub(crate) address: String,
}

impl Daemon {
    /// Starts a daemon that listens at a port of the loopback interface, with at most so many open
    /// files.
    pub(crate) fn start(folder: &Path, port: u16, files: u32) -> Daemon {
        configure(folder, port);
        Daemon::spawn(folder, files)
    }

    /// Starts the daemon of the folder's file, with at most so many open files.
    pub(crate) fn spawn(folder: &Path, files: u32) -> Daemon {
        let start = format!("ulimit -n {files}; exec \"$0\" daemon --config groups.toml");
        let mut command = Command::new("sh");
        command.args(["-c", &start, crate::common::PROGRAM]).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the daemon starts");
        let log = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut daemon = Daemon { child, log, address: String::new() };
        let served = daemon.logged("clients served");
        let (_, address) = served.split_once("address=\"").expect("an address");
        daemon.address = address.trim_end_matches('"').to_string();
        daemon
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(told.expect("kill").success());
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&mut self, what: &str) -> String {
        let mut lines = self.log.by_ref().map(|line| line.expect("the log is text"));
        lines.find(|line| line.contains(what)).expect("the daemon logs it before it ends")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
