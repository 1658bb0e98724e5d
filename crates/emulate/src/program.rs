//! Programs in hosts.
//!
//! Each has a process namespace of its own, whose first process belongs to root. That process is
//! killed with the thread that started it, that is, with us, however we end. All others of the
//! namespace are killed with it, whoever's they are. The signal is set on root's process, as the
//! kernel forgets it of a process that changes its user.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::Error;
use crate::host::Host;
use crate::user::User;

/// What root runs inside: gets into the control group, if there is one. `ENTER` or a shell follows.
const JOIN: &str = r#"if [ -n "$RATEWIRE_CGROUP" ]; then echo 0 > "$RATEWIRE_CGROUP/cgroup.procs" || exit 126; fi
unset RATEWIRE_CGROUP
"#;

/// Goes on as a program of the same user.
const BECOME: &str = r#"exec "$@""#;

/// Waits for a program of another user.
const WATCH: &str = r#""$@"
exit $?"#;

/// What the program's user runs: enters the working directory `$1`, and becomes what the scenario
/// says, `$2`.
const ENTER: &str = r#"cd -- "$1" || { echo "ratewire: this program starts in /: its user may not enter $1" >&2; cd /; }
exec sh -c "$2""#;

/// What programs keep of our environment.
const KEPT: [&str; 3] = ["PATH", "TERM", "LANG"];

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) host: String,
    pub(crate) run: String,
    /// What its user is called.
    pub(crate) user: String,
    /// Whether a flow's data is what it sends or fetches.
    pub(crate) makes_flow: bool,
    child: Child,
    /// What it writes.
    pub(crate) log: Option<PathBuf>,
    ended: Option<ExitStatus>,
}

/// Has `setpriv` run what follows in a process namespace that ends with the thread that starts it.
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
        // Without new privileges, programs that are root's whoever starts them (sudo, su) are not.
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
    // A folder that the host may not have.
    command.env_remove("TMPDIR");
    command
}

fn cannot_log(path: &Path, why: &io::Error) -> Error {
    let what = format!("cannot make the file {} for what a program writes", path.display());
    Error::new(what, "make room there, or choose another folder with --out").because(why)
}

/// Whose a program is.
#[derive(Debug)]
pub(crate) enum Role<'a> {
    /// The scenario's: it runs as this user and reads nothing. What it writes is kept in a file, or
    /// nowhere.
    Scenario { user: &'a User, log: Option<PathBuf> },
    /// The caller's shell.
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
                    // Programs may open /dev/stdout anew: what they write there and here goes on at
                    // the end.
                    let file = File::options().append(true).create_new(true).open(path);
                    let file = file.map_err(|e| cannot_log(path, &e))?;
                    // To open it they must own it, though not every file system has owners.
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
