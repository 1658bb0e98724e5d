//! What is wrong with certificates.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem;

use crate::config::Problem;

/// Remedy for a set that is not whole.
const MAKE: &str = "make a new set with `ratewire-groups certificates --config FILE`, and copy it \
                    to all hosts";

/// Certificates that cannot be made or used.
#[derive(Debug)]
pub enum CertificateError {
    /// A daemon cannot have its name. Nothing was written.
    Name(Problem),
    /// A set would overwrite this file. Nothing was written.
    Exists(PathBuf),
    /// A key or certificate could not be computed. Nothing was written.
    Make(rcgen::Error),
    /// A file could not be written. If files of an older set were there, some of them may have been
    /// replaced.
    Write(PathBuf, io::Error),
    /// A file is missing, or does not hold what its name says.
    Read(PathBuf, pem::Error),
    /// The key or a certificate in this file cannot be used.
    Unusable(PathBuf, rustls::Error),
}

impl CertificateError {
    pub(super) fn write(file: &Path) -> impl FnOnce(io::Error) -> CertificateError {
        |source| CertificateError::Write(file.to_path_buf(), source)
    }
    pub(super) fn read(file: &Path) -> impl FnOnce(pem::Error) -> CertificateError {
        |source| CertificateError::Read(file.to_path_buf(), source)
    }
    pub(super) fn unusable(file: &Path) -> impl FnOnce(rustls::Error) -> CertificateError {
        |source| CertificateError::Unusable(file.to_path_buf(), source)
    }
}

impl CertificateError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            CertificateError::Name(problem) => problem.help.clone(),
            CertificateError::Exists(_) => "choose another folder, or replace the set with \
                                            --overwrite: every daemon then needs its new files"
                .to_string(),
            CertificateError::Make(_) => {
                "try again: the system may have had no random numbers".to_string()
            }
            CertificateError::Write(..) => {
                "name a folder that this user may write, on a disk with free space".to_string()
            }
            CertificateError::Read(file, _) => {
                let name = file.file_name().unwrap_or_default().display();
                format!("copy {name} of the set there, or {MAKE}")
            }
            CertificateError::Unusable(..) => MAKE.to_string(),
        }
    }
}

/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`CertificateError::help`].
impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Name(problem) => f.write_str(&problem.message),
            CertificateError::Exists(file) => write!(f, "{} exists", file.display()),
            CertificateError::Make(_) => f.write_str("no certificate can be made"),
            CertificateError::Write(file, _) => write!(f, "{} cannot be written", file.display()),
            CertificateError::Read(file, _) => write!(f, "{} cannot be read", file.display()),
            CertificateError::Unusable(file, _) => write!(f, "{} cannot be used", file.display()),
        }
    }
}

impl std::error::Error for CertificateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CertificateError::Name(_) | CertificateError::Exists(_) => None,
            CertificateError::Make(source) => Some(source),
            CertificateError::Write(_, source) => Some(source),
            CertificateError::Read(_, source) => Some(source),
            CertificateError::Unusable(_, source) => Some(source),
        }
    }
}
