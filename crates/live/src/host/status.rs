//! What hosts' connections have come to.

use std::mem::offset_of;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::{folder, is_pinned};
use crate::skeletons::host::types::host as Counters;
use crate::{Error, Law, pins};

/// What a host's connections have come to since it was attached.
#[derive(Clone, Debug)]
pub struct Status {
    /// The law.
    pub law: Law,
    /// Connections that take part.
    pub taking_part: u64,
    /// Connections whose other end does not speak it.
    pub plain: u64,
    /// Connections that the kernel would not let have the congestion control.
    pub refused: u64,
    /// Of those that take part, connections whose program chose another when the handshake was over.
    pub chose_another: u64,
}

/// What the hosts' connections have come to.
///
/// # Errors
/// When the caller is not root.
pub fn status() -> Result<Vec<Status>, Error> {
    pins::check_reach()?;
    Ok(Law::ALL.into_iter().filter_map(one).collect())
}

/// The laws with a host that an [`attach`](super::attach) has attached only by half: it was killed, or has yet to end.
///
/// # Errors
/// When the caller is not root.
pub fn halfway() -> Result<Vec<Law>, Error> {
    pins::check_reach()?;
    // What counts them is pinned last.
    Ok(Law::ALL.into_iter().filter(|law| is_pinned(*law) && one(*law).is_none()).collect())
}

fn one(law: Law) -> Option<Status> {
    counted(law, &MapHandle::from_pinned_path(folder(law).join("counters")).ok()?)
}

pub(super) fn counted(law: Law, map: &MapHandle) -> Option<Status> {
    let bytes = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let count = |at: usize| {
        let mut value = [0; 8];
        value.copy_from_slice(bytes.get(at..at + 8)?);
        Some(u64::from_ne_bytes(value))
    };
    Some(Status {
        law,
        taking_part: count(offset_of!(Counters, taking_part))?,
        plain: count(offset_of!(Counters, plain))?,
        refused: count(offset_of!(Counters, refused))?,
        chose_another: count(offset_of!(Counters, chose_another))?,
    })
}
