//! Clients of a flood.

use std::rc::Rc;

use ratewire_groups::client::{Error, Message, Received, Receiver, Request, Sender};
use ratewire_units::Duration;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::super::clock::Clock;
use super::super::pace::Pace;
use super::plan::{End, Plan};
use super::stamp::Stamp;
use super::tally::Shared;

/// Bytes that a sender writes at a time: enough that calls of the kernel are few.
const WRITE_SIZE: u64 = 16_384;
/// Messages after which a receiver lets the other clients work.
const TURN: u32 = 256;
/// Longest time that a sender waits before it looks whether the flood has ended.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// What the clients of a flood have in common.
#[derive(Clone)]
pub(super) struct Common {
    pub plan: Rc<Plan>,
    pub shared: Rc<Shared>,
    pub clock: Clock,
}

/// What a sender does next.
enum Next {
    /// Send this many messages.
    Send(u64),
    /// Wait for messages to arrive.
    WaitForArrival,
    /// Wait until a message is due.
    WaitFor(Duration),
    /// Nothing more.
    End,
}

/// A client that sends.
struct Sending {
    common: Common,
    /// Number of the sender.
    me: usize,
    /// Number of the next message.
    sequence: u64,
    pace: Option<Pace>,
}

/// Sends until the plan ends. Returns the sender after the daemon has read everything.
pub(super) async fn send(common: Common, me: usize, mut sender: Sender) -> Result<Sender, Error> {
    let (senders, now) = (common.plan.senders, common.clock.now());
    let pace = common.plan.rate.map(|rate| Pace::share(rate, me, senders, now));
    let mut sending = Sending { common, me, sequence: 0, pace };
    loop {
        match sending.next() {
            Next::Send(messages) => sending.send(&mut sender, messages).await?,
            Next::WaitFor(time) => sleep(time.min(LONGEST_WAIT).to_std()).await,
            Next::WaitForArrival => {
                let arrival = sending.common.shared.arrived[me].notified();
                _ = timeout(LONGEST_WAIT.to_std(), arrival).await;
            }
            Next::End => return Ok(sender),
        }
    }
}

impl Sending {
    fn next(&mut self) -> Next {
        let Common { plan, shared, clock } = &self.common;
        let now = clock.now();
        let mut tally = shared.tally.borrow_mut();
        let remaining = match plan.end {
            End::Count(count) => count - self.sequence,
            End::At(_) => u64::MAX,
        };
        if remaining == 0 || tally.is_past(now) {
            return Next::End;
        }
        let mut messages = (WRITE_SIZE / plan.size.get()).max(1).min(remaining);
        if let Some(window) = plan.window {
            let room = window.saturating_sub(self.sequence - tally.arrived(self.me));
            tally.sent[self.me].is_waiting = room == 0;
            if room == 0 {
                return Next::WaitForArrival;
            }
            messages = messages.min(room);
        }
        if let Some(pace) = &mut self.pace {
            let due = pace.due(now);
            if due == 0 {
                return Next::WaitFor(pace.next.since(now));
            }
            messages = messages.min(due);
            pace.sent(messages);
        }
        Next::Send(messages)
    }

    /// Sends messages with as few calls of the kernel as possible.
    async fn send(&mut self, sender: &mut Sender, messages: u64) -> Result<(), Error> {
        let Common { plan, shared, clock } = &self.common;
        let groups = plan.groups.len() as u64;
        for _ in 0..messages {
            let (sequence, sent) = (self.sequence, clock.now());
            let stamp = Stamp { run: plan.run, sender: self.me as u32, sequence, sent };
            let data = stamp.data(plan.size.get() as usize).into();
            let group = plan.groups[(sequence % groups) as usize];
            let message = Message::new(plan.service.into(), &[group], 0, data);
            sender.feed(&Request::Multicast(message)).await?;
            self.sequence += 1;
        }
        let began = clock.now();
        let is_held = write(sender).await?;
        shared.send(self.me, messages, is_held.then_some(began), clock.now());
        yield_now().await;
        Ok(())
    }
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
