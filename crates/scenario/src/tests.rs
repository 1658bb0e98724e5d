//! Holds the table of keys against what is read.

use std::collections::BTreeSet;
use std::sync::Mutex;

static READS: Mutex<BTreeSet<(&'static str, &'static str)>> = Mutex::new(BTreeSet::new());

/// Remembers which keys a reading asked for.
pub(crate) fn note_reads(reads: &BTreeSet<(&'static str, &'static str)>) {
    READS.lock().unwrap().extend(reads);
}
