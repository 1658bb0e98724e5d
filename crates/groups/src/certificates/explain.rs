//! Says in words why a handshake has failed, with the remedy.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// Why a handshake has failed, and what to do. `None` if the error speaks for itself.
pub(crate) fn explain(error: &io::Error) -> Option<&'static str> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        // All authorities have one name, so a wrong one shows by the signature.
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => Some(
            "the other daemon's certificate was not made with the authority of this daemon's set; \
             make one set with `ratewire-groups certificates`, copy it to all hosts and restart",
        ),
        Error::AlertReceived(AlertDescription::UnknownCA | AlertDescription::DecryptError) => Some(
            "the other daemon refuses this one's certificate: it was not made with the authority \
             of its set; make one set with `ratewire-groups certificates`, copy it to all hosts \
             and restart",
        ),
        Error::InvalidMessage(_) => Some(
            "the peer does not speak TLS; check its `address` in groups.toml, and that both \
             daemons use `certificates` or neither does",
        ),
        _ => None,
    }
}
