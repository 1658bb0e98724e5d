//! Clients of a flood.

use std::rc::Rc;

use bytes::Bytes;
use ratewire_groups::client::{Error, Message, Received, Receiver, Request, Sender};
use ratewire_units::{Duration, Time};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::clock::Clock;
use super::plan::{End, Plan};
use super::stamp::Stamp;
use super::tally::Shared;

/// Bytes that a sender writes at a time: enough that calls of the kernel are few.
const WRITE_SIZE: u64 = 16_384;
/// Messages after which a receiver lets the other clients work.
const TURN: u32 = 256;
/// Longest time that a paced sender makes up for.
const SLACK: Duration = Duration::from_millis(10);

/// What the clients of a flood have in common.
#[derive(Clone)]
pub(super) struct Common {
    pub plan: Rc<Plan>,
    pub shared: Rc<Shared>,
    pub clock: Clock,
}

/// Messages that a sender owes to its rate.
struct Pace {
    rate: f64,
    /// When the next message is due.
    next: Time,
}

impl Pace {
    /// Messages that are due. A sender that was held back skips those it cannot make up for.
    fn due(&mut self, now: Time) -> u64 {
        let slack = Duration::from_secs_f64(1.0 / self.rate).ps().max(SLACK.ps());
        self.next = self.next.max(Time::from_ps(now.ps().saturating_sub(slack)));
        match now.ps().checked_sub(self.next.ps()) {
            Some(late) => (Duration::from_ps(late).secs() * self.rate) as u64 + 1,
            None => 0,
        }
    }

    fn sent(&mut self, messages: u64) {
        let taken = Duration::from_secs_f64(messages as f64 / self.rate);
        self.next = Time::from_ps(self.next.ps() + taken.ps());
    }
}

/// Sends until the plan ends. Returns the sender after the daemon has read everything.
pub(super) async fn send(common: Common, me: usize, mut sender: Sender) -> Result<Sender, Error> {
    let Common { plan, shared, clock } = common;
    let size = plan.size.get();
    let message = Message::new(plan.service.into(), &plan.groups[..1], 0, Bytes::new());
    let mut request = Request::Multicast(message);
    let mut pace = plan.rate.map(|rate| Pace { rate, next: clock.now() });
    let mut sequence = 0;
    loop {
        let now = clock.now();
        let left = plan.left(now);
        let remaining = match plan.end {
            End::Count(count) => count - sequence,
            End::At(_) if left.is_none_or(Duration::is_zero) => 0,
            End::At(_) => u64::MAX,
        };
        if remaining == 0 {
            break;
        }
        let due = pace.as_mut().map_or(u64::MAX, |pace| pace.due(now));
        let room = plan.window.map_or(u64::MAX, |window| {
            let mut tally = shared.tally.borrow_mut();
            let room = window.saturating_sub(sequence - tally.arrived(me));
            tally.sent[me].is_waiting = room == 0;
            room
        });
        let longest = left.unwrap_or(Duration::from_secs(3600));
        if room == 0 {
            _ = timeout(std(longest), shared.arrived[me].notified()).await;
            continue;
        }
        if let (0, Some(pace)) = (due, &pace) {
            sleep(std(pace.next.since(now)).min(std(longest))).await;
            continue;
        }
        let batch = (WRITE_SIZE / size).max(1).min(remaining).min(due).min(room);
        for _ in 0..batch {
            let sent = clock.now();
            if let Request::Multicast(message) = &mut request {
                message.groups[0] = plan.groups[(sequence % plan.groups.len() as u64) as usize];
                let stamp = Stamp { run: plan.run, sender: me as u32, sequence, sent };
                message.data = stamp.data(size as usize).into();
            }
            sender.feed(&request).await?;
            sequence += 1;
        }
        if let Some(pace) = &mut pace {
            pace.sent(batch);
        }
        let began = clock.now();
        let is_held = write(&mut sender).await?;
        let now = clock.now();
        let mut tally = shared.tally.borrow_mut();
        tally.send(me, batch, now);
        if is_held {
            tally.hold(me, began, now);
        }
        drop(tally);
        yield_now().await;
    }
    Ok(sender)
}

/// Writes what was fed. Returns whether the daemon let the sender wait.
async fn write(sender: &mut Sender) -> Result<bool, Error> {
    let is_held = tokio::select! {
        biased;
        written = sender.flush() => {
            written?;
            false
        }
        () = std::future::ready(()) => true,
    };
    // A flush that was dropped has lost nothing.
    sender.flush().await.map(|()| is_held)
}

/// Counts what a client gets, until its connection ends. `me` is the number among the receivers.
pub(super) async fn receive(common: Common, me: Option<usize>, mut receiver: Receiver) -> Error {
    let Common { plan, shared, clock } = common;
    let mut turn = 0;
    loop {
        let received = match receiver.receive().await {
            Ok(received) => received,
            Err(error) => return error,
        };
        match (received, me) {
            (Received::Message { message, .. }, Some(me)) => {
                if let Some(stamp) = Stamp::read(&message.data, plan.run) {
                    shared.receive(me, &stamp, clock.now());
                }
            }
            (Received::Rejected { .. }, _) => shared.tally.borrow_mut().refused += 1,
            (Received::Membership(_) | Received::Transition { .. }, _) => {
                shared.tally.borrow_mut().change();
            }
            _ => {}
        }
        turn += 1;
        if turn == TURN {
            turn = 0;
            yield_now().await;
        }
    }
}

/// The duration as the standard library has it.
pub(super) fn std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.ps() / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_owes_what_is_due_and_forgives_what_is_late() {
        let mut pace = Pace { rate: 1_000.0, next: Time::from_millis(5) };
        assert_eq!(pace.due(Time::from_millis(4)), 0);
        assert_eq!(pace.due(Time::from_millis(5)), 1);
        assert_eq!(pace.due(Time::from_millis(8)), 4);
        pace.sent(4);
        assert_eq!((pace.due(Time::from_millis(8)), pace.next), (0, Time::from_millis(9)));
        assert_eq!(pace.due(Time::from_secs(5)), 11);
        let mut slow = Pace { rate: 2.0, next: Time::from_secs(1) };
        assert_eq!(slow.due(Time::from_secs(9)), 2);
    }
}
