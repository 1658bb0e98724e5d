//! The switch's end of registrations.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ratewire_acp::{self as acp, Connection, Credentials, Endpoint};
use ratewire_daemon::log::Throttle;
use ratewire_units::Bytes;
use tokio::time::timeout;
use tracing::{info, warn};

use super::desk::{Claim, Desk, Refusal, Rules};
use super::wire::{Application, LONGEST, Message, Reply, decode, encode};
use crate::config::{Config, RegisterConfig, Token};
use crate::hub::{Duty, Member};
use crate::routing::Roster;
use crate::running::Running;

/// Connections beside those of members: of members that wait for a place, or are refused.
const OTHERS: usize = 64;
/// Time between looks at whether a member that leaves has finished.
const LOOK: Duration = Duration::from_millis(20);
/// Time for a connection to say who it is, at most.
const FIRST: Duration = Duration::from_secs(5);
/// Time for a member to take the last reply.
const FAREWELL: Duration = Duration::from_secs(1);

/// What keeps a switch from taking registrations.
#[derive(Debug)]
pub(crate) enum RegisterError {
    Start(acp::Error),
    Listen(SocketAddr, acp::Error),
}

/// The registrations of a running switch.
pub(crate) struct Registry {
    endpoint: Endpoint,
    lease: Duration,
    credentials: Credentials,
    running: Rc<Running>,
    roster: Arc<Roster>,
    desk: RefCell<Desk>,
    refused: Cell<u64>,
    last_refusal: RefCell<Option<String>>,
    throttle: Throttle,
}

impl Registry {
    /// Opens the address for registrations. The places of registered members follow those of the
    /// members in the file.
    pub(crate) fn open(
        config: &Config,
        register: &RegisterConfig,
        token: &Token,
        credentials: Credentials,
        running: Rc<Running>,
        roster: Arc<Roster>,
    ) -> Result<Rc<Registry>, RegisterError> {
        let first = config.members.len();
        let places = first..first + register.members as usize;
        let rules = Rules::new(config, &register.ensemble, token);
        let rules = rules.ok_or(RegisterError::Start(acp::Error::Random))?;
        let settings = acp::Config {
            connections: places.len() + OTHERS,
            longest_frame: Bytes::new(LONGEST),
            receive_buffer: Bytes::new(2 * LONGEST),
            idle_timeout: register.lease,
            keep_alive: None,
            ..acp::Config::new(credentials.clone())
        };
        let endpoint = Endpoint::server(register.listen, settings);
        let endpoint = endpoint.map_err(|error| RegisterError::Listen(register.listen, error))?;
        Ok(Rc::new(Registry {
            endpoint,
            lease: register.lease.to_std(),
            credentials,
            running,
            roster,
            desk: RefCell::new(Desk::new(rules, places)),
            refused: Cell::new(0),
            last_refusal: RefCell::new(None),
            throttle: Throttle::default(),
        }))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }
    pub(crate) fn places(&self) -> usize {
        self.desk.borrow().places()
    }
    pub(crate) fn registered(&self) -> usize {
        self.desk.borrow().registered()
    }
    pub(crate) fn refused(&self) -> u64 {
        self.refused.get()
    }
    /// First packets of members so far that were not made with the key.
    pub(crate) fn strangers(&self) -> u64 {
        self.endpoint.strangers()
    }
    pub(crate) fn last_refusal(&self) -> Option<String> {
        self.last_refusal.borrow().clone()
    }

    /// Takes registrations until the future is dropped.
    pub(crate) async fn serve(self: Rc<Self>) {
        let mut connections = tokio::task::JoinSet::new();
        let strangers = Throttle::slow();
        loop {
            let accepted = tokio::select! {
                accepted = self.endpoint.accept() => accepted,
                from = self.endpoint.stranger() => {
                    if let Some(left_out) = strangers.admit(self.running.now()) {
                        let peer = from.to_string();
                        warn!(target: "ratewire_switch", peer, left_out,
                              "a member that would register has another key");
                    }
                    continue;
                }
            };
            let Ok(connection) = accepted else { return };
            while connections.try_join_next().is_some() {}
            let registry = Rc::clone(&self);
            connections.spawn_local(async move { registry.attend(connection).await });
        }
    }

    /// Serves a connection until it or its registration ends.
    async fn attend(&self, connection: Connection) {
        let first = match timeout(FIRST.min(self.lease), connection.receive()).await {
            Ok(Ok(Some(frame))) => decode(&frame),
            _ => return,
        };
        let admitted = match &first {
            Some(Message::Register(applicant)) => self.admit(&connection, applicant),
            _ => Err("the first message is not one of a member that registers".to_string()),
        };
        match admitted {
            Ok(claim) => {
                let has_left = self.keep(&connection, claim).await;
                drop(connection);
                let place = self.desk.borrow_mut().release(claim);
                let Some(place) = place else { return };
                if !has_left {
                    // If this process was stopped, it is not the member that was silent.
                    self.pass(self.lease).await;
                    if !self.desk.borrow().is_left(place) {
                        return;
                    }
                }
                let member = self.name(place);
                info!(target: "ratewire_switch", member, "registered member gone");
                self.running.change(|hub, now| match has_left {
                    true => hub.dismiss(now, place),
                    // Others have not what it has: its place is kept for it.
                    false => hub.distrust(now, place, "its registration has ended"),
                });
            }
            Err(why) => {
                self.note_refusal(&connection, &first, &why);
                _ = connection.send(encode(&Reply::Refused { why })).await;
                _ = timeout(FAREWELL, connection.close()).await;
            }
        }
    }

    /// Lets so much of the switch's time pass.
    async fn pass(&self, time: Duration) {
        let until = self.running.now() + time;
        while let Some(left) = until.checked_sub(self.running.now()).filter(|left| !left.is_zero())
        {
            tokio::time::sleep(left).await;
        }
    }

    fn name(&self, place: usize) -> Option<String> {
        self.running.look(|hub| hub.member(place).map(|member| member.name.clone()))
    }

    fn admit(&self, connection: &Connection, applicant: &Application) -> Result<Claim, String> {
        let host = connection.peer().map_err(|error| error.to_string())?.ip();
        let admitted = self.desk.borrow_mut().register(applicant, host);
        let (claim, place, address) = admitted.map_err(|refusal: Refusal| refusal.to_string())?;
        let (name, weight) = (applicant.name.clone(), applicant.weight);
        info!(target: "ratewire_switch", member = name, address = address.to_string(), weight,
              "member registered");
        let number = self.roster.enlist(place, &name, weight);
        let (credentials, prefixes) = (self.credentials.clone(), Vec::new());
        let member = Member { name, address, credentials, number, weight, prefixes };
        self.running.change(|hub, now| hub.enlist(now, place, member));
        Ok(claim)
    }

    fn note_refusal(&self, connection: &Connection, first: &Option<Message>, why: &str) {
        self.refused.set(self.refused.get() + 1);
        let member = match first {
            Some(Message::Register(applicant)) => applicant.name.escape_debug().to_string(),
            _ => String::new(),
        };
        *self.last_refusal.borrow_mut() = Some(format!("{member}: {why}"));
        if let Some(left_out) = self.throttle.admit(self.running.now()) {
            let peer = connection.peer().map(|peer| peer.to_string()).unwrap_or_default();
            warn!(target: "ratewire_switch", member, peer, reason = why, left_out,
                  "registration refused");
        }
    }

    /// Renews a registration while its member asks for that, and drains the member if it leaves.
    /// Returns whether it has left.
    async fn keep(&self, connection: &Connection, claim: Claim) -> bool {
        let lease_ms = self.lease.as_millis() as u64;
        let mut leaves = false;
        let mut next = Some(Reply::Registered { lease_ms });
        loop {
            if let Some(reply) = next.take()
                && connection.send(encode(&reply)).await.is_err()
            {
                return leaves;
            }
            let received = timeout(self.lease, connection.receive());
            let received = tokio::select! {
                received = received => received,
                () = self.drained(claim), if leaves => {
                    _ = connection.send(encode(&Reply::Drained)).await;
                    // The member closes the connection when it has heard.
                    _ = timeout(FAREWELL, connection.receive()).await;
                    return true;
                }
            };
            let Ok(Ok(Some(frame))) = received else { return leaves };
            let Some(place) = self.desk.borrow().place(claim) else {
                let why = "another process has registered as this member".to_string();
                _ = connection.send(encode(&Reply::Refused { why })).await;
                return leaves;
            };
            match decode(&frame) {
                Some(Message::Renew) => next = Some(Reply::Registered { lease_ms }),
                Some(Message::Leave) => {
                    leaves = true;
                    self.running.change(|hub, now| hub.drain(now, place));
                }
                Some(Message::Register(_)) | None => return leaves,
            }
        }
    }

    /// Waits until the member of a claim has finished.
    async fn drained(&self, claim: Claim) {
        loop {
            let place = self.desk.borrow().place(claim);
            let is_drained =
                place.is_none_or(|place| self.running.look(|hub| hub.duty(place) == Duty::Drained));
            if is_drained {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
