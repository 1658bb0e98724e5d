//! Counters of hosts' connections.

use std::mem::offset_of;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::{COUNTERS, pinned};
use crate::pins::{self, Folder};
use crate::skeletons::host::types::host as Counters;
use crate::{Error, KernelLaw};

/// Counters of a host's connections since the attachment.
#[derive(Clone, Debug)]
pub struct Status {
    /// The law.
    pub law: KernelLaw,
    /// Connections that take part.
    pub taking_part: u64,
    /// Connections whose other end does not speak the law.
    pub plain: u64,
    /// Connections that the kernel refused the congestion control.
    pub refused: u64,
    /// Connections that take part but whose program chose another congestion control after the
    /// handshake.
    pub chose_another: u64,
    /// Connections that took part until their interface no longer paused (NoQ).
    pub fell_back: u64,
}

/// Counters of all hosts' connections.
///
/// # Errors
/// If the caller is not root, or others than root can change the pins.
pub fn status() -> Result<Vec<Status>, Error> {
    let pinned = pinned(pins::open()?.as_ref())?;
    Ok(pinned.into_iter().filter_map(|(law, folder)| one(law, &folder)).collect())
}

/// Laws whose [`attach`](super::attach) is incomplete: it was killed, or has not finished.
///
/// # Errors
/// If the caller is not root, or others than root can change the pins.
pub fn halfway() -> Result<Vec<KernelLaw>, Error> {
    let pinned = pinned(pins::open()?.as_ref())?;
    // The counters are pinned last.
    let half = pinned.into_iter().filter(|(law, folder)| one(*law, folder).is_none());
    Ok(half.map(|(law, _)| law).collect())
}

fn one(law: KernelLaw, folder: &Folder) -> Option<Status> {
    counted(law, &MapHandle::from_pinned_path(folder.pin(COUNTERS)).ok()?)
}

pub(super) fn counted(law: KernelLaw, map: &MapHandle) -> Option<Status> {
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
        fell_back: count(offset_of!(Counters, fell_back))?,
    })
}
