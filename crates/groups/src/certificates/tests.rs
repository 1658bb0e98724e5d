use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, version};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_rustls::TlsConnector;

use super::name::{daemon_of, dns_name};
use super::*;

const NAMES: [&str; 3] = ["alpha", "beta_2", "0x7f"];

/// Certificates are checked against the clock of the host.
fn now() -> SystemTime {
    #[expect(clippy::disallowed_methods)]
    SystemTime::now()
}

fn set(names: &[&str], now: SystemTime) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), names, now, Making::default()).unwrap();
    folder
}

fn load(folder: &TempDir, name: &str) -> Identity {
    Identity::load(folder.path(), name).unwrap()
}

/// A handshake in which `client` asks for the daemon called `asked`: what the client read after it,
/// and whom the server found.
async fn meet(
    client: &Identity,
    server: &Identity,
    asked: &str,
) -> (io::Result<u8>, io::Result<Option<&'static str>>) {
    let (near, far) = duplex(4096);
    let client = async {
        let mut stream = client.connect(near, asked).await?;
        stream.read_u8().await
    };
    let server = async {
        let (mut stream, name) = server.accept(far, NAMES).await?;
        stream.write_u8(7).await?;
        stream.flush().await?;
        Ok(name)
    };
    tokio::join!(client, server)
}

fn told<T: std::fmt::Debug>(result: &io::Result<T>) -> String {
    result.as_ref().unwrap_err().to_string()
}

#[tokio::test]
async fn daemons_of_a_set_know_each_other() {
    let set = set(&NAMES, now());
    for (client, server) in [(0, 1), (1, 2), (2, 0)] {
        let (client, server) = (NAMES[client], NAMES[server]);
        let (read, name) = meet(&load(&set, client), &load(&set, server), server).await;
        assert_eq!((read.unwrap(), name.unwrap()), (7, Some(client)));
    }
}

#[tokio::test]
async fn a_daemon_that_is_added_later_knows_the_others() {
    let set = tempfile::tempdir().unwrap();
    let making = Making { overwrites: false, keeps_key: true };
    make(set.path(), &["alpha"], now(), making).unwrap();
    let mode = fs::metadata(set.path().join("ca.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let old = fs::read(set.path().join("alpha.pem")).unwrap();
    let added = add(set.path(), &["alpha", "beta_2"], now()).unwrap();
    assert_eq!(added, ["beta_2.key", "beta_2.pem"].map(|name| set.path().join(name)));
    assert_eq!(fs::read(set.path().join("alpha.pem")).unwrap(), old);
    for (client, server) in [("alpha", "beta_2"), ("beta_2", "alpha")] {
        let (read, name) = meet(&load(&set, client), &load(&set, server), server).await;
        assert_eq!((read.unwrap(), name.unwrap()), (7, Some(client)));
    }
    let other = tempfile::tempdir().unwrap();
    make(other.path(), &["alpha"], now(), Making::default()).unwrap();
    let error = add(other.path(), &["beta_2"], now()).unwrap_err();
    assert!(error.help().contains("--keep-authority"), "{error}");
    fs::copy(set.path().join("ca.key"), other.path().join("ca.key")).unwrap();
    let error = add(other.path(), &["beta_2"], now()).unwrap_err();
    assert!(matches!(error, CertificateError::Unusable(..)), "{error}");
    assert!(!other.path().join("beta_2.pem").exists());
}

#[tokio::test]
async fn a_daemon_of_another_set_is_refused_on_both_sides() {
    let (ours, theirs) = (set(&NAMES, now()), set(&NAMES, now()));
    let (read, name) = meet(&load(&theirs, "alpha"), &load(&ours, "beta_2"), "beta_2").await;
    let ours_is_wrong = "the other daemon's certificate was not made with the authority of this";
    let theirs_is_wrong = "the other daemon refuses this one's certificate";
    let says = |error: Option<io::Error>, start| {
        let why = explain(&error.unwrap()).unwrap();
        assert!(why.starts_with(start) && why.contains("; make one set with `ratewire-groups"));
        assert!(why.len() < 300, "{why} does not fit the status");
    };
    says(read.err(), ours_is_wrong);
    says(name.err(), theirs_is_wrong);

    // A client that trusts the server's authority, but is not of its set.
    let mixed = set(&NAMES, now());
    fs::copy(ours.path().join("ca.pem"), mixed.path().join("ca.pem")).unwrap();
    let (read, name) = meet(&load(&mixed, "alpha"), &load(&ours, "beta_2"), "beta_2").await;
    says(read.err(), theirs_is_wrong);
    says(name.err(), ours_is_wrong);

    // One whose authority has another name, too.
    let other = tempfile::tempdir().unwrap();
    fs::copy(theirs.path().join("alpha.pem"), other.path().join("ca.pem")).unwrap();
    for file in ["alpha.pem", "alpha.key"] {
        fs::copy(theirs.path().join(file), other.path().join(file)).unwrap();
    }
    let (read, name) = meet(&load(&other, "alpha"), &load(&ours, "beta_2"), "beta_2").await;
    says(read.err(), ours_is_wrong);
    says(name.err(), theirs_is_wrong);
}

#[tokio::test]
async fn a_peer_without_tls_is_told_apart() {
    let set = set(&NAMES, now());
    let (mut near, far) = duplex(4096);
    near.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let error = load(&set, "alpha").accept(far, NAMES).await.err().unwrap();
    assert!(explain(&error).unwrap().starts_with("the peer does not speak TLS"), "{error}");
}

#[tokio::test]
async fn another_daemon_than_the_one_asked_for_is_refused() {
    let set = set(&NAMES, now());
    let (read, _) = meet(&load(&set, "alpha"), &load(&set, "beta_2"), "0x7f").await;
    assert!(told(&read).contains("not valid for"), "{}", told(&read));
    let (read, _) = meet(&load(&set, "alpha"), &load(&set, "beta_2"), "a b").await;
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_daemon_that_the_configuration_lacks_is_told_apart() {
    let set = set(&["alpha", "stranger"], now());
    let (read, name) = meet(&load(&set, "stranger"), &load(&set, "alpha"), "alpha").await;
    assert_eq!((read.unwrap(), name.unwrap()), (7, None));
}

#[tokio::test]
async fn expired_certificates_are_refused() {
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    let old = set(&NAMES, now() - 11 * year);
    let (read, _) = meet(&load(&old, "alpha"), &load(&old, "beta_2"), "beta_2").await;
    assert!(told(&read).to_lowercase().contains("expired"), "{}", told(&read));
    let nearly = set(&NAMES, now() - 9 * year);
    let (read, _) = meet(&load(&nearly, "alpha"), &load(&nearly, "beta_2"), "beta_2").await;
    assert_eq!(read.unwrap(), 7);
}

/// What the server says to a client with this configuration.
async fn refusal(server: &Identity, client: ClientConfig) -> String {
    let (near, far) = duplex(4096);
    let name = ServerName::DnsName(dns_name("beta_2").unwrap());
    let client = async move {
        let mut stream = TlsConnector::from(Arc::new(client)).connect(name, near).await?;
        stream.read_u8().await
    };
    let (read, found) = tokio::join!(client, server.accept(far, NAMES));
    read.unwrap_err();
    found.map(|(_, name)| panic!("{name:?} was accepted")).unwrap_err().to_string()
}

#[tokio::test]
async fn clients_without_certificates_or_tls_1_3_are_refused() {
    let set = set(&NAMES, now());
    let file = |name: &str| set.path().join(name);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("ca.pem")).unwrap()).unwrap();
    let builder = |version| {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots.clone())
    };
    let server = load(&set, "beta_2");
    let nameless = builder(&version::TLS13).with_no_client_auth();
    let said = refusal(&server, nameless).await;
    assert!(said.contains("peer sent no certificates"), "{said}");
    let chain = vec![CertificateDer::from_pem_file(file("alpha.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("alpha.key")).unwrap();
    let old = builder(&version::TLS12).with_client_auth_cert(chain, key).unwrap();
    let said = refusal(&server, old).await;
    assert!(said.contains("Tls13") || said.contains("incompatible"), "{said}");
}

#[test]
fn sets_are_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("of/daemons");
    let mut files = make(&inside, &NAMES[..1], now(), Making::default()).unwrap();
    files.sort();
    assert_eq!(files, ["alpha.key", "alpha.pem", "ca.pem"].map(|name| inside.join(name)));
    let mode = |name: &str| fs::metadata(inside.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("alpha.key")], [0o700, 0o600]);
    let texts = || files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    let before = texts();
    let error = make(&inside, &NAMES, now(), Making::default()).unwrap_err();
    assert!(error.to_string().contains("alpha.key exists"), "{error}");
    assert_eq!((texts(), fs::read_dir(&inside).unwrap().count()), (before.clone(), 3));

    // What a run that was interrupted left does not matter.
    fs::write(inside.join("alpha.key.new"), "").unwrap();
    make(&inside, &NAMES[..1], now(), Making { overwrites: true, keeps_key: false }).unwrap();
    assert_eq!([mode("alpha.key"), fs::read_dir(&inside).unwrap().count() as u32], [0o600, 3]);
    assert!(texts().iter().zip(&before).all(|(new, old)| new != old));
}

#[test]
fn a_set_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    // Cannot be replaced by a file.
    fs::create_dir_all(folder.path().join("ca.pem.new/full")).unwrap();
    let error = make(folder.path(), &NAMES, now(), Making::default()).unwrap_err();
    assert!(error.to_string().contains("ca.pem cannot be written"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn names_are_checked_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for names in [&["a/b"][..], &["Ca"], &[""], &["a", "b", "A"]] {
        let error = make(folder.path(), names, now(), Making::default()).unwrap_err();
        assert!(matches!(error, CertificateError::Name(_)), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_used_is_named() {
    let set = set(&NAMES, now());
    let file = |name: &str| set.path().join(name);
    let wrong = |name| {
        let error = Identity::load(set.path(), name).err().unwrap();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(!error.to_string().contains(&cause) && !error.help().is_empty(), "{error}");
        format!("{error}: {cause}")
    };
    assert!(wrong("gamma").contains("gamma.pem cannot be read"), "{}", wrong("gamma"));
    fs::copy(file("beta_2.key"), file("alpha.key")).unwrap();
    assert!(wrong("alpha").contains("alpha.key cannot be used"), "{}", wrong("alpha"));
    fs::copy(file("beta_2.pem"), file("alpha.pem")).unwrap();
    assert!(wrong("alpha").contains("the certificate is not of alpha.groups.ratewire"));
    fs::write(file("alpha.pem"), "nothing").unwrap();
    assert!(wrong("alpha").contains("alpha.pem cannot be read"), "{}", wrong("alpha"));
    fs::write(file("ca.pem"), "nothing").unwrap();
    assert!(wrong("beta_2").contains("ca.pem cannot be read"), "{}", wrong("beta_2"));
}

#[test]
fn a_certificate_of_several_daemons_is_of_none() {
    let key = rcgen::KeyPair::generate().unwrap();
    let of = |names: &[&str]| {
        let names: Vec<String> =
            names.iter().map(|name| format!("{name}.groups.ratewire")).collect();
        rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap().der().clone()
    };
    assert_eq!(daemon_of(&of(&["alpha"]), NAMES), Some("alpha"));
    assert_eq!(daemon_of(&of(&["ALPHA"]), NAMES), Some("alpha"));
    assert_eq!(daemon_of(&of(&["alpha", "beta_2"]), NAMES), None);
    assert_eq!(daemon_of(&of(&["*"]), NAMES), None);
    assert_eq!(daemon_of(&of(&[]), NAMES), None);
    assert_eq!(daemon_of(&CertificateDer::from_slice(b"none"), NAMES), None);
}
