//! The tables of a finished run.

use std::path::PathBuf;

use bytes::Bytes;
use ratewire_files::{FileError, TABLE};

use super::error::Error;

/// Files of a run's tables.
pub(crate) const FLOWS: &str = "flows.parquet";
pub(crate) const LINKS: &str = "links.parquet";
pub(crate) const COMPLETIONS: &str = "completions.parquet";
pub(crate) const GROUPS: &str = "groups.parquet";
pub(crate) const CONNECTIONS: &str = "connections.parquet";
pub(crate) const SENDERS: &str = "senders.parquet";

/// A complete table.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    /// Path of the file after the run's folder is in place.
    File(PathBuf),
    Memory(Bytes),
}

/// The tables of a finished run.
#[derive(Clone, Debug)]
pub(crate) struct KeptTables {
    pub(crate) flows: Stored,
    pub(crate) links: Stored,
    pub(crate) completions: Stored,
    /// Tables of the overlay, if there is one.
    pub(crate) overlay: Option<KeptOverlay>,
}

/// The tables of an overlay.
#[derive(Clone, Debug)]
pub(crate) struct KeptOverlay {
    pub(crate) groups: Stored,
    pub(crate) connections: Stored,
    pub(crate) senders: Stored,
}

impl KeptTables {
    /// The tables, each with the name of its file.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Stored)> {
        let own = [(FLOWS, &self.flows), (LINKS, &self.links), (COMPLETIONS, &self.completions)];
        let overlay = self.overlay.iter().flat_map(|overlay| {
            [
                (GROUPS, &overlay.groups),
                (CONNECTIONS, &overlay.connections),
                (SENDERS, &overlay.senders),
            ]
        });
        own.into_iter().chain(overlay)
    }
}

impl Stored {
    /// The bytes of the table's file.
    ///
    /// # Errors
    /// An error if the table is in a file that cannot be read.
    pub(crate) fn bytes(&self) -> Result<Bytes, Error> {
        self.bytes_up_to(TABLE)
    }

    /// As [`Stored::bytes`], if the file has at most this number of bytes.
    ///
    /// # Errors
    /// As [`Stored::bytes`], and if the file is longer.
    pub(crate) fn bytes_up_to(&self, most: u64) -> Result<Bytes, Error> {
        match self {
            Stored::Memory(bytes) => Ok(bytes.clone()),
            Stored::File(path) => {
                let read = ratewire_files::read(path, most);
                let wrong = |e: FileError| Error::Read { path: path.clone(), source: e.into() };
                read.map(Bytes::from).map_err(wrong)
            }
        }
    }
}
