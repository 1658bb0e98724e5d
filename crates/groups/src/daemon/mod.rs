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
//! | `unsent` | messages that are written and wait in kernels |
//! | `unread` | what a TCP client's kernel holds |
//! | `slowness` | whether a client reads slowly |
//! | `client`, `writing` | a client's connection |
//! | `socket` | a client's socket: what may wait in the kernel, and dead hosts |
//! | `link` | connections with other daemons |
//! | `source` | where connections come from |
//! | `strangers` | connections that may become links, and how many |
//! | `progress` | deadlines that begin anew whenever bytes pass |
//! | `listen` | sockets for clients, and their limits |
//! | `waiting` | clients' connections that wait to be served |
//! | `body` | data of a message on its way |
//! | `reload` | another configuration while the daemon runs |
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
mod reload;
mod slowness;
mod socket;
mod source;
mod status;
mod strangers;
mod unread;
mod unsent;
mod waiting;
mod writing;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

pub use ratewire_daemon::control::ControlError;
use ratewire_daemon::control::ControlServer;
use ratewire_daemon::process::begun;
use ratewire_overlay::OverlayNodeId;
use ratewire_timer::Timer;
use tokio::task::LocalSet;
use tracing::info;

use self::core::Shared;
pub use self::error::DaemonError;
use self::reload::Reloads;
pub use self::reload::reload;
use crate::config::{Config, Daemon};
pub use ratewire_groups_interface::status::{
    ClientStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status, StatusError, Totals,
    Traffic, ViewStatus, fetch_status,
};

/// Time for the last messages to other daemons when a daemon ends.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(500);

/// Runs daemon `me` until `stop` completes. Whenever `reload` completes, the file of the
/// configuration is read again. `ready` is called when clients can connect.
///
/// # Errors
/// If an address is taken or not of this host, or a certificate cannot be read.
pub fn run(
    config: Config,
    me: OverlayNodeId,
    stop: impl Future<Output = ()>,
    reload: impl AsyncFnMut(),
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(DaemonError::Runtime)?;
    LocalSet::new().block_on(&runtime, serve(config, me, stop, reload, ready))
}

async fn serve(
    config: Config,
    me: OverlayNodeId,
    stop: impl Future<Output = ()>,
    mut reload: impl AsyncFnMut(),
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    // As early as this, because logged addresses tell others that the daemon can be stopped.
    let stop = begun(stop).await;
    let Daemon { name: daemon, control, .. } = config.daemon(me).clone();
    let version = env!("CARGO_PKG_VERSION");
    info!(target: "ratewire_groups", daemon, version, "daemon starts");
    let mut links = link::Links::open(&config, me).await?;
    let listeners = listen::Listeners::open(&config, me).await?;
    let status = status::Listener::open(&config, me).await?;
    let server = match control {
        Some(path) => {
            let server = ControlServer::bind(&path).await;
            Some(server.map_err(|error| DaemonError::Control(path, error))?)
        }
        None => None,
    };
    let timer = Timer::new().map_err(DaemonError::Runtime)?;
    let shared = Rc::new(Shared::new(config, me));
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn_local(core::keep_time(Rc::clone(&shared), timer));
    tasks.spawn_local(core::keep_pace(Rc::clone(&shared)));
    links.start(&shared);
    listeners.start(&shared, &mut tasks);
    status.start(&shared, &mut tasks);
    let reloads = Rc::new(Reloads { shared: Rc::clone(&shared), links: RefCell::new(links) });
    if let Some(server) = server {
        tasks.spawn_local(server.serve(Rc::clone(&reloads)));
    }
    let reloading = async {
        loop {
            reload().await;
            // What has come of it is in the log.
            reloads.reload().ok();
        }
    };
    // From here on, a signal to reload is awaited and does not end the process.
    let reloading = begun(reloading).await;
    info!(target: "ratewire_groups", daemon, "daemon ready");
    ready();
    tokio::select! {
        () = stop => {}
        () = reloading => {}
    }
    info!(target: "ratewire_groups", daemon, "daemon stops");
    shared.leave();
    tokio::time::sleep(FAREWELL).await;
    Ok(())
}
