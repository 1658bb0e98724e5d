//! Stands in for `tables.rs` in a build without the feature `parquet`.

/// Tables of a finished run, of which there are none.
#[derive(Clone, Debug)]
pub(crate) enum KeptTables {}
