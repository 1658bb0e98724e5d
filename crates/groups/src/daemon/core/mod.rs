//! The daemon's state, and what clients and links may do to it.

mod clients;
mod latency;
mod policy;
mod session;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_overlay::OverlayNodeId;
use ratewire_overlay::daemon::{Daemon, Settings};
use ratewire_overlay::membership;
use ratewire_timer::Timer;
use ratewire_units::{Duration, Time};
use tokio::sync::Notify;
use tokio::time::Instant;

pub(super) use clients::Core;
pub(super) use latency::{Latencies, Latency};
pub(super) use session::Session;

use super::body::Body;
use super::record::Record;
use crate::config::Config;
use crate::spread::{GroupName, Refusal, Request};

/// Shortest time between two looks at the queues.
const LEAST_INTERVAL: Duration = Duration::from_millis(2);
/// Shortest time between two times at which the core does what is due. Chance considers a message
/// again every few microseconds, and waking costs about as much.
const LEAST_PAUSE: std::time::Duration = std::time::Duration::from_micros(100);
/// Pause after a client's change of its groups while somebody is behind with such changes.
const CROWDED: std::time::Duration = std::time::Duration::from_millis(10);
/// Time by which the core's clock is set back: fifty days.
const DAYS: Duration = Duration::from_secs(50 * 24 * 3600);

/// A message on a link between daemons.
pub(super) type LinkMessage = membership::LinkMessage<GroupName, Body>;

/// What all tasks of a daemon share.
pub(super) struct Shared {
    config: RefCell<Rc<Config>>,
    pub(super) me: OverlayNodeId,
    pub(super) incarnation: u64,
    pub(super) record: Record,
    /// When the core's time was zero.
    start: Cell<Instant>,
    core: RefCell<Core>,
    /// Woken when the next deadline may have changed.
    clock: Notify,
    armed: Cell<Time>,
    /// Woken when others may wait for what this daemon has to tell.
    pace: Notify,
    /// By neighbour: the last connection.
    links: RefCell<BTreeMap<OverlayNodeId, Rc<Link>>>,
}

/// A connection with another daemon.
#[derive(Default)]
pub(super) struct Link {
    /// Woken when there is something to write.
    pub(super) writer: Notify,
    /// Woken when the peer has connected anew.
    pub(super) replaced: Notify,
}

impl Shared {
    pub(super) fn new(config: Config, me: OverlayNodeId) -> Shared {
        let incarnation = microseconds();
        let settings = Arc::new(Settings {
            params: config.params.clone(),
            nodes: config.daemons.len(),
            edges: config.edges(),
            least_interval: LEAST_INTERVAL.min(config.params.interval),
            window: config.limits.window,
        });
        let random = Xoshiro256PlusPlus::seed_from_u64(incarnation ^ u64::from(me.0));
        let daemon = Daemon::new(me, incarnation, settings, random);
        let core = Core::new(daemon);
        let shared = Shared {
            config: RefCell::new(Rc::new(config)),
            me,
            incarnation,
            record: Record::new(),
            start: Cell::new(Instant::now()),
            core: RefCell::new(core),
            clock: Notify::new(),
            armed: Cell::new(Time::NEVER),
            pace: Notify::new(),
            links: RefCell::default(),
        };
        shared.note_links();
        shared
    }

    /// The configuration, as last read.
    pub(super) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.config.borrow())
    }

    /// Goes on with another configuration, which [can take the place](Config::check_reload) of the
    /// present one.
    pub(super) fn reload(&self, config: Config) {
        self.config.replace(Rc::new(config));
        self.note_links();
        self.pass_on();
    }

    /// Notes what the configuration says of daemons, links and policies.
    fn note_links(&self) {
        let config = self.config();
        let mut core = self.core.borrow_mut();
        let (edges, known) = (config.edges(), config.link_fingerprints());
        core.daemon.know(self.now(), edges, known, config.terms());
        let mut links = self.links.borrow_mut();
        for peer in core.daemon.links().map(|link| link.peer) {
            links.entry(peer).or_insert_with(|| {
                self.record.add_link(&config, peer);
                Rc::default()
            });
        }
    }

    pub(super) fn now(&self) -> Time {
        Time::ZERO + Duration::from_nanos(self.start.get().elapsed().as_nanos() as u64)
    }

    /// The time at which the core's time was zero, in microseconds since 1970, if messages carry
    /// the time at which they were sent.
    fn clock(&self) -> Option<u64> {
        let now = || self.now().ps() / 1_000_000;
        self.config().measures_latency.then(|| microseconds().saturating_sub(now()))
    }

    /// Sets the core's clock back once in a while: it has room for 213 days.
    fn set_back(&self) {
        if self.now() > Time::ZERO + DAYS * 2 {
            self.start.set(self.start.get() + DAYS.to_std());
            self.core.borrow_mut().daemon.set_back(DAYS);
        }
    }

    fn instant(&self, time: Time) -> Instant {
        self.start.get() + std::time::Duration::from_nanos(time.ps().div_ceil(1000))
    }

    /// Limit of a client's queue in bytes.
    pub(super) fn queue_limit(&self) -> usize {
        self.config().limits.queue_per_client.get() as usize
    }

    /// Whether a client with this name may connect.
    pub(super) fn admit(&self, name: Option<&str>) -> Result<(), Refusal> {
        self.core.borrow().admit(self, name)
    }

    /// Registers a client, if it is admitted.
    pub(super) fn connect(
        &self,
        name: Option<&str>,
        from: &str,
        wants_membership: bool,
    ) -> Result<Rc<Session>, Refusal> {
        let session = self.core.borrow_mut().connect(self, name, from, wants_membership)?;
        self.record.count(|totals| totals.accepted += 1);
        Ok(session)
    }

    /// Notes that a client's connection has ended.
    pub(super) fn disconnect(&self, session: &Session) {
        self.core.borrow_mut().forget(self.now(), session);
        self.pass_on();
    }

    /// Lets a client go that has ended while a message of it waited. Returns a session that sends
    /// this message, and what came after it.
    pub(super) fn outlive(&self, session: &Session) -> Rc<Session> {
        self.core.borrow_mut().outlive(self, session)
    }

    /// Does what a client asks. Returns whether the client may go on; else
    /// [`Session::reader`] says when.
    pub(super) fn act(&self, session: &Session, request: Request) -> bool {
        self.core.borrow_mut().act(self, session, request)
    }

    /// Passes on what the core has for clients and links. To be called after messages were taken
    /// in.
    pub(super) fn pass_on(&self) {
        self.flush(&mut self.core.borrow_mut());
        self.pace.notify_one();
    }

    fn flush(&self, core: &mut Core) {
        loop {
            while let Some(delivery) = core.daemon.poll_delivery() {
                core.deliver(self, delivery);
            }
            let changed = core::mem::take(&mut core.changed);
            if changed.is_empty() {
                break;
            }
            for id in changed {
                core.state_queue(self, id);
            }
        }
        core.note_overfull(self);
        while let Some(id) = core.daemon.poll_sent() {
            if let Some(session) = core.sessions.get(&id) {
                session.reader.notify_one();
            }
        }
        while let Some(peer) = core.daemon.poll_link() {
            if let Some(link) = self.links.borrow().get(&peer) {
                link.writer.notify_one();
            }
        }
        if core.daemon.deadline() < self.armed.get() {
            self.clock.notify_one();
        }
    }

    /// Notes that messages to a client are written.
    pub(super) fn written(&self, session: &Session) {
        let mut core = self.core.borrow_mut();
        core.state_queue(self, session.id);
        core.resume(self, session);
        self.flush(&mut core);
    }

    /// Whether others wait for a client to read.
    pub(super) fn is_waited_for(&self, session: &Session) -> bool {
        let daemon = &self.core.borrow().daemon;
        daemon.holds_others(session.id)
            && (session.holds_senders.get() || !daemon.member().agrees())
    }

    /// Ends the connection of a client that has read nothing for the longest time.
    pub(super) fn cut_off_stalled(&self, session: &Session) {
        self.core.borrow_mut().cut_off(self, session, clients::STALLED);
        self.pass_on();
    }

    /// Passes on a change of a client's groups, and lets members read the notice of it before the
    /// client's next change.
    pub(super) async fn pass_on_change(&self, session: &Session) {
        self.pass_on();
        let is_crowded = self.look(|core| core.is_crowded(session.id));
        match is_crowded {
            true => tokio::time::sleep(CROWDED).await,
            false => tokio::task::yield_now().await,
        }
    }

    /// Shows the core and its clients.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Core) -> T) -> T {
        look(&self.core.borrow())
    }

    /// Daemons that this one has links with.
    pub(super) fn peers(&self) -> Vec<OverlayNodeId> {
        self.links.borrow().keys().copied().collect()
    }

    /// Whether there is a connection with a peer.
    pub(super) fn is_up(&self, peer: OverlayNodeId) -> bool {
        self.look(|core| core.daemon.links().any(|link| link.peer == peer && link.is_up))
    }

    /// Ends the connection with a peer, if there is one.
    pub(super) fn end_link(&self, peer: OverlayNodeId) {
        if let Some(link) = self.links.borrow().get(&peer) {
            link.replaced.notify_one();
        }
    }

    /// Notes a new connection with a peer, which takes the place of an earlier one.
    pub(super) fn link_up(&self, peer: OverlayNodeId, connection: u64) -> Option<Rc<Link>> {
        let new = Rc::new(Link::default());
        let old = core::mem::replace(self.links.borrow_mut().get_mut(&peer)?, Rc::clone(&new));
        old.replaced.notify_one();
        self.record.link_up(peer);
        self.core.borrow_mut().daemon.link_up(self.now(), peer, connection);
        self.pass_on();
        Some(new)
    }

    /// Notes the end of a connection, if it is the last one with its peer.
    pub(super) fn link_down(&self, peer: OverlayNodeId, link: &Rc<Link>, reason: String) {
        if self.is_current(peer, link) {
            self.record.link_down(peer, reason);
            self.core.borrow_mut().daemon.link_down(self.now(), peer);
            self.pass_on();
        }
    }

    fn is_current(&self, peer: OverlayNodeId, link: &Rc<Link>) -> bool {
        self.links.borrow().get(&peer).is_some_and(|current| Rc::ptr_eq(current, link))
    }

    /// Takes in a message from another daemon. Returns whether the message can be one.
    pub(super) fn receive(
        &self,
        peer: OverlayNodeId,
        link: &Rc<Link>,
        message: LinkMessage,
    ) -> bool {
        let is_valid = message.is_valid(self.config().daemons.len());
        if is_valid && self.is_current(peer, link) {
            self.core.borrow_mut().daemon.receive(self.now(), peer, message);
        }
        is_valid
    }

    /// The next message for another daemon.
    pub(super) fn take(&self, peer: OverlayNodeId, link: &Rc<Link>) -> Option<LinkMessage> {
        let is_current = self.is_current(peer, link);
        is_current.then(|| self.core.borrow_mut().daemon.take(self.now(), peer))?
    }

    /// Lets all clients go.
    pub(super) fn leave(&self) {
        let sessions: Vec<Rc<Session>> = self.core.borrow().sessions.values().cloned().collect();
        for session in sessions {
            session.close([]);
            self.disconnect(&session);
        }
    }
}

/// Lets time pass for the core.
pub(super) async fn keep_time(shared: Rc<Shared>, timer: Timer) {
    let mut earliest = Instant::now();
    loop {
        let deadline = shared.core.borrow().daemon.deadline();
        shared.armed.set(deadline);
        let due = shared.instant(deadline).max(earliest);
        let wait = due.saturating_duration_since(Instant::now());
        tokio::select! {
            () = timer.wait(Some(wait)) => {
                shared.set_back();
                let mut core = shared.core.borrow_mut();
                core.daemon.advance(shared.now());
                shared.flush(&mut core);
                earliest = Instant::now() + LEAST_PAUSE;
            }
            () = shared.clock.notified() => {}
        }
    }
}

/// Tells others how far this daemon is, once for all that has come in the meantime.
pub(super) async fn keep_pace(shared: Rc<Shared>) {
    loop {
        shared.pace.notified().await;
        tokio::task::yield_now().await;
        let mut core = shared.core.borrow_mut();
        core.daemon.hurry(shared.now());
        shared.flush(&mut core);
    }
}

/// Microseconds since 1970. A restarted daemon has another number, larger unless the clock was set
/// back.
#[expect(clippy::disallowed_methods, reason = "the number names a start of the daemon")]
pub(super) fn microseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}
