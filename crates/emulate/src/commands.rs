//! Processes of Ratewire's programs at hosts: daemons and their clients, switches, and ends of ACP
//! connections.

use std::fs;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use crate::host::Host;
use crate::program::{Program, Role};
use crate::user::User;
use crate::{Error, names};

/// How processes are started.
pub(crate) struct Launch<'a> {
    /// The program.
    pub(crate) program: PathBuf,
    /// User of the processes.
    pub(crate) user: &'a User,
    /// Folder of their outputs.
    pub(crate) logs: Option<PathBuf>,
    /// Control group of their sockets.
    pub(crate) group: Option<PathBuf>,
}

/// A process that was started.
pub(crate) struct Process {
    what: String,
    pub(crate) program: Program,
}

/// Starts processes, and notes those that end by themselves.
pub(crate) struct Commands<'a> {
    pub(crate) launch: Launch<'a>,
    /// Begin of the names of their outputs.
    prefix: &'static str,
    started: usize,
    failed: Vec<(String, String)>,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(launch: Launch<'a>, prefix: &'static str) -> Commands<'a> {
        Commands { launch, prefix, started: 0, failed: Vec::new() }
    }

    /// Puts the program and files on a host. A host's `/tmp` is its own.
    pub(crate) fn equip(&self, host: &Host, files: Vec<(String, Vec<u8>)>) -> Result<(), Error> {
        let (program, place) = (self.launch.program.clone(), self.place());
        host.run(move || put(&program, &place, &files))?.map_err(|e| {
            let what = format!(
                "cannot put the program {} on the host {}",
                self.launch.program.display(),
                host.spec.name
            );
            Error::new(what, "run a program that is not in /tmp or /var/tmp").because(e)
        })
    }

    /// The program at each host, whose users may not reach it where it is.
    fn place(&self) -> PathBuf {
        Path::new("/tmp").join(self.launch.program.file_name().unwrap_or_default())
    }

    /// Starts the program at a host; `what` names the process in messages.
    pub(crate) fn start(
        &mut self,
        host: &Host,
        what: String,
        arguments: &[String],
    ) -> Result<Process, Error> {
        self.started += 1;
        let log = match &self.launch.logs {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(|e| {
                    Error::new(format!("cannot make {}", folder.display()), "").because(e)
                })?;
                let name = names::log(self.started, &host.spec.name);
                Some(folder.join(format!("{}-{name}", self.prefix)))
            }
            None => None,
        };
        let mut run = format!("exec {}", quoted(&self.place().to_string_lossy()));
        for argument in arguments {
            run += &format!(" {}", quoted(argument));
        }
        let role = Role::Scenario { user: self.launch.user, log };
        let program = Program::start(host, &run, self.launch.group.as_deref(), role)?;
        Ok(Process { what, program })
    }

    /// Notes a process that has ended by itself, and kills one that has not.
    pub(crate) fn end(&mut self, process: Option<Process>) {
        let Some(mut process) = process else { return };
        if let Some(status) = process.program.ended() {
            let log = process.program.log.as_ref();
            let see = log.map_or(String::new(), |log| format!("; see {}", log.display()));
            self.failed.push((process.what, format!("it has ended early, with {status}{see}")));
        } else {
            process.program.kill();
        }
    }

    /// The first of these processes that has ended by itself, and why.
    pub(crate) fn first_lost<'p>(
        &mut self,
        processes: impl Iterator<Item = &'p mut Option<Process>>,
    ) -> Option<(String, String)> {
        for process in processes {
            if process.as_mut().is_some_and(|process| process.program.ended().is_some()) {
                let ended = process.take();
                self.end(ended);
            }
        }
        self.failed.first().cloned()
    }

    /// Processes that have ended by themselves, and why.
    pub(crate) fn take_failed(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.failed)
    }
}

/// Puts the program at `place`, if it is not there, and files on the calling thread's host.
fn put(program: &Path, place: &Path, files: &[(String, Vec<u8>)]) -> std::io::Result<()> {
    for (path, content) in files {
        fs::write(path, content)?;
    }
    if place.exists() {
        return Ok(());
    }
    fs::write(place, "")?;
    let none = None::<&str>;
    Ok(mount(Some(program), place, none, MsFlags::MS_BIND, none)?)
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
