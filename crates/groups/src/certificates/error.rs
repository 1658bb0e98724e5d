//! What is wrong with certificates.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem;

use crate::config::Problem;

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

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Name(Problem { message, help, .. }) => write!(f, "{message}; {help}"),
            CertificateError::Exists(file) => write!(
                f,
                "{} exists; choose another folder, or overwrite the set: every daemon then needs \
                 its new files",
                file.display()
            ),
            CertificateError::Make(source) => write!(f, "no certificate can be made: {source}"),
            CertificateError::Write(file, source) => {
                write!(f, "{} cannot be written: {source}", file.display())
            }
            CertificateError::Read(file, source) => {
                write!(f, "{} cannot be read: {source}; copy the set's file there", file.display())
            }
            CertificateError::Unusable(file, source) => {
                write!(f, "{} cannot be used: {source}; make a new set", file.display())
            }
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
