//! What is wrong with certificates.

use std::io;
use std::path::{Path, PathBuf};

use ratewire_files::FileError;
use rustls::pki_types::pem;

use crate::config::Problem;

/// Remedy for a set that is not whole.
const MAKE: &str = "make a new set with `ratewire-groups certificates --config FILE`, and copy it \
                    to all hosts";

/// Certificates that cannot be made or used.
///
/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`CertificateError::help`].
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A daemon cannot have its name. Nothing was written.
    #[error("{}", .0.message)]
    Name(Problem),
    /// A set would overwrite this file. Nothing was written.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// A key or certificate could not be computed. Nothing was written.
    #[error("no certificate can be made")]
    Make(#[source] rcgen::Error),
    /// A file could not be written. If files of an older set were there, some of them may have been
    /// replaced.
    #[error("{} cannot be written", .0.display())]
    Write(PathBuf, #[source] io::Error),
    /// A file is missing, or cannot be read.
    #[error("{} cannot be read", .0.display())]
    File(PathBuf, #[source] FileError),
    /// A file does not hold what its name says.
    #[error("{} cannot be read", .0.display())]
    Read(PathBuf, #[source] pem::Error),
    /// The key or a certificate in this file cannot be used.
    #[error("{} cannot be used", .0.display())]
    Unusable(PathBuf, #[source] rustls::Error),
}

impl CertificateError {
    pub(super) fn write(file: &Path) -> impl FnOnce(io::Error) -> CertificateError {
        |source| CertificateError::Write(file.to_path_buf(), source)
    }
    pub(super) fn read(file: &Path) -> impl FnOnce(pem::Error) -> CertificateError {
        |source| CertificateError::Read(file.to_path_buf(), source)
    }
    pub(super) fn file(file: &Path) -> impl FnOnce(FileError) -> CertificateError {
        |source| CertificateError::File(file.to_path_buf(), source)
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
            CertificateError::Exists(_) => {
                "add daemons to the set with --add, choose another folder, \
                                            or replace the set with --overwrite: every daemon then \
                                            needs its new files"
                    .to_string()
            }
            CertificateError::Make(_) => {
                "try again: the system may have had no random numbers".to_string()
            }
            CertificateError::Write(..) => {
                "name a folder that this user may write, on a disk with free space".to_string()
            }
            CertificateError::File(file, _) | CertificateError::Read(file, _)
                if file.ends_with("ca.key") =>
            {
                "only a set made with --keep-authority can be added to: name the folder with its \
                 ca.key, or make a new set for all daemons"
                    .to_string()
            }
            CertificateError::File(file, _) | CertificateError::Read(file, _) => {
                let name = file.file_name().unwrap_or_default().display();
                format!("copy {name} of the set there, or {MAKE}")
            }
            CertificateError::Unusable(..) => MAKE.to_string(),
        }
    }
}
