//! Programs in hosts.
//!
//! Each has a process namespace of its own, whose first process is root's. The kernel kills that
//! process with the thread that started it, so it ends with this process, however that ends. All
//! other processes of the namespace are killed with it, whoever owns them. The signal is set on
//! root's process because the kernel drops it when a process changes its user.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::Error;
use crate::host::Host;
use crate::user::User;

/// Root's command inside: enters the control group, if there is one. `ENTER` or a shell follows.
const JOIN: &str = r#"if [ -n "$RATEWIRE_CGROUP" ]; then echo 0 > "$RATEWIRE_CGROUP/cgroup.procs" || exit 126; fi
unset RATEWIRE_CGROUP
"#;

/// Continues as a program of the same user.
const BECOME: &str = r#"exec "$@""#;

/// Waits for a program of another user.
const WATCH: &str = r#""$@"
exit $?"#;

/// Command of the program's user: enters the working directory `$1`, and becomes the scenario's
/// command `$2`.
const ENTER: &str = r#"cd -- "$1" || { echo "ratewire: this program starts in /: its user may not enter $1" >&2; cd /; }
exec sh -c "$2""#;

/// Variables of our environment that programs keep.
const KEPT: [&str; 3] = ["PATH", "TERM", "LANG"];

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) host: String,
    pub(crate) run: String,
    /// Name of the program's user.
    pub(crate) user: String,
    /// Whether the program sends or fetches a flow's data.
    pub(crate) makes_flow: bool,
    child: Child,
    /// File of the program's output.
    pub(crate) log: Option<PathBuf>,
    ended: Option<ExitStatus>,
}

/// Lets `setpriv` run what follows in a process namespace that ends with the thread that starts it.
fn in_namespace(setpriv: &mut Command) -> &mut Command {
    setpriv
        .args(["--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount-proc"])
        .arg("--kill-child=KILL")
}

/// A command that runs a program as a user, in a session without a terminal, with an environment of
/// its own.
pub(crate) fn as_user(user: &User, run: &str) -> Command {
    let mut command = Command::new("setpriv");
    in_namespace(&mut command).args(["sh", "-c"]);
    if user.is_root() {
        command.arg([JOIN, BECOME].concat()).arg("sh");
    } else {
        command.arg([JOIN, WATCH].concat()).args(["sh", "setpriv"]);
        command.args(["--reuid", &user.uid.to_string(), "--regid", &user.gid.to_string()]);
        let groups: Vec<String> = user.groups.iter().map(ToString::to_string).collect();
        match groups.is_empty() {
            true => command.arg("--clear-groups"),
            false => command.args(["--groups", &groups.join(",")]),
        };
        // Without new privileges, programs that are always root's (sudo, su) do not work.
        command.args(["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]);
        command.args(["--ambient-caps=-all", "--"]);
    }
    // A directory that was removed cannot be entered.
    let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
    command.args(["setsid", "sh", "-c", ENTER, "sh"]).arg(here).arg(run);
    command.env_clear().envs(user.environment());
    command.envs(KEPT.into_iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
    command
}

/// The caller's own shell: with all rights and the environment of this process, on its terminal.
fn own_shell(shell: &OsStr) -> Command {
    let mut command = Command::new("setpriv");
    let run = [JOIN, BECOME].concat();
    in_namespace(&mut command).args(["sh", "-c", &run, "sh", "sh", "-c"]).arg(shell);
    // The host may lack this folder.
    command.env_remove("TMPDIR");
    command
}

fn cannot_log(path: &Path, why: &io::Error) -> Error {
    let what = format!("cannot make the file {} for what a program writes", path.display());
    Error::new(what, "make room there, or choose another folder with --out").because(why)
}

/// Owner of a program.
#[derive(Debug)]
pub(crate) enum Role<'a> {
    /// The scenario: the program runs as this user and reads nothing. Its output is kept in a file,
    /// or nowhere.
    Scenario { user: &'a User, log: Option<PathBuf> },
    /// The caller, for a shell.
    Shell,
}

impl Program {
    /// Starts a program at a host.
    pub(crate) fn start(
        host: &Host,
        run: &str,
        cgroup: Option<&Path>,
        role: Role<'_>,
    ) -> Result<Program, Error> {
        let cannot = |e: io::Error| {
            let what = format!("cannot start {run:?} at {}", host.spec.name);
            Error::new(what, "it needs setpriv, setsid and unshare of util-linux").because(e)
        };
        let (mut command, log, user) = match role {
            Role::Shell => (own_shell(OsStr::new(run)), None, "root".to_string()),
            Role::Scenario { user, log } => {
                let mut command = as_user(user, run);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                if let Some(path) = &log {
                    // Programs may open /dev/stdout anew: both outputs are appended.
                    let file = File::options().append(true).create_new(true).open(path);
                    let file = file.map_err(|e| cannot_log(path, &e))?;
                    // To open the file they must own it, although not every file system has owners.
                    let _ = fchown(&file, Some(user.uid), Some(user.gid));
                    command.stderr(file.try_clone().map_err(cannot)?).stdout(file);
                }
                (command, log, user.label())
            }
        };
        command.env("RATEWIRE_CGROUP", cgroup.unwrap_or(Path::new("")));
        command.env("RATEWIRE_HOST", &host.spec.name);
        // A child is killed with the thread that started it: the host's.
        let child = host.run(move || command.spawn())?.map_err(cannot)?;
        let (name, run) = (host.spec.name.clone(), run.to_string());
        Ok(Program { host: name, run, user, makes_flow: false, child, log, ended: None })
    }

    /// Exit status, if the program has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Kills the program and everything that it started.
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
