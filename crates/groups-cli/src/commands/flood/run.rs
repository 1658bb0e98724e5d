//! Runs a flood.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use ratewire_groups::client::{
    Address, Connection, Error, GroupName, Options, Received, Receiver, Request, Sender,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::super::clock::Clock;
use super::client::{Common, receive, send};
use super::plan::{End, Plan};
use super::tally::Shared;

/// Time in which all receivers must have joined.
const SETUP: Duration = Duration::from_secs(10);
/// More of that time for each client: daemons accept 100 connections a second if nothing else is
/// configured.
const SETUP_PER_CLIENT: Duration = Duration::from_millis(20);
/// Time without progress after which senders are given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time without progress after which messages that have not arrived count as lost.
const GRACE: Duration = Duration::from_secs(2);
/// Time after the end in which messages may arrive, if some still do.
const DRAIN: Duration = Duration::from_secs(10);
/// Longest flood without an end of its own.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);
/// Time for the daemons to end the connections.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why a flood has no results.
pub(super) enum Trouble {
    /// A connection has failed.
    Client(Error),
    /// Not all receivers have joined within this time.
    Setup(Duration),
}

/// A client that is ready.
struct Ready {
    sender: Sender,
    receiver: Receiver,
    /// Its number among the receivers.
    receiving: Option<usize>,
}

/// Connections of a flood.
struct Clients {
    senders: JoinSet<Result<Sender, Error>>,
    receivers: JoinSet<Error>,
    /// Halves of receivers that do not send, and of senders that are done.
    idle: Vec<Sender>,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Client(error)
    }
}

/// Runs a flood to its end.
pub(super) async fn run(plan: Plan) -> Result<Rc<Shared>, Trouble> {
    let length = match plan.end {
        End::Count(_) => None,
        End::At(end) => Some(Duration::from_secs_f64(end.secs())),
    };
    let longest = SETUP + SETUP_PER_CLIENT * (plan.senders + plan.receivers) as u32;
    let setup = timeout(longest, connect(&plan)).await.map_err(|_| Trouble::Setup(longest))?;
    let (senders, receivers) = setup?;
    let shared = Rc::new(Shared::new(&plan));
    let clock = Clock::start();
    let common = Common { plan: Rc::new(plan), shared: shared.clone(), clock };
    let (mut sending, mut receiving, mut idle) = (JoinSet::new(), JoinSet::new(), Vec::new());
    for Ready { sender, receiver, receiving: me } in receivers {
        receiving.spawn_local(receive(common.clone(), me, receiver));
        idle.push(sender);
    }
    for (number, Ready { sender, receiver, receiving: me }) in senders.into_iter().enumerate() {
        receiving.spawn_local(receive(common.clone(), me, receiver));
        sending.spawn_local(send(common.clone(), number, sender));
    }
    let mut clients = Clients { senders: sending, receivers: receiving, idle };
    let longest = length.map_or(LONGEST, |length| length + DRAIN);
    let is_sent = |clients: &Clients| clients.senders.is_empty();
    tokio::select! {
        done = clients.wait(&shared, longest, PATIENCE, is_sent) => {
            done?;
        }
        _ = tokio::signal::ctrl_c() => {
            shared.tally.borrow_mut().stop(clock.now());
            clients.wait(&shared, DRAIN, GRACE, is_sent).await?;
        }
    }
    let is_received = |_: &Clients| shared.tally.borrow().missing() == 0;
    let is_calm = clients.wait(&shared, DRAIN, GRACE, is_received).await?;
    shared.tally.borrow_mut().is_drained = is_calm;
    shared.tally.borrow_mut().is_over = true;
    clients.end().await;
    Ok(shared)
}

/// Connects all clients, first those that only receive. All receivers have joined all groups.
async fn connect(plan: &Plan) -> Result<(Vec<Ready>, Vec<Ready>), Error> {
    let mut receivers = Vec::new();
    for number in 0..plan.receivers {
        receivers.push(open(plan.daemon_of_receiver(number), Some(number)).await?);
    }
    let mut senders = Vec::new();
    for number in 0..plan.senders {
        let receiving = plan.is_closed().then_some(number);
        senders.push(open(plan.daemon_of_sender(number), receiving).await?);
    }
    match plan.is_closed() {
        true => senders = join_all(senders, plan).await?,
        false => receivers = join_all(receivers, plan).await?,
    }
    Ok((senders, receivers))
}

/// Lets clients join all groups. All read at the same time: notices of many members are long.
async fn join_all(clients: Vec<Ready>, plan: &Plan) -> Result<Vec<Ready>, Error> {
    let mut joining = JoinSet::new();
    for client in clients {
        joining.spawn_local(join(client, plan.groups.clone(), plan.receiving()));
    }
    let mut joined = Vec::new();
    while let Some(client) = joining.join_next().await {
        joined.push(client.expect("no task panics")?);
    }
    joined.sort_by_key(|client| client.receiving);
    Ok(joined)
}

/// Joins groups, and waits until each has this number of members.
async fn join(mut client: Ready, groups: Vec<GroupName>, members: usize) -> Result<Ready, Error> {
    for group in &groups {
        client.sender.send(&Request::Join(*group)).await?;
    }
    let mut whole = BTreeSet::new();
    while whole.len() < groups.len() {
        if let Received::Membership(membership) = client.receiver.receive().await?
            && membership.members.len() >= members
        {
            whole.insert(membership.group);
        }
    }
    Ok(client)
}

async fn open(address: &Address, receiving: Option<usize>) -> Result<Ready, Error> {
    let options = Options { membership: receiving.is_some(), ..Options::default() };
    let (sender, receiver) = Connection::connect(address, options).await?.split();
    Ok(Ready { sender, receiver, receiving })
}

impl Clients {
    /// Waits until `is_done`, or nothing has been sent or received for as long as `patience`, at
    /// most for as long as `longest`. Returns false in the last case.
    async fn wait(
        &mut self,
        shared: &Shared,
        longest: Duration,
        patience: Duration,
        is_done: impl Fn(&Clients) -> bool,
    ) -> Result<bool, Error> {
        let mut progress = shared.tally.borrow().progress();
        let mut calm = Duration::ZERO;
        let step = Duration::from_millis(10);
        let deadline = Instant::now() + longest;
        while !is_done(self) && calm < patience {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            tokio::select! {
                Some(done) = self.senders.join_next() => {
                    self.idle.push(done.expect("no task panics")?);
                }
                Some(error) = self.receivers.join_next() => {
                    return Err(error.expect("no task panics"));
                }
                () = sleep(step) => calm += step,
            }
            let now = shared.tally.borrow().progress();
            if std::mem::replace(&mut progress, now) != now {
                calm = Duration::ZERO;
            }
        }
        Ok(true)
    }

    /// Ends all connections. Errors do not matter any more.
    async fn end(mut self) {
        self.senders.abort_all();
        let farewell = async {
            for sender in &mut self.idle {
                _ = sender.send(&Request::Disconnect).await;
            }
            while self.receivers.join_next().await.is_some() {}
        };
        _ = timeout(FAREWELL, farewell).await;
    }
}
