//! Members that get no new frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratewire_anypoint::routing::{Frame, Member, Routing};

/// By member: whether its gate is closed, so that it gets no new frames.
#[derive(Clone, Debug)]
pub(super) struct Gates(Arc<[AtomicBool]>);

impl Gates {
    /// Open gates of this many members.
    pub(super) fn new(members: usize) -> Gates {
        Gates((0..members).map(|_| AtomicBool::new(false)).collect())
    }

    /// Closes or opens a member's gate. Returns whether that is a change.
    pub(super) fn set(&self, member: usize, is_closed: bool) -> bool {
        self.0[member].swap(is_closed, Ordering::Relaxed) != is_closed
    }

    pub(super) fn is_closed(&self, member: usize) -> bool {
        self.0[member].load(Ordering::Relaxed)
    }

    /// A routing module that sees members with closed gates as down. Frames that have a place at
    /// such a member keep it.
    pub(super) fn guard(&self, routing: Box<dyn Routing>) -> Box<dyn Routing> {
        Box::new(Guarded { gates: self.clone(), routing, seen: Vec::new() })
    }
}

#[derive(Debug)]
struct Guarded {
    gates: Gates,
    routing: Box<dyn Routing>,
    seen: Vec<Member>,
}

impl Routing for Guarded {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let is_closed = |gate: &AtomicBool| gate.load(Ordering::Relaxed);
        let gates = &self.gates.0;
        if !gates.iter().any(is_closed) {
            return self.routing.route(frame, members);
        }
        self.seen.clear();
        let seen = members.iter().zip(gates.iter());
        self.seen.extend(
            seen.map(|(one, gate)| Member { is_up: one.is_up && !is_closed(gate), ..*one }),
        );
        self.routing.route(frame, &self.seen)
    }

    fn reads_content(&self) -> bool {
        self.routing.reads_content()
    }
}

#[cfg(test)]
mod tests {
    use ratewire_anypoint::routing::RoundRobin;

    use super::*;

    #[test]
    fn a_closed_gate_lets_no_frame_through() {
        let gates = Gates::new(3);
        let mut routing = gates.guard(Box::new(RoundRobin::default()));
        let members = [Member { is_up: true, ..Member::default() }; 3];
        let frame = Frame { number: 0, content: b"" };
        let mut route =
            |count| (0..count).filter_map(|_| routing.route(&frame, &members)).collect::<Vec<_>>();
        assert_eq!(route(3), [0, 1, 2]);
        assert!(gates.set(1, true) && !gates.set(1, true));
        assert_eq!(route(3), [0, 2, 0]);
        (0..3).for_each(|k| _ = gates.set(k, true));
        assert_eq!(route(3), [0; 0]);
        gates.set(1, false);
        assert_eq!(route(2), [1, 1]);
    }
}
