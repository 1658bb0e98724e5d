//! The bytes of a port's state.

/// Content of a port's map: a `slot` of `bpf/router.h`, which begins with a `router`.
pub(crate) struct Pinned(pub(super) Vec<u8>);

impl Pinned {
    pub(super) fn u64(&self, at: usize) -> u64 {
        let mut value = [0; 8];
        value.copy_from_slice(&self.0[at..at + 8]);
        u64::from_ne_bytes(value)
    }
    pub(super) fn u32(&self, at: usize) -> u32 {
        let mut value = [0; 4];
        value.copy_from_slice(&self.0[at..at + 4]);
        u32::from_ne_bytes(value)
    }
}
