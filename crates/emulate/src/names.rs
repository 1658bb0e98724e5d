//! Names of hosts, in a file that takes the place of `/etc/hosts` at each and is removed once every
//! host has it; and the names that are allowed.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::{Builder, NamedTempFile};

use crate::Error;
use crate::host::Spec;
use crate::leftovers::sweep;

/// Begin of such a file's name; the process's number and a dash follow.
const PREFIX: &str = "ratewire-hosts-";
/// Name of every host for itself.
const LOCAL: &str = "localhost";
/// Bytes of the longest host name (RFC 1035).
const LONGEST: usize = 253;
/// Characters of a host's name in the name of a log.
const LONGEST_IN_LOG: usize = 64;

/// Checks that programs can reach a host by its name.
pub(crate) fn check(name: &str) -> Result<(), Error> {
    let help = format!(
        "programs know hosts by the names of their nodes, which stand in /etc/hosts: 1 to {LONGEST} bytes \
         without blanks, control characters or `#`, and not {LOCAL}; rename the node"
    );
    let shown: String = name.chars().take(LONGEST_IN_LOG).collect();
    let rest = if shown.len() < name.len() { "..." } else { "" };
    match what_is_wrong(name) {
        None => Ok(()),
        Some(what) => Err(Error::new(format!("the host {shown:?}{rest} has {what}"), help)),
    }
}

fn what_is_wrong(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("an empty name");
    }
    if name.len() > LONGEST {
        return Some("too long a name");
    }
    if name == LOCAL {
        return Some("the name that every host has for itself");
    }
    if name.contains(char::is_control) {
        return Some("a control character in its name");
    }
    if name.contains(char::is_whitespace) {
        return Some("a blank in its name");
    }
    name.contains('#').then_some("a `#` in its name")
}

/// Name of the n-th program's log, from 1, with the host's name: letters, digits, `.`, `_` and `-`
/// stay.
pub(crate) fn log(n: usize, host: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let host: String = host.chars().take(LONGEST_IN_LOG).map(plain).collect();
    // A character has at most 4 bytes, and a file name 255.
    format!("{n}-{}.txt", if host.len() > 200 { "host" } else { &host })
}

/// The file of hosts' names and addresses; remains of runs that were killed during set-up are
/// removed. Without programs, nobody asks for a name that is not allowed.
pub(crate) fn file(specs: &[Spec]) -> Result<NamedTempFile, Error> {
    let mut text = format!("127.0.0.1 {LOCAL}\n");
    for spec in specs.iter().filter(|spec| what_is_wrong(&spec.name).is_none()) {
        let _ = writeln!(text, "{} {}", spec.address, spec.name);
    }
    sweep(&std::env::temp_dir(), PREFIX, fs::remove_file);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let written = Builder::new().prefix(&prefix).tempfile().and_then(|file| {
        fs::write(file.path(), text)?;
        // Readable for programs that are not root's.
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
        Ok(file)
    });
    written.map_err(|e| {
        let folder = std::env::temp_dir();
        let help = format!("make room in {}, or name another folder: TMPDIR=...", folder.display());
        Error::new("cannot write the hosts' names to a file", help).because(e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_stand_in_etc_hosts_are_refused_with_what_is_allowed() {
        for name in ["s1", "New-York", "Zürich", "a/b", "..", "a.b_c"] {
            check(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let long = "x".repeat(254);
        for (name, what) in [
            ("", "\"\" has an empty name"),
            ("a\0b", "\"a\\0b\" has a control character"),
            ("a\nb", "\"a\\nb\" has a control character"),
            ("New York", "has a blank"),
            ("a\u{a0}b", "has a blank"),
            ("a#b", "has a `#`"),
            ("localhost", "every host has for itself"),
            (long.as_str(), "xxx\"... has too long a name"),
        ] {
            let said = check(name).expect_err(name).to_string();
            assert!(said.contains(what), "{name:?}: {said}");
            assert!(said.contains("help: ") && said.contains("rename the node"), "{said}");
        }
    }

    #[test]
    fn logs_are_files_of_their_folder_whatever_the_host_is_called() {
        assert_eq!(log(3, "d1.access"), "3-d1.access.txt");
        assert_eq!(log(1, "../../etc/x"), "1-.._.._etc_x.txt");
        assert_eq!(log(1, "/"), "1-_.txt");
        for name in ["x".repeat(1000), "ü".repeat(1000), "\u{20000}".repeat(1000)] {
            let log = log(usize::MAX, &name);
            assert!(log.len() <= 255 && log.ends_with(".txt"), "{log}");
        }
    }
}
