//! The one thread of all flows' applications: each takes a step when its socket is ready or its
//! time has come.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration as Span;

use nix::sys::epoll::EpollFlags;
use nix::sys::eventfd::EventFd;
use ratewire_units::Time;

use super::io_context::IoContext;
use super::receiving::Receiving;
use super::sending::Sending;
use super::{CHUNK, FlowStatus, Then};
use crate::clock::Clock;
use crate::readiness::Readiness;

/// Number of the descriptor that signals the thread to end.
const END: u64 = u64::MAX;
/// Steps between two checks of sockets.
const STEPS: usize = 64;
/// Maximum number of sockets of one check.
const NOTED: usize = 1024;
/// Longest wait if nothing is due.
const LONGEST: Span = Span::from_secs(3600);

#[derive(Debug)]
enum Application {
    Sending(Sending),
    Receiving(Receiving),
}

/// An application, and the time of its next step.
#[derive(Debug)]
struct Task {
    application: Application,
    /// Time for which it waits, whatever its socket does.
    sleeps_until: Time,
    is_queued: bool,
    is_over: bool,
}

/// All applications of a run.
#[derive(Debug)]
pub(super) struct Reactor {
    io_context: IoContext,
    tasks: Vec<Task>,
    /// Applications by the times at which to check them.
    timers: BinaryHeap<Reverse<(Time, usize)>>,
    /// Applications that can take a step.
    queue: VecDeque<usize>,
    over: Arc<AtomicBool>,
}

impl Reactor {
    pub(super) fn new(clock: Clock, end: &EventFd, over: Arc<AtomicBool>) -> io::Result<Reactor> {
        let readiness = Readiness::new(NOTED)?;
        readiness.add(end, END, EpollFlags::EPOLLIN)?;
        let (zeros, room) = (vec![0; CHUNK], vec![0; CHUNK]);
        let io_context = IoContext { clock, readiness, zeros, room, draining: 0 };
        let (tasks, timers, queue) = (Vec::new(), BinaryHeap::new(), VecDeque::new());
        Ok(Reactor { io_context, tasks, timers, queue, over })
    }

    /// Adds the two applications of a flow.
    pub(super) fn add(&mut self, sending: Sending, receiving: Receiving) -> io::Result<()> {
        let sender = self.tasks.len();
        receiving.listen(sender as u64 + 1, &self.io_context)?;
        let times = sending.times().into_iter().filter(|at| *at != Time::NEVER);
        self.timers.extend(times.map(|at| Reverse((at, sender))));
        for application in [Application::Sending(sending), Application::Receiving(receiving)] {
            self.tasks.push(Task {
                application,
                sleeps_until: Time::ZERO,
                is_queued: false,
                is_over: false,
            });
        }
        Ok(())
    }

    /// Runs until it is status to end.
    pub(super) fn run(mut self) -> io::Result<()> {
        while !self.over.load(SeqCst) {
            for _ in 0..STEPS {
                self.queue_due();
                let Some(number) = self.queue.pop_front() else { break };
                self.step(number);
            }
            let most = match (self.queue.is_empty(), self.timers.peek()) {
                (false, _) => Span::ZERO,
                (true, Some(Reverse((at, _)))) => self.io_context.clock.until(*at).min(LONGEST),
                (true, None) => LONGEST,
            };
            let (tasks, queue) = (&mut self.tasks, &mut self.queue);
            for number in self.io_context.readiness.wait(most)? {
                let Some(task) = tasks.get_mut(number as usize) else { continue };
                let sleeps = task.sleeps_until > Time::ZERO;
                if !sleeps && !task.is_over && !task.is_queued {
                    queue_last(task, queue, number as usize);
                }
            }
        }
        Ok(())
    }

    /// Puts applications whose time has come at the head of the queue.
    fn queue_due(&mut self) {
        let now = self.io_context.clock.now();
        while let Some(Reverse((at, number))) = self.timers.peek().copied()
            && at <= now
        {
            self.timers.pop();
            let task = &mut self.tasks[number];
            if task.is_over || task.sleeps_until > now {
                continue;
            }
            task.sleeps_until = Time::ZERO;
            if !task.is_queued {
                task.is_queued = true;
                self.queue.push_front(number);
            }
        }
    }

    fn step(&mut self, number: usize) {
        let (task, io_context) = (&mut self.tasks[number], &mut self.io_context);
        task.is_queued = false;
        let (then, status): (_, &FlowStatus) = match &mut task.application {
            Application::Sending(sending) => {
                let before = sending.is_draining();
                let then = sending.step(number as u64, io_context);
                let after = sending.is_draining() && then.is_ok();
                io_context.draining = io_context.draining - u64::from(before) + u64::from(after);
                (then, sending.status())
            }
            Application::Receiving(receiving) => {
                let then = receiving.step(number as u64, io_context);
                (then, receiving.status())
            }
        };
        match then {
            Ok(Then::Again) => queue_last(task, &mut self.queue, number),
            // A late application does not go before all others again and again.
            Ok(Then::At(at)) if at <= io_context.clock.now() => {
                queue_last(task, &mut self.queue, number);
            }
            Ok(Then::Ready) => {}
            Ok(Then::At(at)) => {
                task.sleeps_until = at;
                self.timers.push(Reverse((at, number)));
            }
            Ok(Then::Over) => task.is_over = true,
            Err(e) => {
                status.failed(&e);
                task.is_over = true;
            }
        }
    }
}

fn queue_last(task: &mut Task, queue: &mut VecDeque<usize>, number: usize) {
    task.is_queued = true;
    queue.push_back(number);
}
