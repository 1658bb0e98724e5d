//! A module that others hold too.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Frame, Member, Routing};

impl<R: Routing + ?Sized> Routing for Arc<Mutex<R>> {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        self.lock().unwrap_or_else(PoisonError::into_inner).route(frame, members)
    }
    fn reads_content(&self) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).reads_content()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::RoundRobin;
    use crate::routing::testing::{NO_CONTENT, members, route};

    #[test]
    fn its_owner_can_change_it_between_two_frames() {
        let owner = Arc::new(Mutex::new(RoundRobin::default()));
        let mut routing = Arc::clone(&owner);
        assert_eq!(route(&mut routing, &members(&[true; 3]), &NO_CONTENT[..2]), [0, 1]);
        *owner.lock().unwrap() = RoundRobin::default();
        assert_eq!(route(&mut routing, &members(&[true; 3]), &NO_CONTENT[..2]), [0, 1]);
        assert!(!routing.reads_content());
    }
}
