//! All links of a network.

use core::ops::{Deref, DerefMut};

use ratewire_units::Duration;

use super::{DelayLineId, Link, RareParts};
use crate::spec::LinkId;

/// The links of the specification by number, followed by the delay lines.
#[derive(Debug)]
pub(crate) struct Links {
    all: Vec<Link>,
    /// Number of links of the specification.
    own: u32,
    seed: u64,
}

impl Links {
    pub(crate) fn new(own: Vec<Link>, seed: u64) -> Links {
        Links { own: own.len() as u32, all: own, seed }
    }

    /// Rare parts of a link, made if it has none.
    pub(crate) fn extra_mut(&mut self, id: LinkId) -> &mut RareParts {
        self.all[id.index()].extra_mut(u64::from(id.0), self.seed)
    }

    /// The numbers of all links, delay lines included.
    pub(crate) fn ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.all.len() as u32).map(LinkId)
    }

    /// The links of the specification.
    pub(crate) fn own(&self) -> &[Link] {
        &self.all[..self.own as usize]
    }

    /// Whether a link is a delay line.
    #[inline]
    pub(crate) fn is_line(&self, id: LinkId) -> bool {
        id.0 >= self.own
    }

    /// The number of a delay line among all links.
    #[inline]
    pub(crate) fn line(&self, line: DelayLineId) -> LinkId {
        LinkId(self.own + u32::from(line.number()))
    }

    /// The delay lines, in order.
    pub(crate) fn lines(&self) -> &[Link] {
        &self.all[self.own as usize..]
    }

    /// Reserves memory for this number of delay lines.
    pub(crate) fn reserve_lines(&mut self, most: usize) {
        self.all.reserve_exact(most);
    }

    /// Adds a delay line.
    pub(crate) fn push_line(&mut self, delay: Duration) {
        self.all.push(Link::wire(delay));
    }
}

impl Deref for Links {
    type Target = [Link];
    #[inline]
    fn deref(&self) -> &[Link] {
        &self.all
    }
}
impl DerefMut for Links {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Link] {
        &mut self.all
    }
}
