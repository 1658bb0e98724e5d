//! Frames: what applications send and receive.

use bytes::Bytes;

/// A frame: sent whole, received whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// A number by which an application can match answers with questions, below 2^62. The
    /// transport does not use it.
    pub id: u64,
    /// The content.
    pub data: Bytes,
}

impl Frame {
    /// A frame.
    pub fn new(id: u64, data: impl Into<Bytes>) -> Frame {
        Frame { id, data: data.into() }
    }
}
