//! A daemon's certificate in use.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ratewire_daemon::secret::warn_if_others_may_read;
use ratewire_files::CERTIFICATES;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig, version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::error::CertificateError;
use super::name::{daemon_of, dns_name};

/// A daemon's certificate and key, and the authority that it trusts.
#[derive(Clone)]
pub struct Identity {
    acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl Identity {
    /// Reads the part of a set that a daemon needs: `ca.pem`, `NAME.pem` and `NAME.key`. Warns in
    /// the log if other users may read the key.
    ///
    /// # Errors
    /// If a file cannot be read, the key is not that of the certificate, or the certificate is not
    /// that of the daemon.
    pub fn load(folder: &Path, daemon: &str) -> Result<Identity, CertificateError> {
        let [ca, pem, key] = ["ca.pem", &format!("{daemon}.pem"), &format!("{daemon}.key")]
            .map(|name| folder.join(name));
        let chain = certificates(&pem)?;
        if daemon_of(&chain[0], [daemon]).is_none() {
            let wanted = dns_name(daemon).map_or_else(String::new, |n| n.as_ref().to_string());
            let source = rustls::Error::General(format!("the certificate is not of {wanted}"));
            return Err(CertificateError::Unusable(pem, source));
        }
        warn_if_others_may_read(&key);
        let key_der: PrivateKeyDer<'static> = first(&key)?;
        let mut roots = RootCertStore::empty();
        for root in certificates(&ca)? {
            roots.add(root).map_err(CertificateError::unusable(&ca))?;
        }
        let unusable_root = |error: rustls::server::VerifierBuilderError| {
            let source = rustls::Error::General(error.to_string());
            CertificateError::Unusable(ca.clone(), source)
        };
        let (roots, provider) = (Arc::new(roots), Arc::new(ring::default_provider()));
        let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone());
        let clients = clients.build().map_err(unusable_root)?;
        let servers = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
        let servers = servers.build().map_err(unusable_root)?;
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(CertificateError::unusable(&pem))?
            .with_client_cert_verifier(clients)
            .with_single_cert(chain.clone(), key_der.clone_key())
            .map_err(CertificateError::unusable(&key))?;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .map_err(CertificateError::unusable(&pem))?
            .with_webpki_verifier(servers)
            .with_client_auth_cert(chain, key_der)
            .map_err(CertificateError::unusable(&key))?;
        // No session is resumed: links live long, and every handshake checks both certificates.
        server.send_tls13_tickets = 0;
        client.resumption = Resumption::disabled();
        Ok(Identity { acceptor: Arc::new(server).into(), connector: Arc::new(client).into() })
    }

    /// Secures a connection to the daemon called `daemon`. That daemon may still refuse this one:
    /// reading then fails.
    ///
    /// # Errors
    /// If the handshake fails, or the peer is not that daemon.
    pub async fn connect<S>(&self, stream: S, daemon: &str) -> io::Result<client::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = dns_name(daemon).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("no daemon is called {daemon:?}"))
        })?;
        self.connector.connect(ServerName::DnsName(name), stream).await
    }

    /// Secures a connection, and says from which of these daemons; `None` if from a daemon that has
    /// a certificate of the authority and is none of these.
    ///
    /// # Errors
    /// If the handshake fails.
    pub async fn accept<'a, S>(
        &self,
        stream: S,
        daemons: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<(server::TlsStream<S>, Option<&'a str>)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = self.acceptor.accept(stream).await?;
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let daemon = certificate.and_then(|certificate| daemon_of(certificate, daemons));
        Ok((stream, daemon))
    }
}

/// The first certificate, or the first key, in a file.
pub(super) fn first<T: PemObject>(file: &Path) -> Result<T, CertificateError> {
    let text = ratewire_files::read(file, CERTIFICATES).map_err(CertificateError::file(file))?;
    T::from_pem_slice(&text).map_err(CertificateError::read(file))
}

/// The certificates in a file, at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let text = ratewire_files::read(file, CERTIFICATES).map_err(CertificateError::file(file))?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(CertificateError::read(file))?;
    if found.is_empty() {
        return Err(CertificateError::Read(file.to_path_buf(), pem::Error::NoItemsFound));
    }
    Ok(found)
}
