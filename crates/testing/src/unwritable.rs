//! Outputs that cannot be written.

use std::fs::OpenOptions;
use std::process::Stdio;

/// An output of a process that cannot be written.
#[derive(Clone, Copy, Debug)]
pub enum Unwritable {
    /// A file on a disk without room.
    FullDisk,
    /// A pipe whose reader has died.
    DeadReader,
}

impl Unwritable {
    /// All of them.
    pub const ALL: [Unwritable; 2] = [Unwritable::FullDisk, Unwritable::DeadReader];

    /// Opens the output.
    ///
    /// # Panics
    /// If the system does not provide it.
    pub fn open(self) -> Stdio {
        match self {
            Unwritable::FullDisk => {
                OpenOptions::new().write(true).open("/dev/full").expect("Linux has it").into()
            }
            Unwritable::DeadReader => {
                let (_, writer) = std::io::pipe().expect("a pipe");
                writer.into()
            }
        }
    }
}
