//! Loads shared objects.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use ratewire_files::LAW;
use ratewire_laws::{LawFile, LawSet};
use ratewire_plugin::Plugin;

use crate::Error;
use crate::provenance::sha256;

/// Objects that this process has loaded, by path and content.
static LOADED: Mutex<BTreeMap<(PathBuf, String), Plugin>> = Mutex::new(BTreeMap::new());

/// Adds the law of a file, whose relative name is of `folder`, to a set that lacks it.
pub(super) fn add(laws: &mut LawSet, folder: &Path, name: &str) -> Result<(), Error> {
    if laws.files().iter().any(|file| file.path == name) {
        return Ok(());
    }
    let path = folder.join(name);
    let bytes = ratewire_files::read(&path, LAW);
    let bytes = bytes.map_err(|wrong| Error::Read { path: path.clone(), source: wrong.into() })?;
    let sha256 = sha256(&bytes);
    let plugin = plugin(&path, &bytes, &sha256)?;
    // A relative name of the working folder means nothing in the files of results.
    let whole = match folder.as_os_str().is_empty() {
        true => path.canonicalize().unwrap_or(path).display().to_string(),
        false => name.to_string(),
    };
    let file = LawFile { law: plugin.info().name, path: whole, sha256 };
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

/// The law of an object with this content. The system's loader takes a path once: an object that
/// was built again is loaded by a path of its own.
fn plugin(path: &Path, bytes: &[u8], sha256: &str) -> Result<Plugin, Error> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let key = (whole, sha256.to_string());
    if let Some(known) = loaded.get(&key) {
        return Ok(*known);
    }
    let plugin = if loaded.keys().any(|(known, _)| *known == key.0) {
        let copy = temp_dir().join(format!("ratewire-{}-{sha256}.so", process::id()));
        let unwritten = |source| Error::Write { path: copy.clone(), source };
        fs::write(&copy, bytes).map_err(unwritten)?;
        let plugin = ratewire_plugin::load(&copy);
        fs::remove_file(&copy).map_err(unwritten)?;
        plugin?
    } else {
        ratewire_plugin::load(path)?
    };
    loaded.insert(key, plugin);
    Ok(plugin)
}
