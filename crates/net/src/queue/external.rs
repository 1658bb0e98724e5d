//! Disciplines that live outside this crate.

use core::ops::{Deref, DerefMut};

use super::discipline::{Discipline, DisciplineInfo};

/// A discipline outside this crate with its parameters set.
#[derive(Debug)]
pub struct External {
    info: &'static DisciplineInfo,
    discipline: Box<dyn Erased>,
}

impl External {
    pub(super) fn new<D>(info: &'static DisciplineInfo, discipline: D) -> External
    where
        D: Discipline + Clone + Send + Sync + 'static,
    {
        External { info, discipline: Box::new(discipline) }
    }

    /// Name, documentation and parameters of the discipline.
    pub(super) fn info(&self) -> &'static DisciplineInfo {
        self.info
    }
}

impl Clone for External {
    fn clone(&self) -> External {
        External { info: self.info, discipline: self.discipline.cloned() }
    }
}

impl Deref for External {
    type Target = dyn Discipline;

    fn deref(&self) -> &(dyn Discipline + 'static) {
        &*self.discipline
    }
}

impl DerefMut for External {
    fn deref_mut(&mut self) -> &mut (dyn Discipline + 'static) {
        &mut *self.discipline
    }
}

/// A [`Discipline`] without a type of its own.
trait Erased: Discipline + Send + Sync {
    fn cloned(&self) -> Box<dyn Erased>;
}

impl<D: Discipline + Clone + Send + Sync + 'static> Erased for D {
    fn cloned(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }
}
