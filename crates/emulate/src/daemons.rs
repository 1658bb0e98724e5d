//! Ratewire's programs that run as daemons, their clients and ends of connections.

use std::env;
use std::path::PathBuf;

use ratewire_sim::setup::Setup;

use crate::{Error, acp};

/// The program of overlays: group daemons and clients of them.
pub(crate) const GROUPS: &str = "ratewire-groups";
/// The program of ensembles: switches and ends of connections.
pub(crate) const SWITCH: &str = "ratewire-switch";

/// One of Ratewire's programs: the one beside this program, or the first in `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let own = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(name)));
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut all = own.into_iter().chain(env::split_paths(&folders).map(|folder| folder.join(name)));
    all.find(|program| program.is_file())
}

/// One of Ratewire's programs, or an error with the remedy.
pub(crate) fn program(name: &str) -> Result<PathBuf, Error> {
    find_program(name).ok_or_else(|| {
        let what = format!(
            "the program {name}, which this run starts, is neither beside this program nor in PATH"
        );
        Error::new(what, remedy(name))
    })
}

/// Checks that this machine has the programs of a setup's overlay and ensembles.
pub(crate) fn check(setup: &Setup) -> Result<(), Error> {
    needed(setup).try_for_each(|name| program(name).map(|_| ()))
}

/// Names of the programs that a setup's overlay and ensembles need.
pub(crate) fn needed(setup: &Setup) -> impl Iterator<Item = &'static str> {
    let groups = setup.overlay.is_some().then_some(GROUPS);
    groups.into_iter().chain(acp::is_used(setup).then_some(SWITCH))
}

/// How to get one of these programs.
pub(crate) fn remedy(name: &str) -> String {
    let target = name.trim_start_matches("ratewire-");
    format!(
        "build it in Ratewire's repository (`make {target}`), and install it (`sudo make install`) or \
         put its folder into PATH; sudo has a PATH of its own"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_has_a_remedy() {
        let error = program("ratewire-nothing").unwrap_err();
        assert!(error.to_string().contains("ratewire-nothing"), "{error}");
        assert!(remedy("ratewire-groups").contains("`make groups`"));
    }

    #[test]
    fn a_program_beside_this_one_is_found() {
        let own = env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        assert_eq!(find_program(name).as_deref(), Some(&*own));
        assert!(find_program("sh").is_some_and(|path| path.ends_with("sh")));
    }
}
