//! How the links between daemons are protected.

use std::path::{Path, PathBuf};

use ratewire_config::{At, Section};

use super::daemon::Daemon;

/// What protects the links between daemons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Mutual TLS, with the certificates in this folder.
    Certificates(PathBuf),
    /// Nothing: links of one host, or the file says so.
    Plaintext,
}

/// Reads `certificates` and `plaintext`. Paths are relative to `folder`.
pub(super) fn read(root: &Section<'_>, folder: &Path, daemons: &[At<Daemon>]) -> Protection {
    let certificates = root.text("certificates", "a folder, for example \"certificates\"");
    let is_plain = root.flag("plaintext");
    if let Some(At { value, span }) = &certificates {
        if is_plain {
            let message = "`certificates` and `plaintext` = true exclude each other";
            root.note(span, message, "take `plaintext` away to protect the links");
        }
        return Protection::Certificates(folder.join(value));
    }
    let is_open = |daemon: &&At<Daemon>| {
        daemon.value.address.is_some_and(|address| !address.ip().is_loopback())
    };
    if daemons.len() > 1
        && !is_plain
        && !root.has("certificates")
        && let Some(At { value, span }) = daemons.iter().find(is_open)
    {
        let message = format!("nothing protects the links of daemon `{}`", value.name);
        let help = "write certificates = \"FOLDER\" at the top of the file, or plaintext = true in \
                    a network where everybody may read and forge messages";
        root.note(span, message, help);
    }
    Protection::Plaintext
}
