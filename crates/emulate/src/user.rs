//! Users of this machine that programs run as.
//!
//! A scenario may be a stranger's. Its programs have the rights of the user who called `sudo`, or
//! of `nobody` if root did not come by `sudo`. Root or any other user needs two consents: the
//! scenario's and the command line's.

use std::ffi::{CString, OsString};
use std::io;
use std::path::PathBuf;

use nix::unistd::{Gid, Uid, User as Entry, getgid, getgrouplist, getuid};

use crate::Error;

/// The user without rights, if the system's database has no such name.
const NOBODY: u32 = 65534;

/// A user that programs are started as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// `None` for a number without a name.
    name: Option<String>,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Supplementary groups.
    pub(crate) groups: Vec<u32>,
    pub(crate) home: PathBuf,
    pub(crate) shell: PathBuf,
}

/// The users that a scenario's programs may run as.
#[derive(Clone, Debug)]
pub struct Users {
    /// The user if the scenario names none.
    own: User,
    /// Users that the command line allows as well.
    allowed: Vec<User>,
}

impl User {
    fn root() -> User {
        let (home, shell) = (PathBuf::from("/root"), PathBuf::from("/bin/sh"));
        let found = Entry::from_uid(Uid::from_raw(0)).ok().flatten();
        let (home, shell) = found.map_or((home, shell), |entry| (entry.dir, entry.shell));
        User { name: Some("root".into()), uid: 0, gid: 0, groups: vec![0], home, shell }
    }

    pub(crate) fn nobody() -> User {
        let entry = named("nobody").ok().flatten();
        entry.filter(|user| !user.is_root()).unwrap_or_else(|| User::numbered(NOBODY, NOBODY))
    }

    /// A user known only by two numbers.
    fn numbered(uid: u32, gid: u32) -> User {
        let (home, shell) = (PathBuf::from("/"), PathBuf::from("/bin/sh"));
        let name = (uid == NOBODY).then(|| "nobody".to_string());
        User { name, uid, gid, groups: Vec::new(), home, shell }
    }

    /// A user of the database, with `gid` instead of the database's group.
    fn of(entry: Entry, gid: Option<u32>) -> io::Result<User> {
        let gid = gid.unwrap_or(entry.gid.as_raw());
        // The system takes the largest number as "unchanged", which would be root.
        if [entry.uid.as_raw(), gid].contains(&u32::MAX) {
            return Err(io::Error::other(format!("{} has no valid number", entry.name)));
        }
        let groups = getgrouplist(&CString::new(entry.name.as_str())?, Gid::from_raw(gid))?;
        let groups = groups.into_iter().map(Gid::as_raw).collect();
        let (uid, home, shell) = (entry.uid.as_raw(), entry.dir, entry.shell);
        Ok(User { name: Some(entry.name), uid, gid, groups, home, shell })
    }

    pub(crate) fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// Name of the user in messages.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("user {}", self.uid))
    }

    /// Variables by which programs know their user.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut all =
            vec![("HOME", self.home.clone().into()), ("SHELL", self.shell.clone().into())];
        let names = ["USER", "LOGNAME"].into_iter();
        all.extend(names.filter_map(|key| Some((key, self.name.clone()?.into()))));
        all
    }
}

/// A user by the name that the system's database has.
fn named(name: &str) -> io::Result<Option<User>> {
    match name {
        "root" => Ok(Some(User::root())),
        _ => Entry::from_name(name)?.map(|entry| User::of(entry, None)).transpose(),
    }
}

/// A user by number, in this group if one is given.
fn with_number(uid: u32, gid: Option<u32>) -> Result<User, Error> {
    let found = Entry::from_uid(Uid::from_raw(uid)).map_err(io::Error::from);
    let user = found.and_then(|found| found.map(|entry| User::of(entry, gid)).transpose());
    let user = user.map_err(|e| cannot_look_up(&format!("user {uid}")).because(e))?;
    let numbered = || gid.map(|gid| User::numbered(uid, gid));
    user.or_else(numbered).ok_or_else(|| {
        let what = format!("SUDO_UID is {uid}, a user that this machine does not know");
        Error::new(what, "set SUDO_GID to the number of a group too, or unset SUDO_UID")
    })
}

fn cannot_look_up(user: &str) -> Error {
    Error::new(format!("cannot look {user} up"), "see that `getent passwd` answers on this machine")
}

/// The user who starts the run: the real one, or for root the one who called `sudo`.
fn caller() -> Result<User, Error> {
    let real = getuid();
    if !real.is_root() {
        return with_number(real.as_raw(), Some(getgid().as_raw()));
    }
    let number = |key: &str| match std::env::var_os(key) {
        None => Ok(None),
        Some(text) => {
            let number = text.to_str().and_then(|text| text.parse().ok());
            number.filter(|number| *number != u32::MAX).map(Some).ok_or_else(|| {
                let what =
                    format!("{key} is {text:?}, which is not the number of a user or a group");
                Error::new(what, format!("unset {key}; sudo sets it"))
            })
        }
    };
    match number("SUDO_UID")? {
        None | Some(0) => Ok(User::nobody()),
        Some(uid) => with_number(uid, number("SUDO_GID")?),
    }
}

impl Default for Users {
    /// Allows `nobody` alone.
    fn default() -> Users {
        Users { own: User::nobody(), allowed: Vec::new() }
    }
}

impl Users {
    /// Allows the user who starts the run, and these.
    ///
    /// # Errors
    /// If one of them is unknown, or the environment's account of `sudo` is not valid.
    pub fn allowing(names: &[String]) -> Result<Users, Error> {
        let find = |name: &String| {
            let found = named(name).map_err(|e| cannot_look_up(name).because(e))?;
            found.ok_or_else(|| {
                let what = format!("--allow-user: no user of this machine is called {name:?}");
                Error::new(what, "`getent passwd` lists the users")
            })
        };
        Ok(Users { own: caller()?, allowed: names.iter().map(find).collect::<Result<_, _>>()? })
    }

    /// The user that a program runs as if the scenario names this one.
    ///
    /// # Errors
    /// If the user is unknown, or not allowed in this run.
    pub(crate) fn get(&self, name: Option<&str>) -> Result<&User, Error> {
        let Some(name) = name else { return Ok(&self.own) };
        // By names, not numbers: two users of one number may be in different groups.
        let mut all = std::iter::once(&self.own).chain(&self.allowed);
        let found = all.find(|user| user.name.as_deref() == Some(name));
        found.ok_or_else(|| self.refuse(name))
    }

    fn refuse(&self, name: &str) -> Error {
        let own = self.own.label();
        match named(name) {
            Ok(Some(_)) => Error::new(
                format!("this program is to run as {name}, which the command line does not allow"),
                format!(
                    "`--allow-user {name}`, if you trust the scenario with all that {name} may do; \
                     leave `user` and `root` out to run it as {own}"
                ),
            ),
            Ok(None) => Error::new(
                format!("no user of this machine is called {name:?}"),
                format!("`getent passwd` lists the users; leave `user` out to run it as {own}"),
            ),
            Err(e) => cannot_look_up(name).because(e),
        }
    }

    /// Message and remedy if a user that a scenario names is refused.
    pub fn refuses(&self, name: &str) -> Option<(String, String)> {
        self.get(Some(name)).err().map(Error::parts).map(|(what, help)| (what, help.into_owned()))
    }

    /// Name of a program's user if the scenario names this one.
    ///
    /// # Errors
    /// As [`Users::refuses`].
    pub fn name(&self, name: Option<&str>) -> Result<String, Error> {
        self.get(name).map(User::label)
    }
}
