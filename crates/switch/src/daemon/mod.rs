//! The switch as a daemon: its configuration, log and status around a [`Running`] switch.
//!
//! | part | is |
//! |---|---|
//! | `routing` | routing modules, those in WebAssembly among them |
//! | `model` | the state, as JSON, metrics and text |
//! | `status` | the state of a running switch, by HTTP |

mod error;
mod model;
mod routing;
mod status;

use std::future::Future;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

pub use error::DaemonError;
pub use model::{MemberStatus, ModuleStatus, Status, Totals};
use ratewire_acp as acp;
use ratewire_daemon::log::reason;
use ratewire_daemon::status::Server;
pub use ratewire_daemon::status::StatusError;
pub use status::fetch_status;
use tokio::task::LocalSet;
use tracing::{info, warn};

use crate::config::{Config, KeyFile};
use crate::hub::{HubConfig, HubEvent, Member};
use crate::length;
use crate::running::Running;
use crate::session::SessionConfig;
use routing::Modules;
use status::{PROGRAM, Shown};

/// Runs a switch until `stop` completes and its peers are gone, or the time to drain is over.
/// `ready` is called when peers can connect.
///
/// # Errors
/// If a file cannot be used, or an address is taken or not of this host.
pub fn run(
    config: Config,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(DaemonError::Runtime)?;
    LocalSet::new().block_on(&runtime, serve(config, stop, ready))
}

async fn serve(
    config: Config,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let modules = Modules::load(&config)?;
    let hub = hub(&config, &modules)?;
    let running = Running::open(config.listen, config.from, hub);
    let running = Rc::new(running.map_err(|error| DaemonError::Listen(config.listen, error))?);
    let status = match config.status {
        Some(address) => {
            let server = Server::bind(address).await;
            Some(server.map_err(|error| DaemonError::Status(address, error))?)
        }
        None => None,
    };
    let version = env!("CARGO_PKG_VERSION");
    let address = running.address().to_string();
    info!(target: "ratewire_switch", address, version, "switch ready");
    if let Some(server) = status {
        let address = server.address().to_string();
        info!(target: "ratewire_switch", address, "status served");
        let shown = Rc::new(Shown::new(Rc::clone(&running), modules, seconds()));
        tokio::task::spawn_local(server.serve(&PROGRAM, shown));
    }
    ready();
    let names: Vec<String> = config.members.iter().map(|member| member.name.clone()).collect();
    let stop = async {
        stop.await;
        info!(target: "ratewire_switch", "switch stops, and waits for its peers to end");
    };
    let done = running.run(stop, length(config.drain), |event| note(&names, event)).await;
    info!(target: "ratewire_switch", "switch has ended");
    done.map_err(DaemonError::Socket)
}

/// What the sans-IO part is told.
fn hub(config: &Config, modules: &Modules) -> Result<HubConfig, DaemonError> {
    let credentials = KeyFile::read(&config.member_key).map_err(DaemonError::Key)?;
    let of_acp = |credentials| acp::Config {
        longest_frame: config.limits.longest_frame,
        connections: config.limits.connections as usize,
        ..acp::Config::new(credentials)
    };
    let members = config.members.iter().map(|member| Member {
        name: member.name.clone(),
        address: member.address,
        credentials: credentials.clone(),
    });
    Ok(HubConfig {
        peers: of_acp(KeyFile::read(&config.key).map_err(DaemonError::Key)?),
        members: members.collect(),
        session: SessionConfig {
            acp: of_acp(credentials),
            flow_control: config.flow_control,
            transforms: config.transforms,
            silence: config.silence,
        },
        routing: modules.maker(config),
        patience: length(config.patience),
    })
}

fn note(names: &[String], event: HubEvent) {
    match event {
        HubEvent::PeerConnected(address) => {
            let peer = address.to_string();
            info!(target: "ratewire_switch", peer, "peer connected");
        }
        HubEvent::PeerGone(address, why) => {
            let (peer, reason) = (address.to_string(), reason(&why));
            info!(target: "ratewire_switch", peer, reason, "peer gone");
        }
        HubEvent::MemberUp(k) => {
            info!(target: "ratewire_switch", member = names[k], "member up");
        }
        HubEvent::MemberDown(k, reason) => {
            warn!(target: "ratewire_switch", member = names[k], reason, "member down");
        }
    }
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the status tells when the switch was started")]
fn seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
