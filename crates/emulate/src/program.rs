//! Programs in hosts.
//!
//! Each is the first process of a process namespace of its own. It is killed with the thread that started it, that is,
//! with us, however we end; and what it has started is killed with it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::Error;
use crate::host::Host;

/// What is run inside: gets into the control group, if there is one, and becomes what the user wrote.
const INSIDE: &str = r#"if [ -n "$RATEWIRE_CGROUP" ]; then echo 0 > "$RATEWIRE_CGROUP/cgroup.procs" || exit 126; fi
unset RATEWIRE_CGROUP
exec sh -c "$1""#;

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) host: String,
    pub(crate) run: String,
    /// Whether a flow's data is what it sends or fetches.
    pub(crate) makes_flow: bool,
    child: Child,
    /// What it writes.
    pub(crate) log: Option<PathBuf>,
    ended: Option<ExitStatus>,
}

/// Has `setpriv` run what follows in a process namespace that ends with the thread that starts it.
pub(crate) fn in_namespace(setpriv: &mut Command) -> &mut Command {
    setpriv
        .args(["--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount-proc"])
        .arg("--kill-child=KILL")
}

/// Where a program's input and output go.
#[derive(Clone, Debug)]
pub(crate) enum Terminal {
    /// Nothing in, everything out to a file, or to nowhere.
    Log(Option<PathBuf>),
    /// Those of this process.
    Ours,
}

impl Program {
    /// Starts a program at a host.
    pub(crate) fn start(
        host: &Host,
        run: &str,
        cgroup: Option<&Path>,
        terminal: Terminal,
    ) -> Result<Program, Error> {
        let cannot = |e: io::Error| {
            let what = format!("cannot start {run:?} at {}", host.spec.name);
            Error::new(what, "it needs setpriv and unshare of util-linux").because(e)
        };
        let mut command = Command::new("setpriv");
        in_namespace(&mut command).args(["sh", "-c", INSIDE, "sh", run]);
        command.env("RATEWIRE_CGROUP", cgroup.unwrap_or(Path::new("")));
        command.env("RATEWIRE_HOST", &host.spec.name);
        let log = match terminal {
            Terminal::Ours => None,
            Terminal::Log(None) => {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                None
            }
            Terminal::Log(Some(path)) => {
                let file = File::create(&path).map_err(cannot)?;
                command.stdin(Stdio::null()).stderr(file.try_clone().map_err(cannot)?).stdout(file);
                Some(path)
            }
        };
        // A child is killed with the thread that started it: the host's.
        let child = host.run(move || command.spawn())?.map_err(cannot)?;
        let name = host.spec.name.clone();
        Ok(Program { host: name, run: run.to_string(), makes_flow: false, child, log, ended: None })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Ends it and all that it started.
    pub(crate) fn kill(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
