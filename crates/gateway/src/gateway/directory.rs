//! The connection by which the switch tells its members.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::wire::Target;
use ratewire_acp::{Connection, Dialer};
use ratewire_config::Host;
use ratewire_daemon::log::reason;
use ratewire_daemon::resolve::resolve;
use ratewire_switch_interface::table::Table;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

/// Time from one attempt to connect to the next.
const RETRY: Duration = Duration::from_millis(500);
/// Time for a switch to answer that may be at another address, too.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the switch for its members, again and again, and gives each table and the address of the
/// switch to `apply`. Notes in `lack` why there is no connection. Asks anew when `doubts`
/// completes: a switch that has begun anew shows itself only to who sends it something.
pub(super) async fn follow(
    dialer: &Dialer,
    switch: &Host,
    lack: &RefCell<Option<String>>,
    apply: impl Fn(SocketAddr, Table),
    doubts: impl AsyncFn(),
) {
    let mut has_doubts = false;
    let (mut last, mut told) = (None, None);
    loop {
        let next = Instant::now() + RETRY;
        match connect(dialer, switch, last).await {
            Ok((address, connection)) => {
                (last, told) = (Some(address), None);
                if !core::mem::take(&mut has_doubts) {
                    info!(target: "ratewire_gateway", switch = address.to_string(), "connected");
                }
                lack.take();
                let apply = |table| apply(address, table);
                let Some(reason) = read(&connection, apply, &doubts).await else {
                    has_doubts = true;
                    sleep_until(next).await;
                    continue;
                };
                warn!(target: "ratewire_gateway", reason = reason.as_str(), "the switch is gone");
                *lack.borrow_mut() = Some(reason);
            }
            // It is tried again and again.
            Err(reason) if told.as_ref() == Some(&reason) => {}
            Err(reason) => {
                let why = reason.as_str();
                warn!(target: "ratewire_gateway", reason = why, "cannot connect with the switch");
                *lack.borrow_mut() = Some(reason.clone());
                told = Some(reason);
            }
        }
        sleep_until(next).await;
    }
}

/// Connects with the switch at one of its addresses, first at that where it was `last`.
async fn connect(
    dialer: &Dialer,
    switch: &Host,
    last: Option<SocketAddr>,
) -> Result<(SocketAddr, Connection), String> {
    let mut addresses = resolve(switch).await.map_err(|error| error.to_string())?;
    addresses.sort_by_key(|address| Some(*address) != last);
    let mut why = String::new();
    let count = addresses.len();
    for (k, address) in addresses.into_iter().enumerate() {
        let connecting = dialer.connect_for(address, Target::Table);
        let connected = match k + 1 == count {
            true => Ok(connecting.await),
            false => timeout(PATIENCE, connecting).await,
        };
        match connected {
            Ok(Ok(connection)) => return Ok((address, connection)),
            Ok(Err(error)) => why = format!("{address}: {}", reason(&error)),
            Err(_) => why = format!("{address}: no answer within 2 s"),
        }
    }
    Err(why)
}

/// Takes tables until the connection ends, and returns why it did; or until there are doubts about
/// what it has told.
async fn read(
    connection: &Connection,
    apply: impl Fn(Table),
    doubts: &impl AsyncFn(),
) -> Option<String> {
    let mut has_told = false;
    loop {
        let next = tokio::select! {
            next = connection.receive() => next,
            () = doubts(), if has_told => return None,
        };
        match next {
            Ok(Some(frame)) => match Table::decode(&frame.data) {
                Some(table) => apply(table),
                None => return Some("it tells what is no table of members".to_string()),
            },
            Ok(None) => return Some("the switch has ended the connection".to_string()),
            Err(error) => return Some(reason(&error)),
        }
        has_told = true;
    }
}
