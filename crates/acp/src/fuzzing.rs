//! Properties of anything that arrives. Fuzz targets, the test that replays their corpora, and
//! property tests share them.

use crate::wire::{Data, Params, Parts};

/// Reads `data` as the clear part of a packet, as parts, and as parameters. What can be read is
/// written with the same content.
///
/// # Panics
/// If it is not.
pub fn packet(data: &[u8]) {
    if let Ok((clear, length)) = Data::read(data) {
        let mut again = Vec::new();
        clear.put(&mut again);
        assert_eq!(Data::read(&again), Ok((clear, again.len())));
        assert!(length <= data.len());
    }
    for part in Parts::new(data).flatten() {
        let mut again = Vec::new();
        part.put(&mut again);
        assert_eq!(Parts::new(&again).next(), Some(Ok(part)));
    }
    if let Ok(params) = Params::read(data) {
        assert_eq!(Params::read(&params.encode()), Ok(params));
    }
}
