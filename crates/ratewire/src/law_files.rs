//! Laws of shared objects, which scenarios and experiments name by their files.

use std::fs;
use std::path::Path;

use ratewire_laws::{LawFile, LawSet};

use crate::Error;
use crate::provenance::sha256;

/// The laws of this workspace, and the law of the shared object `path`, by this name and its own.
///
/// The object's code runs in this process, with all its rights.
///
/// # Errors
/// An error if the file cannot be read, is no law, or has the name of another law.
pub fn load_law(path: &str) -> Result<LawSet, Error> {
    let mut laws = LawSet::default();
    add(&mut laws, Path::new(""), path)?;
    Ok(laws)
}

/// Adds the laws of these files to a set; relative names are of `folder`.
///
/// # Errors
/// The first error, as [`load_law`]'s.
pub(crate) fn add_all(
    laws: &mut LawSet,
    folder: &Path,
    names: impl IntoIterator<Item = String>,
) -> Result<(), Error> {
    names.into_iter().try_for_each(|name| add(laws, folder, &name))
}

fn add(laws: &mut LawSet, folder: &Path, name: &str) -> Result<(), Error> {
    if laws.files().iter().any(|file| file.path == name) {
        return Ok(());
    }
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let plugin = ratewire_plugin::load(&path)?;
    // A relative name of the working folder means nothing in the files of results.
    let whole = match folder.as_os_str().is_empty() {
        true => path.canonicalize().unwrap_or(path).display().to_string(),
        false => name.to_string(),
    };
    let file = LawFile { law: plugin.info().name, path: whole, sha256: sha256(&bytes) };
    // One file may have several names.
    let is_known = |known: &LawFile| known.law == file.law && known.sha256 == file.sha256;
    if !laws.files().iter().any(is_known) {
        plugin.register(laws)?;
    }
    let as_named = LawFile { path: name.to_string(), ..file.clone() };
    laws.note_file(file);
    laws.note_file(as_named);
    Ok(())
}
