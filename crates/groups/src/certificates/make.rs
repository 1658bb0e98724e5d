//! Makes sets of certificates.

use std::fmt::Display;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;

use super::error::CertificateError;
use super::identity::first;
use super::name::dns_name;
use crate::config::{Problem, check_name};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long certificates are valid: ten years.
const VALIDITY: Duration = DAY.saturating_mul(3653);
/// Certificates are valid from before they are made: clocks of hosts differ.
const CLOCKS_DIFFER: Duration = DAY;
/// Files of the authority.
const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca.key";
/// Access rights of keys.
const PRIVATE: u32 = 0o600;

/// A file of a set.
struct Output {
    file: PathBuf,
    text: String,
    /// Access rights.
    mode: u32,
}

/// How a set is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Making {
    /// Whether files of another set are replaced.
    pub overwrites: bool,
    /// Whether the authority's key is written, too. Without it nobody can add to the set, and a
    /// daemon that joins later needs a new one.
    pub keeps_key: bool,
}

/// Makes a set of certificates for these daemons, and writes it into `folder`. Returns the names of
/// the files.
///
/// # Errors
/// If a daemon's name is not allowed, a file of the set exists and is not to be replaced, or a file
/// cannot be written.
pub fn make(
    folder: &Path,
    daemons: &[&str],
    now: SystemTime,
    making: Making,
) -> Result<Vec<PathBuf>, CertificateError> {
    let (params, key) = (authority(now), KeyPair::generate());
    let outputs = params.and_then(|params| {
        let (key, mut outputs) = (key?, Vec::new());
        if making.keeps_key {
            outputs.push(Output {
                file: folder.join(KEY),
                text: key.serialize_pem(),
                mode: PRIVATE,
            });
        }
        let text = params.self_signed(&key)?.pem();
        let authority_file = Output { file: folder.join(CERTIFICATE), text, mode: 0o644 };
        outputs.extend(of_daemons(folder, daemons, now, &Issuer::new(params, key))?);
        // With the authority's file, the set is whole.
        outputs.push(authority_file);
        Ok(outputs)
    });
    write_set(folder, daemons, outputs, making.overwrites)
}

/// Makes certificates for those of these daemons that have none in `folder`, with the key of the
/// set's authority, which is there. Returns the names of the files.
///
/// # Errors
/// As [`make`], and if the authority's key is not there, or not the key of `ca.pem`.
pub fn add(
    folder: &Path,
    daemons: &[&str],
    now: SystemTime,
) -> Result<Vec<PathBuf>, CertificateError> {
    let [key_file, file] = [KEY, CERTIFICATE].map(|name| folder.join(name));
    let (pem, key): (_, PrivateKeyDer<'static>) = (first(&file)?, first(&key_file)?);
    let key = KeyPair::try_from(&key).map_err(CertificateError::Make)?;
    let is_new = |daemon: &&&str| !folder.join(format!("{daemon}.pem")).exists();
    let new: Vec<&str> = daemons.iter().filter(is_new).copied().collect();
    let outputs =
        authority(now).and_then(|params| of_daemons(folder, &new, now, &Issuer::new(params, key)));
    let outputs = outputs.map_err(CertificateError::Make)?;
    check_chain(pem, &outputs, now).map_err(CertificateError::unusable(&key_file))?;
    write_set(folder, daemons, Ok(outputs), false)
}

/// Checks that the authority's certificate vouches for those of daemons: the key is its own, and it
/// is one that [`make`] has made.
fn check_chain(
    authority: CertificateDer<'static>,
    outputs: &[Output],
    now: SystemTime,
) -> Result<(), rustls::Error> {
    let general = |error: &dyn Display| rustls::Error::General(error.to_string());
    let mut roots = RootCertStore::empty();
    roots.add(authority)?;
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let verifier = verifier.map_err(|error| general(&error))?;
    let since = now.duration_since(SystemTime::UNIX_EPOCH).map_err(|error| general(&error))?;
    for output in outputs.iter().filter(|output| output.mode != PRIVATE) {
        let certificate = CertificateDer::from_pem_slice(output.text.as_bytes());
        let certificate = certificate.map_err(|error| general(&error))?;
        verifier.verify_client_cert(&certificate, &[], UnixTime::since_unix_epoch(since))?;
    }
    Ok(())
}

/// Checks the names of all daemons, and writes the files.
fn write_set(
    folder: &Path,
    daemons: &[&str],
    outputs: Result<Vec<Output>, rcgen::Error>,
    overwrites: bool,
) -> Result<Vec<PathBuf>, CertificateError> {
    for (number, daemon) in daemons.iter().enumerate() {
        check_name(daemon).map_err(CertificateError::Name)?;
        if daemons[..number].iter().any(|other| other.eq_ignore_ascii_case(daemon)) {
            let message = format!("two daemons are called {daemon:?}");
            let help = "give each daemon a name of its own; case does not matter".to_string();
            return Err(CertificateError::Name(Problem { place: None, message, help }));
        }
    }
    let outputs = outputs.map_err(CertificateError::Make)?;
    if let Some(known) = outputs.iter().find(|output| !overwrites && output.file.exists()) {
        return Err(CertificateError::Exists(known.file.clone()));
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(CertificateError::write(folder))?;
    let written = write_all(&outputs);
    if written.is_err() {
        // Those that were not written, or were renamed, are not there.
        outputs.iter().for_each(|output| _ = fs::remove_file(temporary(&output.file)));
    }
    written?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(CertificateError::write(folder))?;
    Ok(outputs.into_iter().map(|output| output.file).collect())
}

/// Parameters of the authority's certificate. Certificates that it signs take the issuer from them.
fn authority(now: SystemTime) -> Result<CertificateParams, rcgen::Error> {
    let mut authority = params("Ratewire groups", Vec::new(), now)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(authority)
}

/// Files of daemons. Keys are on the curve P-256.
fn of_daemons(
    folder: &Path,
    daemons: &[&str],
    now: SystemTime,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<Vec<Output>, rcgen::Error> {
    let mut outputs = Vec::new();
    for daemon in daemons {
        let names = dns_name(daemon).map(|name| name.as_ref().to_string());
        let mut params = params(daemon, names.into_iter().collect(), now)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let pem = params.signed_by(&key, issuer)?.pem();
        let file = |ending| folder.join(format!("{daemon}.{ending}"));
        outputs.push(Output { file: file("key"), text: key.serialize_pem(), mode: PRIVATE });
        outputs.push(Output { file: file("pem"), text: pem, mode: 0o644 });
    }
    Ok(outputs)
}

fn params(
    name: &str,
    dns_names: Vec<String>,
    now: SystemTime,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(dns_names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = (now - CLOCKS_DIFFER).into();
    params.not_after = (now + VALIDITY).into();
    Ok(params)
}

/// Writes all files under temporary names, then gives them their names.
fn write_all(outputs: &[Output]) -> Result<(), CertificateError> {
    for output in outputs {
        write(output).map_err(CertificateError::write(&output.file))?;
    }
    for Output { file, .. } in outputs {
        fs::rename(temporary(file), file).map_err(CertificateError::write(file))?;
    }
    Ok(())
}

fn write(output: &Output) -> io::Result<()> {
    let temporary = temporary(&output.file);
    match fs::remove_file(&temporary) {
        // Left by a run that was interrupted: its access rights may be others.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(output.mode).open(temporary)?;
    file.write_all(output.text.as_bytes())?;
    file.sync_all()
}

fn temporary(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(".new");
    name.into()
}
