//! From bytes on disk to text: the only place that opens a file.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::InputError;
use crate::location::Location;

/// The largest file that is read, in bytes: 64 MiB. A trace of 104 days at 1 Mbit/s has this size.
pub const LARGEST: u64 = 64 << 20;

/// Reads a file into text for the parsers, with [`decode`]. The display name to hand on is
/// `path.display()`.
///
/// # Errors
/// When the file cannot be opened or read, is no regular file, is larger than 64 MiB, or is
/// not text.
pub fn read(path: &Path) -> Result<String, InputError> {
    let name = path.display().to_string();
    let at = Location::whole(&name);
    let refused = |error: std::io::Error| {
        at.error(
            match error.kind() {
                ErrorKind::NotFound => "no such file".to_string(),
                ErrorKind::IsADirectory => "a folder, not a file".to_string(),
                ErrorKind::PermissionDenied => "a file that this user may not read".to_string(),
                _ => error.to_string(),
            },
            "a file that exists and may be read",
            "check the path",
        )
    };
    // Opening a pipe would block, and so would some files of the kernel.
    let mut options = std::fs::File::options();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(refused)?;
    let about = file.metadata().map_err(refused)?;
    if about.is_dir() {
        return Err(refused(ErrorKind::IsADirectory.into()));
    }
    if !about.is_file() {
        let remedy = "copy its content into a regular file";
        return Err(at.error("a device, pipe or socket", "a regular file", remedy));
    }
    let too_large = || {
        let allowed = format!("files of up to {} MiB", LARGEST >> 20);
        at.error("a file that is larger", allowed, "leave out what is not needed")
    };
    if about.len() > LARGEST {
        return Err(too_large());
    }
    // A file may grow while it is read, and files below `/proc` report no length.
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    decode(&name, bytes)
}

/// Turns a file's bytes into text.
///
/// UTF-8, with or without a byte order mark. SNDlib declares its XML as ISO-8859-1, so that
/// encoding is taken too where an XML declaration names it.
///
/// # Errors
/// When the bytes are neither.
pub fn decode(file: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    if declares_latin1(&bytes) {
        // Every byte of ISO-8859-1 is the Unicode scalar of the same number.
        return Ok(bytes.into_iter().map(char::from).collect());
    }
    match String::from_utf8(bytes) {
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => Ok(rest.to_string()),
            None => Ok(text),
        },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes()[..valid].iter().filter(|b| **b == b'\n').count();
            Err(Location::line(file, lines + 1).error(
                format!("the byte {:#04x}, which is not UTF-8", error.as_bytes()[valid]),
                "UTF-8 text",
                "convert the file (iconv -t UTF-8), or unpack it if it is compressed",
            ))
        }
    }
}

/// Whether the bytes start with `<?xml ... encoding="ISO-8859-1" ... ?>`.
fn declares_latin1(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(200)];
    let Some(end) = head.windows(2).position(|pair| pair == b"?>") else { return false };
    let declaration = head[..end].to_ascii_lowercase();
    declaration.starts_with(b"<?xml") && declaration.windows(10).any(|part| part == b"iso-8859-1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_utf8_byte_order_marks_and_declared_latin1() {
        assert_eq!(decode("f", "Tromsø".into()).unwrap(), "Tromsø");
        assert_eq!(decode("f", "\u{feff}1\n".into()).unwrap(), "1\n");
        let mut bytes = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>".to_vec();
        bytes.push(0xf8);
        assert!(decode("f", bytes).unwrap().ends_with("<a>ø"));
    }

    #[test]
    fn names_the_line_of_a_wrong_byte() {
        let error = decode("f.txt", b"1\n2\n\xff".to_vec()).unwrap_err();
        assert_eq!(error.line, Some(3));
        assert!(error.to_string().contains("0xff"));
    }

    #[test]
    fn names_a_missing_file() {
        let error = read(Path::new("no/such/file")).unwrap_err();
        assert_eq!((error.file.as_str(), error.line), ("no/such/file", None));
        assert_eq!(error.found, "no such file");
        assert_eq!(read(Path::new(".")).unwrap_err().found, "a folder, not a file");
    }

    #[test]
    fn what_may_never_end_is_not_read() {
        let found = |path: &Path| read(path).unwrap_err().found;
        assert_eq!(found(Path::new("/dev/zero")), "a device, pipe or socket");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert_eq!(found(&pipe), "a device, pipe or socket");
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(LARGEST + 1).unwrap();
        assert_eq!(found(&large), "a file that is larger");
        std::fs::File::options().write(true).open(&large).unwrap().set_len(LARGEST).unwrap();
        assert_eq!(read(&large).unwrap().len() as u64, LARGEST);
    }
}
