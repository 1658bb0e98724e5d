//! Daemons and clients that run.

use std::fs;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use ratewire_sim::overlay::spec::OverlaySpec;

use super::Launch;
use super::clients::Run;
use super::config::{FILE, SOCKET};
use crate::host::Host;
use crate::program::{Program, Role};
use crate::{Error, names};

/// Name of the command.
const NAME: &str = "ratewire";
/// The command at each host, whose users may not reach it where it is.
const COMMAND: &str = "/tmp/ratewire";

/// A process of an overlay.
struct Process {
    what: String,
    program: Program,
}

/// Daemons and clients of an overlay.
pub(super) struct Processes<'a> {
    spec: &'a OverlaySpec,
    hosts: Vec<&'a Host>,
    launch: Launch<'a>,
    /// By node.
    daemons: Vec<Option<Process>>,
    /// Clients, by the number of their run.
    clients: Vec<Option<Process>>,
    started: usize,
    failed: Vec<(String, String)>,
}

impl<'a> Processes<'a> {
    /// Puts what processes need on all hosts; `text` is the daemons' configuration.
    pub(super) fn new(
        spec: &'a OverlaySpec,
        hosts: &[&'a Host],
        launch: Launch<'a>,
        text: &str,
    ) -> Result<Processes<'a>, Error> {
        for host in hosts {
            let (command, text) = (launch.command.clone(), text.to_string());
            host.run(move || equip(&command, &text))?.map_err(|e| {
                let what = format!(
                    "cannot put the command {} on the host {}",
                    launch.command.display(),
                    host.spec.name
                );
                Error::new(what, "run a command that is not in /tmp or /var/tmp").because(e)
            })?;
        }
        Ok(Processes {
            spec,
            hosts: hosts.to_vec(),
            launch,
            daemons: hosts.iter().map(|_| None).collect(),
            clients: Vec::new(),
            started: 0,
            failed: Vec::new(),
        })
    }

    pub(super) fn start_daemon(&mut self, node: usize) -> Result<(), Error> {
        let name = self.hosts[node].spec.name.clone();
        let arguments = ["daemon", "--config", FILE, "--name", &name].map(String::from);
        let process = self.start(node, format!("the group daemon {name}"), &arguments)?;
        self.daemons[node] = Some(process);
        Ok(())
    }

    /// Kills a daemon, as `kill -9` does.
    pub(super) fn stop_daemon(&mut self, node: usize) {
        let killed = self.daemons[node].take();
        self.note_end(killed);
    }

    pub(super) fn start_client(&mut self, run: &Run) -> Result<(), Error> {
        let mut arguments = run.arguments(self.spec);
        arguments.extend(["--at".to_string(), SOCKET.to_string()]);
        let host = &self.hosts[run.node].spec.name;
        let group = &self.spec.groups[run.group.index()].name;
        let what = format!("clients of {group} at {host}");
        let process = self.start(run.node, what, &arguments)?;
        self.clients.resize_with(self.clients.len().max(run.number + 1), || None);
        self.clients[run.number] = Some(process);
        Ok(())
    }

    pub(super) fn stop_client(&mut self, run: &Run) {
        let killed = self.clients.get_mut(run.number).and_then(Option::take);
        self.note_end(killed);
    }

    fn start(&mut self, node: usize, what: String, arguments: &[String]) -> Result<Process, Error> {
        let host = self.hosts[node];
        self.started += 1;
        let log = match &self.launch.logs {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(|e| {
                    Error::new(format!("cannot make {}", folder.display()), "").because(e)
                })?;
                let name = format!("overlay-{}", names::log(self.started, &host.spec.name));
                Some(folder.join(name))
            }
            None => None,
        };
        let mut run = format!("exec {COMMAND} groups");
        for argument in arguments {
            run += &format!(" {}", quoted(argument));
        }
        let role = Role::Scenario { user: self.launch.user, log };
        let program = Program::start(host, &run, self.launch.group.as_deref(), role)?;
        Ok(Process { what, program })
    }

    /// Notes a process that has ended by itself, and kills one that has not.
    fn note_end(&mut self, process: Option<Process>) {
        let Some(mut process) = process else { return };
        if let Some(status) = process.program.ended() {
            let log = process.program.log.as_ref();
            let see = log.map_or(String::new(), |log| format!("; see {}", log.display()));
            self.failed.push((process.what, format!("it has ended early, with {status}{see}")));
        } else {
            process.program.kill();
        }
    }

    /// Whether the daemon of each node runs.
    pub(super) fn running(&self) -> Vec<bool> {
        self.daemons.iter().map(Option::is_some).collect()
    }

    /// The first daemon that has ended by itself, and why.
    pub(super) fn lost(&mut self) -> Option<(String, String)> {
        for node in 0..self.daemons.len() {
            if self.daemons[node].as_mut().is_some_and(|daemon| daemon.program.ended().is_some()) {
                let ended = self.daemons[node].take();
                self.note_end(ended);
            }
        }
        self.failed.first().cloned()
    }

    /// Ends all processes; returns those that had ended by themselves, and why.
    pub(super) fn finish(&mut self) -> Vec<(String, String)> {
        let mut all: Vec<Option<Process>> = self.clients.drain(..).collect();
        all.extend(self.daemons.iter_mut().map(Option::take));
        all.into_iter().for_each(|process| self.note_end(process));
        std::mem::take(&mut self.failed)
    }
}

/// The command of daemons and clients: this program, if it is the command, or the one in `PATH`.
pub(crate) fn command() -> Result<PathBuf, Error> {
    let is_command = |path: &PathBuf| path.file_name().is_some_and(|name| name == NAME);
    let own = std::env::current_exe().ok().filter(is_command);
    let in_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join(NAME)).find(|c| c.is_file())
    };
    own.or_else(in_path).ok_or_else(|| {
        let what =
            format!("the daemons of an overlay are the command {NAME}, which is not in PATH");
        Error::new(what, "install the command, or put its folder into PATH")
    })
}

/// Puts the command and the configuration on the calling thread's host.
fn equip(command: &Path, text: &str) -> std::io::Result<()> {
    fs::write(FILE, text)?;
    fs::write(COMMAND, "")?;
    let none = None::<&str>;
    Ok(mount(Some(command), COMMAND, none, MsFlags::MS_BIND, none)?)
}

/// An argument for a shell, as it is.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_quoted() {
        let text = r#"a 'b' "$HOME" `c` \d"#;
        let run = format!("printf %s {}", quoted(text));
        let read = std::process::Command::new("sh").args(["-c", &run]).output().unwrap();
        assert_eq!(String::from_utf8(read.stdout).unwrap(), text);
    }
}
