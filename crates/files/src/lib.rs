//! Files that users name, read whole: regular files of bounded length, and nothing else.
//!
//! A device may never end, and a pipe may never begin: both are refused at once. The opened file is
//! examined, not its path, so that nothing can take its place in between.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Most bytes of a file with one key or token.
pub const SECRET: u64 = 4 << 10;
/// Most bytes of a file with certificates.
pub const CERTIFICATES: u64 = 1 << 20;
/// Most bytes of a daemon's configuration: a mesh of 500 daemons has about 8 MB.
pub const CONFIGURATION: u64 = 16 << 20;
/// Most bytes of a scenario, and of each file that it names: a trace of 104 days at 1 Mbit/s.
pub const INPUT: u64 = 64 << 20;
/// Most bytes of a routing module in WebAssembly.
pub const MODULE: u64 = 256 << 10;
/// Most bytes of a law in a shared object.
pub const LAW: u64 = 256 << 20;
/// Most bytes of a page of results, or of its JSON.
pub const RESULTS: u64 = 256 << 20;
/// Most bytes of a table of samples.
pub const TABLE: u64 = 4 << 30;

/// A file that was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened or read.
    #[error("{}", said(.0))]
    Io(#[from] io::Error),
    /// It is not a regular file, but what the text says.
    #[error("not a regular file, but {0}")]
    NotRegular(&'static str),
    /// It has more than this number of bytes.
    #[error("longer than {}", size(*.0))]
    TooLong(u64),
    /// It is not UTF-8 from this byte on, counted from 0.
    #[error("not UTF-8 text: byte {0} is wrong")]
    NotText(usize),
}

impl FileError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            FileError::Io(error) if error.kind() == ErrorKind::PermissionDenied => {
                "give this user the right to read the file"
            }
            FileError::Io(_) => "name a file that exists and that this user may read",
            FileError::NotRegular("a folder") => "name a file in it",
            FileError::NotRegular(_) => "copy its content into a regular file",
            FileError::TooLong(_) => "name another file, or leave out what is not needed",
            FileError::NotText(_) => {
                "convert the file (iconv -t UTF-8), or unpack it if it is compressed"
            }
        }
    }
}

/// What the system says, or the error and its remedy.
impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        let kind = match error {
            FileError::Io(error) => return error,
            FileError::NotRegular("a folder") => ErrorKind::IsADirectory,
            FileError::NotRegular(_) => ErrorKind::InvalidInput,
            FileError::TooLong(_) => ErrorKind::FileTooLarge,
            FileError::NotText(_) => ErrorKind::InvalidData,
        };
        io::Error::new(kind, format!("{error}; {}", error.help()))
    }
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_string(),
        _ => error.to_string(),
    }
}

/// A limit in words.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// Opens a regular file to be read.
///
/// # Errors
/// [`FileError`], without waiting for a pipe or a device.
pub fn open(path: &Path) -> Result<File, FileError> {
    // Opening a pipe would wait for a writer, and a terminal would become that of the process.
    let mut options = File::options();
    let opened = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => FileError::NotRegular("a socket or a device"),
        _ => FileError::Io(error),
    })?;
    let kind = file.metadata()?.file_type();
    match () {
        () if kind.is_file() => Ok(file),
        () if kind.is_dir() => Err(FileError::NotRegular("a folder")),
        () if kind.is_fifo() => Err(FileError::NotRegular("a pipe")),
        () => Err(FileError::NotRegular("a device")),
    }
}

/// The content of a regular file that has at most this number of bytes.
///
/// # Errors
/// As [`open`], and if the file is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(FileError::TooLong(most));
    }
    // A file may grow while it is read, and files below `/proc` state no length.
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(FileError::TooLong(most)),
        false => Ok(bytes),
    }
}

/// As [`read`], for a file of UTF-8 text.
///
/// # Errors
/// As [`read`], and if the file is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String, FileError> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| FileError::NotText(error.utf8_error().valid_up_to()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_regular_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(error.to_string(), "longer than 4 bytes");
        let error = io::Error::from(error);
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let said = "longer than 4 bytes; name another file, or leave out what is not needed";
        assert_eq!(error.to_string(), said);
        fs::write(&path, b"ab\xff").unwrap();
        let error = read_text(&path, 5).unwrap_err();
        assert_eq!(error.to_string(), "not UTF-8 text: byte 2 is wrong");
        std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert_eq!(read(&folder.path().join("link"), 5).unwrap(), b"ab\xff");
    }

    #[test]
    fn a_file_that_states_no_length_is_read_up_to_its_limit() {
        assert!(read_text(Path::new("/proc/self/status"), SECRET).unwrap().starts_with("Name:"));
        let error = read(Path::new("/proc/self/status"), 10).unwrap_err();
        assert!(matches!(error, FileError::TooLong(10)), "{error}");
    }

    #[test]
    fn what_may_never_end_or_begin_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, said) in [
            (Path::new("/dev/zero"), "not a regular file, but a device"),
            (&pipe, "not a regular file, but a pipe"),
            (&socket, "not a regular file, but a socket or a device"),
            (folder.path(), "not a regular file, but a folder"),
            (&folder.path().join("none"), "no such file"),
        ] {
            let error = read(path, INPUT).unwrap_err();
            assert_eq!(error.to_string(), said);
            assert!(!error.help().is_empty());
        }
    }

    #[test]
    fn limits_are_said_in_words() {
        assert_eq!([SECRET, INPUT, 5].map(size), ["4 KiB", "64 MiB", "5 bytes"]);
    }
}
