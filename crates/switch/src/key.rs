//! Files of keys: 32 random bytes as 64 hexadecimal digits, which both ends of a connection have.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ratewire_acp::{Credentials, KeyPair};
use ratewire_daemon::secret::warn_if_others_may_read;
use ratewire_files::{SECRET, read_text};

/// A file of a key.
#[derive(Debug)]
pub struct KeyFile;

/// A file of a key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It cannot be read or written.
    #[error("the key {}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// It has no key.
    #[error("the file {} has no key", .0.display())]
    Malformed(PathBuf),
    /// The kernel gives no random numbers.
    #[error("the kernel gives no random numbers")]
    Random,
}

impl KeyError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            KeyError::Io(_, error) if error.kind() == io::ErrorKind::AlreadyExists => {
                "name another file, or remove this one if nobody uses its key"
            }
            KeyError::Io(..) => "make a key with `ratewire-switch key FILE`",
            KeyError::Malformed(_) => {
                "a key is 64 hexadecimal digits; `ratewire-switch key FILE` makes one"
            }
            KeyError::Random => "try again when the system has started",
        }
    }
}

impl KeyFile {
    /// Reads a key. Warns in the log if other users may read it, too.
    ///
    /// # Errors
    /// When the file cannot be read, or has no key.
    pub fn read(path: &Path) -> Result<Credentials, KeyError> {
        let text = read_text(path, SECRET);
        let text = text.map_err(|error| KeyError::Io(path.to_path_buf(), error.into()))?;
        warn_if_others_may_read(path);
        let key = parse(text.trim()).ok_or_else(|| KeyError::Malformed(path.to_path_buf()))?;
        Ok(Credentials::Shared(key))
    }

    /// Makes a key in a new file that only its owner may read.
    ///
    /// # Errors
    /// When the file is there already or cannot be written.
    pub fn make(path: &Path) -> Result<(), KeyError> {
        let key = KeyPair::generate().map_err(|_| KeyError::Random)?.private;
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{digits}"));
        written.map_err(|error| KeyError::Io(path.to_path_buf(), error))
    }
}

fn parse(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switch.key");
        KeyFile::make(&path).unwrap();
        let Ok(Credentials::Shared(key)) = KeyFile::read(&path) else { panic!("a key") };
        assert!(key.iter().any(|byte| *byte != 0));
        let again = KeyFile::make(&path).unwrap_err();
        assert!(again.help().contains("another file"), "{again}");
        for text in ["", "ab", &"g".repeat(64), &"ä".repeat(32), &"a".repeat(63)] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(KeyFile::read(&path), Err(KeyError::Malformed(_))), "{text:?}");
        }
        assert!(matches!(KeyFile::read(&folder.path().join("none")), Err(KeyError::Io(..))));
    }
}
