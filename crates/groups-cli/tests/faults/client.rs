//! A client that sends and records, and connects again whenever its daemon has died.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use ratewire_groups::client::{Connection, GroupName, Options, Received, Service};
use tokio::sync::watch::Receiver;

use super::history::{Entry, History};
use super::{CLIENTS, Phase};

/// Time between messages.
const PACE: Duration = Duration::from_millis(20);
const RETRY: Duration = Duration::from_millis(100);

/// Number of clients that have got every last message.
pub(crate) type Done = Rc<Cell<usize>>;

/// Lives until the end, and returns the history of each connection.
pub(crate) async fn live(
    number: usize,
    address: String,
    phase: Receiver<Phase>,
    done: Done,
) -> Vec<History> {
    let address = address.parse().expect("an address");
    let mut histories = Vec::new();
    loop {
        let name = format!("c{number}").parse().ok();
        let options = Options { name, membership: true, ..Options::default() };
        if let Ok(connection) = Connection::connect(&address, options).await {
            let life = histories.len();
            let mut history = History::new(number, life);
            let has_ended = record(connection, &mut history, phase.clone(), &done).await;
            histories.push(history);
            if has_ended {
                return histories;
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Sends and records until the connection fails, or all clients have got every last message.
/// Returns whether they have.
///
/// When links come up one after the other, daemons may come to one view from several, and messages
/// of those do not reach all. So a client says its last message again in each view of all, and
/// stays until all have got every one.
async fn record(
    connection: Connection,
    history: &mut History,
    mut phase: Receiver<Phase>,
    done: &Done,
) -> bool {
    let group: GroupName = "all".parse().expect("a name");
    let (mut sender, mut receiver) = connection.split();
    if sender.join(group).await.is_err() {
        return false;
    }
    let mut pace = tokio::time::interval(PACE);
    let mut has_said_last = false;
    let mut last = std::collections::BTreeSet::new();
    loop {
        let is_end = *phase.borrow_and_update() == Phase::End;
        tokio::select! {
            received = receiver.receive() => {
                let entry = match received {
                    Ok(Received::Message { message, .. }) => {
                        let text = String::from_utf8(message.data.into()).expect("text");
                        if let Some((_, client)) = text.split_once("last ") {
                            last.insert(client.to_string());
                        }
                        Entry::Message(text)
                    }
                    Ok(Received::Membership(membership)) => {
                        has_said_last = false;
                        Entry::View(membership)
                    }
                    Ok(Received::Transition { id, .. }) => Entry::Transition(id),
                    Ok(_) => continue,
                    Err(_) => return false,
                };
                history.entries.push(entry);
                if last.len() == CLIENTS && !history.is_whole {
                    history.is_whole = true;
                    done.set(done.get() + 1);
                }
            }
            _ = pace.tick(), if history.is_member() => {
                if done.get() == CLIENTS && history.has_own() {
                    return true;
                }
                if has_said_last {
                    continue;
                }
                has_said_last = is_end && history.members() == CLIENTS;
                let text = history.next_message(has_said_last);
                if sender.multicast(Service::Agreed, &[group], 0, text).await.is_err() {
                    return false;
                }
            }
        }
    }
}
