//! Changes of the ensemble while the switch runs: members that come and go, are drained, or fail
//! their probes.

use std::ops::Range;
use std::time::Duration;

use ratewire_anypoint::Side;

use super::ensemble::Seen;
use super::seat::{Scope, Seat};
use super::{Duty, Health, Hub, HubEvent, Member, SessionId};

impl Hub {
    /// Puts a member into a place that was spare, or replaces the one there. All sessions connect
    /// with it; those that have connections with the same member keep them.
    pub fn enlist(&mut self, now: Duration, place: usize, member: Member) {
        if self.ensemble[place].member.as_ref() == Some(&member) {
            if self.ensemble[place].is_distrusted {
                self.trust(now, place);
            }
            self.undrain(now, place);
            return;
        }
        self.empty(now, place);
        self.renew(place, Some(member));
        self.offer(now, place);
        self.publish();
    }

    /// Empties a place. What its member has not acknowledged goes to others when peers send it
    /// again.
    pub fn dismiss(&mut self, now: Duration, place: usize) {
        self.empty(now, place);
        self.publish();
    }

    fn empty(&mut self, now: Duration, place: usize) {
        self.renew(place, None);
        self.give_up(place);
        self.drop_from_sessions(now, place);
    }

    fn renew(&mut self, place: usize, member: Option<Member>) {
        self.ensemble[place] = Seen::new(self.next_member, member);
        self.next_member += 1;
    }

    /// Gives a member no new frames. Its sessions close when what it has is finished. Returns
    /// whether that is new.
    pub fn drain(&mut self, now: Duration, place: usize) -> bool {
        self.drain_those(now, place..place + 1)
    }

    /// Gives no member new frames, as [`Hub::drain`].
    pub fn drain_all(&mut self, now: Duration) {
        self.drain_those(now, 0..self.ensemble.len());
    }

    /// Drains the members that serve in these places, of which peers are told together: what
    /// belongs to one of them does not go to another for that time.
    fn drain_those(&mut self, now: Duration, places: Range<usize>) -> bool {
        let serve: Vec<usize> =
            places.filter(|place| self.ensemble[*place].duty == Duty::Serving).collect();
        if serve.is_empty() {
            return false;
        }
        serve.iter().for_each(|place| self.ensemble[*place].duty = Duty::Draining);
        self.publish();
        serve.iter().for_each(|place| self.end_sessions(now, *place));
        true
    }

    /// Has sessions end their connections with a member that is drained.
    fn end_sessions(&mut self, now: Duration, place: usize) {
        self.give_up(place);
        let all: Vec<SessionId> = self.seats.keys().copied().collect();
        for id in all {
            // A peer whose connection is for this member has been told, and ends it.
            if let Some(seat) = self.seats.get_mut(&id)
                && seat.scope == Scope::All
            {
                seat.session.drain(place);
            }
            self.begin_if_whole(now, id);
            self.look_after(now, id);
        }
        self.note_if_drained(place);
    }

    /// Whether no session has a member any more.
    pub fn is_drained(&self) -> bool {
        let has_any = |seat: &Seat| (0..self.ensemble.len()).any(|k| seat.has(k));
        !self.seats.values().any(has_any)
    }

    /// Gives a member new frames again. Returns whether that is new.
    pub fn undrain(&mut self, now: Duration, place: usize) -> bool {
        let was = core::mem::replace(&mut self.ensemble[place].duty, Duty::Serving);
        self.publish();
        self.offer(now, place);
        was != Duty::Serving
    }

    /// The place of a member.
    pub fn place(&self, name: &str) -> Option<usize> {
        let is_it = |seen: &Seen| seen.member.as_ref().is_some_and(|member| member.name == name);
        self.ensemble.iter().position(is_it)
    }
    /// The member in a place.
    pub fn member(&self, place: usize) -> Option<&Member> {
        self.ensemble[place].member.as_ref()
    }
    /// Whether the member in a place does not answer.
    pub fn is_down(&self, place: usize) -> bool {
        self.ensemble[place].is_down()
    }
    /// Whether the member in a place gets new frames.
    pub fn duty(&self, place: usize) -> Duty {
        self.ensemble[place].duty
    }

    /// Takes a member for down, whatever it answers, until [`Hub::trust`].
    pub fn distrust(&mut self, now: Duration, place: usize, reason: &str) {
        self.ensemble[place].is_distrusted = true;
        self.miss(now, place, reason);
        self.ensemble[place].retry = None;
        self.give_up(place);
    }

    /// Takes a member for up again.
    pub fn trust(&mut self, now: Duration, place: usize) {
        self.ensemble[place].is_distrusted = false;
        self.hear(now, place);
    }

    /// Connects all sessions with a member.
    fn offer(&mut self, now: Duration, place: usize) {
        let all: Vec<SessionId> = self.seats.keys().copied().collect();
        for id in all {
            self.connect(now, id, place);
        }
    }

    /// Has all sessions go on without a member.
    pub(super) fn drop_from_sessions(&mut self, now: Duration, place: usize) {
        let why = match &self.ensemble[place].health {
            Health::Down { reason, .. } => reason.clone(),
            Health::Up | Health::Unknown => "it has left".to_string(),
        };
        let all: Vec<SessionId> = self.seats.keys().copied().collect();
        for id in all {
            let Some(seat) = self.seats.get_mut(&id) else { continue };
            let (time, Some(side @ Side::Member(k))) = (seat.time(now), seat.side(place)) else {
                continue;
            };
            seat.session.fail(time, k);
            self.unregister(id, side);
            self.end_if_for_one(id, &why);
            self.look_after(now, id);
        }
        self.note_if_drained(place);
    }

    /// Notes that a member which is drained has no session any more.
    pub(super) fn note_if_drained(&mut self, place: usize) {
        let has_it = |seat: &Seat| seat.has(place);
        if self.ensemble[place].duty == Duty::Draining && !self.seats.values().any(has_it) {
            self.ensemble[place].duty = Duty::Drained;
            // A spare place is drained too when the switch stops.
            let name = self.member(place).map(|member| member.name.clone());
            self.events.extend(name.map(HubEvent::MemberDrained));
        }
    }
}
