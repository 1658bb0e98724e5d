//! Makes sets of certificates.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use super::error::CertificateError;
use super::name::dns_name;
use crate::config::{Problem, check_name};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long certificates are valid: ten years.
const VALIDITY: Duration = DAY.saturating_mul(3653);
/// Certificates are valid from before they are made: clocks of hosts differ.
const CLOCKS_DIFFER: Duration = DAY;

/// A file of a set.
struct Output {
    file: PathBuf,
    text: String,
    /// Access rights.
    mode: u32,
}

/// Makes a set of certificates for these daemons, and writes it into `folder`. Returns the names of
/// the files. The authority's key is not kept: nobody can add to the set, and a daemon that joins
/// later needs a new one.
///
/// # Errors
/// If a daemon's name is not allowed, a file of the set exists and `overwrite` is false, or a file
/// cannot be written.
pub fn make(
    folder: &Path,
    daemons: &[&str],
    now: SystemTime,
    overwrite: bool,
) -> Result<Vec<PathBuf>, CertificateError> {
    for (number, daemon) in daemons.iter().enumerate() {
        check_name(daemon).map_err(CertificateError::Name)?;
        if daemons[..number].iter().any(|other| other.eq_ignore_ascii_case(daemon)) {
            let message = format!("two daemons are called {daemon:?}");
            let help = "give each daemon a name of its own; case does not matter".to_string();
            return Err(CertificateError::Name(Problem { place: None, message, help }));
        }
    }
    let outputs = outputs(folder, daemons, now).map_err(CertificateError::Make)?;
    if let Some(known) = outputs.iter().find(|output| !overwrite && output.file.exists()) {
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

/// The files of a new set. The authority's comes last: with it the set is whole.
fn outputs(folder: &Path, daemons: &[&str], now: SystemTime) -> Result<Vec<Output>, rcgen::Error> {
    let mut authority = params("Ratewire groups", Vec::new(), now)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    // Keys are on the curve P-256.
    let key = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&key)?.pem();
    let issuer = Issuer::new(authority, key);
    let mut outputs = Vec::new();
    for daemon in daemons {
        let names = dns_name(daemon).map(|name| name.as_ref().to_string());
        let mut params = params(daemon, names.into_iter().collect(), now)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let pem = params.signed_by(&key, &issuer)?.pem();
        let file = |ending| folder.join(format!("{daemon}.{ending}"));
        outputs.push(Output { file: file("key"), text: key.serialize_pem(), mode: 0o600 });
        outputs.push(Output { file: file("pem"), text: pem, mode: 0o644 });
    }
    outputs.push(Output { file: folder.join("ca.pem"), text: authority_pem, mode: 0o644 });
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
