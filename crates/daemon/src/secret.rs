//! Files that only their owner should read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tracing::warn;

/// Whether other users may read a file, by its mode.
pub fn others_may_read(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}

/// Warns in the log if other users may read a file.
pub fn warn_if_others_may_read(file: &Path) {
    if others_may_read(file) {
        let file = file.display();
        warn!(target: "ratewire_daemon", %file, "other users may read this secret: chmod 600 it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_tells_who_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        assert!(!others_may_read(&file), "it is not there");
        fs::write(&file, "secret").unwrap();
        for (mode, is_open) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(others_may_read(&file), is_open, "{mode:o}");
        }
    }
}
