//! Names of daemons in certificates.

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, DnsName, ServerName};
use rustls::server::ParsedCertificate;

/// Ends the DNS names of all daemons.
const DOMAIN: &str = "groups.ratewire";

/// DNS name of a daemon; `None` if no daemon can have this name.
pub(super) fn dns_name(daemon: &str) -> Option<DnsName<'static>> {
    DnsName::try_from(format!("{daemon}.{DOMAIN}")).ok()
}

/// The daemon whose certificate this is, among `daemons`. `None` if it is of none of them, or of
/// several: then it does not tell who the peer is.
pub(super) fn daemon_of<'a>(
    certificate: &CertificateDer<'_>,
    daemons: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let certificate = ParsedCertificate::try_from(certificate).ok()?;
    let is_named = |daemon: &&str| {
        let name = dns_name(daemon).map(ServerName::DnsName);
        name.is_some_and(|name| verify_server_name(&certificate, &name).is_ok())
    };
    let mut named = daemons.into_iter().filter(is_named);
    let only = named.next()?;
    named.next().is_none().then_some(only)
}
