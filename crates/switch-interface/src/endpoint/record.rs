//! The file in which an end tells its figures, for a process that samples many ends at once.
//!
//! The file holds numbers of 64 bits: time zero, which the observer writes; then the figures
//! between two copies of a serial number. A reader that finds two different copies reads again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::figures::{Figures, NUMBERS};

/// Bytes of a number.
const NUMBER: usize = 8;
/// Attempts to read figures that are being written.
const ATTEMPTS: usize = 100;

/// A record of figures.
#[derive(Debug)]
pub struct RecordFile(File);

impl RecordFile {
    /// Opens the record of an end, and makes an empty one if there is none.
    ///
    /// # Errors
    /// When the file cannot be opened to read and to write.
    pub fn open(path: &Path) -> io::Result<RecordFile> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        file.map(RecordFile)
    }

    /// Tells the end when time zero is: nanoseconds of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// When the file system has no room.
    pub fn set_zero(&self, nanoseconds: u64) -> io::Result<()> {
        self.0.write_all_at(&nanoseconds.to_le_bytes(), 0)
    }

    /// Time zero, once the observer has told it.
    pub fn zero(&self) -> Option<u64> {
        let mut bytes = [0; NUMBER];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        Some(u64::from_le_bytes(bytes)).filter(|zero| *zero > 0)
    }

    /// The figures; `None` before the end has written some.
    pub fn figures(&self) -> Option<Figures> {
        let mut bytes = [0; NUMBER * (NUMBERS + 2)];
        for _ in 0..ATTEMPTS {
            self.0.read_exact_at(&mut bytes, NUMBER as u64).ok()?;
            let mut numbers = [0; NUMBERS + 2];
            for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(NUMBER)) {
                *number = bytes.try_into().map_or(0, u64::from_le_bytes);
            }
            let [first, figures @ .., last] = numbers;
            if first == last && first > 0 {
                return Some(Figures::from_numbers(&figures));
            }
        }
        None
    }

    /// Writes the figures. Without room in the file system, the former ones stay.
    pub fn write(&self, figures: &Figures) {
        let mut serial = [0; NUMBER];
        _ = self.0.read_exact_at(&mut serial, NUMBER as u64);
        let serial = u64::from_le_bytes(serial) + 1;
        let numbers = [serial].into_iter().chain(figures.to_numbers()).chain([serial]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        _ = self.0.write_all_at(&bytes, NUMBER as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::{Bytes, Duration};

    #[test]
    fn figures_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let (end, observer) = (RecordFile::open(&path).unwrap(), RecordFile::open(&path).unwrap());
        assert_eq!((observer.figures(), end.zero()), (None, None));
        observer.set_zero(7).unwrap();
        let figures = Figures {
            is_ready: true,
            started: Some(Duration::ZERO),
            received: Bytes::new(3),
            ended: None,
            acknowledged: Bytes::new(4),
            acknowledged_at: Some(Duration::from_millis(5)),
            without_room: 6,
            retransmitted: Bytes::new(7),
            retransmitted_packets: 12,
            timeouts: 8,
            srtt: Duration::from_millis(9),
            window: Bytes::new(10),
            in_flight: Bytes::new(11),
        };
        end.write(&Figures::default());
        end.write(&figures);
        let read = observer.figures().expect("it was written");
        assert_eq!(Figures { started: figures.started, ..read }, figures);
        assert_eq!(end.zero(), Some(7));
    }
}
