//! The daemon: clients and other daemons, by sockets, around the sans-IO core.
//!
//! One thread does everything. A task for each connection reads messages and acts on the core. The
//! core puts messages for clients and daemons into queues, which a task for each connection writes.
//!
//! | file | is |
//! |---|---|
//! | `core` | the daemon's state, and what clients may do to it |
//! | `notice` | what a client is told, as bytes |
//! | `item` | a message to a client |
//! | `outbox` | queue to a client |
//! | `unsent` | messages that wait in the kernel |
//! | `client`, `writing` | a client's connection |
//! | `socket` | a client's socket: what may wait in the kernel, and dead hosts |
//! | `link` | connections with other daemons |
//! | `strangers` | connections that may become links, and how many |
//! | `progress` | deadlines that begin anew whenever bytes pass |
//! | `listen` | sockets for clients, and their limits |
//! | `waiting` | clients' connections that wait to be served |
//! | `body` | data of a message on its way |
//! | `record` | counters and events |
//! | `status` | the daemon's state, for people and programs |

mod body;
mod client;
mod core;
mod error;
pub mod fuzzing;
mod item;
mod link;
mod listen;
mod notice;
mod outbox;
mod progress;
mod record;
mod socket;
mod status;
mod strangers;
mod unsent;
mod waiting;
mod writing;

use std::future::Future;
use std::rc::Rc;

use ratewire_overlay::OverlayNodeId;
use ratewire_timer::Timer;
use tokio::task::LocalSet;
use tracing::info;

use self::core::Shared;
pub use self::error::DaemonError;
use crate::config::Config;
pub use ratewire_groups_interface::status::{
    ClientStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status, StatusError, Totals,
    Traffic, ViewStatus, fetch_status,
};

/// Time for the last messages to other daemons when a daemon ends.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(500);

/// Runs daemon `me` until `stop` completes. `ready` is called when clients can connect.
///
/// # Errors
/// If an address is taken or not of this host, or a certificate cannot be read.
pub fn run(
    config: Config,
    me: OverlayNodeId,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(DaemonError::Runtime)?;
    LocalSet::new().block_on(&runtime, serve(config, me, stop, ready))
}

async fn serve(
    config: Config,
    me: OverlayNodeId,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let daemon = config.daemon(me).name.clone();
    let version = env!("CARGO_PKG_VERSION");
    info!(target: "ratewire_groups", daemon, version, "daemon starts");
    let links = link::Links::open(&config, me).await?;
    let listeners = listen::Listeners::open(&config, me).await?;
    let status = status::Listener::open(&config, me).await?;
    let timer = Timer::new().map_err(DaemonError::Runtime)?;
    let shared = Rc::new(Shared::new(config, me));
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn_local(core::keep_time(Rc::clone(&shared), timer));
    tasks.spawn_local(core::keep_pace(Rc::clone(&shared)));
    links.start(&shared, &mut tasks);
    listeners.start(&shared, &mut tasks);
    status.start(&shared, &mut tasks);
    info!(target: "ratewire_groups", daemon, "daemon ready");
    ready();
    stop.await;
    info!(target: "ratewire_groups", daemon, "daemon stops");
    shared.leave();
    tokio::time::sleep(FAREWELL).await;
    Ok(())
}
