//! Processes that end with their values.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use super::common::out;

/// Sends a process a signal.
pub(crate) fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// A command that runs.
pub(crate) struct Process {
    child: Child,
    log: Option<Lines<BufReader<ChildStderr>>>,
}

impl Process {
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Process {
        Process::logging_to(Stdio::piped(), folder, args)
    }

    pub(crate) fn logging_to(log: Stdio, folder: &Path, args: &[&str]) -> Process {
        Process::spawn(crate::common::PROGRAM, log, folder, args)
    }

    /// Another program, which becomes that of the tests.
    pub(crate) fn of(program: &str, folder: &Path, args: &[&str]) -> Process {
        Process::spawn(program, Stdio::piped(), folder, args)
    }

    fn spawn(program: &str, log: Stdio, folder: &Path, args: &[&str]) -> Process {
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).stderr(log);
        let mut child = command.spawn().expect("the command starts");
        let log = child.stderr.take().map(|pipe| BufReader::new(pipe).lines());
        Process { child, log }
    }

    /// Whether it has not ended.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a process").is_none()
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&mut self, what: &str) -> String {
        let log = self.log.as_mut().expect("a log in a pipe");
        let mut lines = log.map(|line| line.expect("the log is text"));
        lines.find(|line| line.contains(what)).expect("the process logs it before it ends")
    }

    /// The lines of the log that nobody has waited for; call it after the end.
    pub(crate) fn rest_of_log(&mut self) -> Vec<String> {
        let log = self.log.as_mut().expect("a log in a pipe");
        log.map(|line| line.expect("the log is text")).collect()
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        send(&self.child, signal);
    }

    /// Kills it, as by `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a process");
        self.child.wait().expect("an end");
    }

    /// Tells it to end; returns its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.code()
    }

    /// Waits for its end; returns its exit code.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The address in a line of the log.
pub(crate) fn address(line: &str) -> String {
    let (_, rest) = line.split_once("address=\"").expect("an address");
    rest.split('"').next().unwrap_or_default().to_string()
}

/// Gives `redis-cli` these commands, and returns its answers.
pub(crate) fn redis(port: u16, commands: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut command = Command::new("redis-cli");
    command.args(["-p", &port.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("redis-cli starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text: String = commands.into_iter().map(|line| line + "\n").collect();
    input.write_all(text.as_bytes()).expect("room");
    drop(input);
    let answers = out(&child.wait_with_output().expect("an end"));
    answers.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
}
