//! What an end of a connection has counted, and the file in which it tells its observer.

mod figures;
mod record;

pub use figures::Figures;
pub use record::RecordFile;
