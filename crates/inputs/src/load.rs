//! From bytes on disk to text.

use std::io::ErrorKind;
use std::path::Path;

use ratewire_files::{FileError, INPUT, size};

use crate::InputError;
use crate::location::Location;

/// Reads a file into text for the parsers, with [`decode`]. The display name to hand on is
/// `path.display()`.
///
/// # Errors
/// When the file cannot be opened or read, is no regular file, is larger than 64 MiB, or is
/// not text.
pub fn read(path: &Path) -> Result<String, InputError> {
    let name = path.display().to_string();
    let bytes = ratewire_files::read(path, INPUT).map_err(|error| {
        let (found, allowed) = match &error {
            FileError::Io(source) => {
                let found = match source.kind() {
                    ErrorKind::PermissionDenied => "a file that this user may not read".to_string(),
                    _ => error.to_string(),
                };
                (found, "a file that exists and may be read".to_string())
            }
            FileError::NotRegular(kind) => {
                (format!("{kind}, not a regular file"), "a regular file".to_string())
            }
            FileError::TooLong(_) | FileError::NotText(_) => {
                (format!("a file {error}"), format!("files of up to {}", size(INPUT)))
            }
        };
        Location::whole(&name).error(found, allowed, error.help())
    })?;
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
        let folder = read(Path::new(".")).unwrap_err();
        assert_eq!(folder.found, "a folder, not a regular file");
        let device = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(
            device.to_string(),
            "/dev/zero: found a device, not a regular file; allowed: a regular file; copy its \
             content into a regular file"
        );
    }

    #[test]
    fn a_long_file_is_refused_with_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(INPUT + 1).unwrap();
        let error = read(&large).unwrap_err();
        assert_eq!(error.found, "a file longer than 64 MiB");
        assert_eq!(error.allowed, "files of up to 64 MiB");
        std::fs::File::options().write(true).open(&large).unwrap().set_len(INPUT).unwrap();
        assert_eq!(read(&large).unwrap().len() as u64, INPUT);
    }
}
