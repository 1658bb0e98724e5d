//! Laws of shared objects, which scenarios and experiments name by their files.

#[cfg(feature = "plugin")]
mod load;
#[cfg(not(feature = "plugin"))]
#[path = "no_load.rs"]
mod load;

use std::path::Path;

use ratewire_laws::{LawFile, LawSet};

use crate::Error;

/// The laws of this workspace, and the law of the shared object `path`, by this name and its own.
///
/// The object's code runs in this process, with all its rights.
///
/// # Errors
/// An error if the file cannot be read, is no law, or has the name of another law.
pub fn load_law(path: &str) -> Result<LawSet, Error> {
    let mut laws = LawSet::default();
    add_law(&mut laws, path)?;
    Ok(laws)
}

/// Adds the law of the shared object `path` to a set, as [`load_law`].
///
/// # Errors
/// As [`load_law`].
pub fn add_law(laws: &mut LawSet, path: &str) -> Result<(), Error> {
    load::add(laws, Path::new(""), path)
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
    names.into_iter().try_for_each(|name| load::add(laws, folder, &name))
}

/// Makes laws of a set known by the names that the scenario in the file `path`, with these values,
/// has for their files. Relative names are of the scenario's folder, which need not be the working
/// folder: `./mylaw.so` of `../mylaw/scenario.toml` is the loaded `../mylaw/mylaw.so`.
///
/// Loads nothing: names of other files stay unknown.
pub fn know_law_files(laws: &mut LawSet, path: &Path, values: &[(String, String)]) {
    // A file that cannot be read is refused as the scenario is loaded.
    let text = ratewire_inputs::read(path).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    for name in ratewire_scenario::law_files(&text, values) {
        let Ok(whole) = folder.join(&name).canonicalize() else { continue };
        if laws.files().iter().any(|file| file.path == name) {
            continue;
        }
        let known = laws.files().iter().find(|file| Path::new(&file.path) == whole);
        if let Some(known) = known.cloned() {
            laws.note_file(LawFile { path: name, ..known });
        }
    }
}
