//! The connection by which the switch tells its members.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::wire::Target;
use ratewire_acp::{Connection, Endpoint};
use ratewire_daemon::log::reason;
use ratewire_switch_interface::table::Table;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

/// Time from one attempt to connect to the next.
const RETRY: Duration = Duration::from_millis(500);

/// Asks the switch for its members, again and again, and gives each table to `apply`. Notes
/// in `lack` why there is no connection.
pub(super) async fn follow(
    endpoint: &Endpoint,
    switch: SocketAddr,
    lack: &RefCell<Option<String>>,
    apply: impl Fn(&Table),
) {
    loop {
        let next = Instant::now() + RETRY;
        match endpoint.connect_for(switch, Target::Table).await {
            Ok(connection) => {
                info!(target: "ratewire_gateway", switch = switch.to_string(), "connected");
                lack.take();
                let reason = read(&connection, &apply).await;
                warn!(target: "ratewire_gateway", reason = reason.as_str(), "the switch is gone");
                *lack.borrow_mut() = Some(reason);
            }
            Err(error) => {
                let reason = reason(&error);
                warn!(target: "ratewire_gateway", reason = reason.as_str(), "cannot connect with the switch");
                *lack.borrow_mut() = Some(reason);
            }
        }
        sleep_until(next).await;
    }
}

/// Takes tables until the connection ends; returns why it did.
async fn read(connection: &Connection, apply: &impl Fn(&Table)) -> String {
    loop {
        match connection.receive().await {
            Ok(Some(frame)) => match Table::decode(&frame.data) {
                Some(table) => apply(&table),
                None => return "it tells what is no table of members".to_string(),
            },
            Ok(None) => return "the switch has ended the connection".to_string(),
            Err(error) => return reason(&error),
        }
    }
}
