//! Stands in for `load.rs` in a build without the feature `plugin`, and refuses shared objects.

use std::path::Path;

use ratewire_laws::LawSet;

use crate::Error;
use crate::results::error::lacking;

/// Refuses a file that the set does not have.
pub(super) fn add(laws: &mut LawSet, _: &Path, name: &str) -> Result<(), Error> {
    if laws.files().iter().any(|file| file.path == name) {
        return Ok(());
    }
    Err(lacking(&format!("law {name}"), "this build loads no laws from files", "plugin"))
}
