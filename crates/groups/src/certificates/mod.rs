//! Certificates of daemons, and mutual TLS 1.3 between them.
//!
//! A set of certificates is a folder: `ca.pem` is the authority's, `NAME.pem` and `NAME.key` are a
//! daemon's. A certificate names its daemon as the DNS name `NAME.groups.ratewire`, which no
//! resolver knows. DNS names ignore case, so names of daemons differ by more than case.
//! [`make`] writes a set, [`add`] adds to one whose authority's key, `ca.key`, was kept, and
//! [`Identity`] uses a daemon's part of it. Sets of another authority serve as well.

mod error;
mod explain;
mod identity;
mod make;
mod name;
#[cfg(test)]
mod tests;

pub use error::CertificateError;
pub(crate) use explain::explain;
pub use identity::Identity;
pub use make::{Making, add, make};
