//! The switch as a daemon: its configuration, log, status and commands around a [`Running`] switch.
//!
//! | part | is |
//! |---|---|
//! | `routing` | routing modules, those in WebAssembly among them |
//! | `names` | addresses of members and of the peer that are named |
//! | `probing` | questions to members, which they must answer to be up |
//! | `status` | the state of a running switch, by HTTP |
//! | `metrics` | the state as metrics |
//! | `commands` | commands to a running switch, by a Unix socket |
//! | `events` | the log |

mod commands;
mod error;
mod events;
mod metrics;
mod names;
mod probing;
mod routing;
mod status;

use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use commands::{Command, send};
pub use error::DaemonError;
use ratewire_acp::{self as acp, Credentials};
use ratewire_config::Host;
pub use ratewire_daemon::control::ControlError;
use ratewire_daemon::control::ControlServer;
use ratewire_daemon::log::Throttle;
use ratewire_daemon::process::begun;
use ratewire_daemon::secret::warn_if_others_may_read;
use ratewire_daemon::status::Server;
pub use ratewire_switch_interface::status::{
    AnyStatus, MemberStatus, ModuleStatus, PROGRAM, PeerStatus, RegistrationStatus, Status,
    StatusError, Totals, fetch_any, fetch_status,
};
pub use routing::check_module;
use tokio::task::{JoinSet, LocalSet};
use tracing::info;

use crate::config::{Config, TokenSource};
use crate::hub::{HubConfig, Member, Told};
use crate::key::KeyFile;
use crate::registration::Registry;
use crate::running::Running;
use crate::session::SessionConfig;
use commands::Commands;
use names::Addresses;
use probing::Prober;
use routing::Modules;
use status::Shown;

/// Runs a switch until `stop` completes and its peers are gone, or the time to drain is over.
/// `ready` is called when peers can connect. The routing module's file is read again whenever
/// `reload` completes.
///
/// # Errors
/// If a file cannot be used, or an address is taken or not of this host.
pub fn run(
    config: Config,
    stop: impl Future<Output = ()>,
    reload: impl AsyncFnMut(),
    ready: impl FnOnce(),
) -> Result<(), DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(DaemonError::Runtime)?;
    let done = LocalSet::new().block_on(&runtime, async {
        let keys = Keys::read(&config)?;
        serve(config, keys, stop, reload, |_| ready()).await
    });
    // A name that is being resolved holds nothing up.
    runtime.shutdown_background();
    done
}

/// What the ends of a switch's connections know each other by.
#[derive(Clone, Debug)]
pub struct Keys {
    /// That which it shares with its peers.
    pub peers: Credentials,
    /// That which it shares with its members.
    pub members: Credentials,
}

impl Keys {
    fn read(config: &Config) -> Result<Keys, DaemonError> {
        let read = |file| KeyFile::read(file).map_err(DaemonError::Key);
        Ok(Keys { members: read(&config.member_key)?, peers: read(&config.key)? })
    }
}

/// Runs a switch as [`run`] does, in a [`LocalSet`] of the caller's and without files of keys.
/// `ready` gets the address for peers.
///
/// # Errors
/// As for [`run`].
pub async fn serve(
    config: Config,
    keys: Keys,
    stop: impl Future<Output = ()>,
    mut reload: impl AsyncFnMut(),
    ready: impl FnOnce(SocketAddr),
) -> Result<(), DaemonError> {
    let spare = config.register.as_ref().map_or(0, |register| register.members as usize);
    let modules = Rc::new(Modules::load(&config, spare)?);
    let reloads = async {
        loop {
            reload().await;
            // What has come of it is in the log.
            modules.reload().await.ok();
        }
    };
    // From here on, signals to stop and to reload are awaited and do not end the process.
    let stop = begun(stop).await;
    let reloads = begun(reloads).await;
    let addresses = Addresses::of(&config).await;
    let hub = hub(&config, &modules, &keys, spare, &addresses);
    let credentials = keys.members;
    let running = Rc::new(Running::open(config.listen, config.from, hub)?);
    let version = env!("CARGO_PKG_VERSION");
    let address = running.address().to_string();
    info!(target: "ratewire_switch", address, version, "switch ready");
    let mut tasks = JoinSet::new();
    addresses.note_missing(&running);
    for (place, member) in config.members.iter().enumerate() {
        if let host @ Host::Name(..) = member.address.clone() {
            let running = Rc::clone(&running);
            let told = addresses.why(place);
            tasks.spawn_local(names::follow_member(running, host, config.from, place, told));
        }
    }
    if let Some(host @ Host::Name(..)) = config.peer.as_ref().map(|peer| peer.address.clone()) {
        tasks.spawn_local(names::follow_peer(Rc::clone(&running), host, config.listen));
    }
    let registry = match &config.register {
        Some(register) => {
            if let TokenSource::File(file) = &register.token {
                warn_if_others_may_read(file);
            }
            let token = register.token.read().map_err(DaemonError::Token)?;
            let (running, roster) = (Rc::clone(&running), Arc::clone(&modules.roster));
            let registry =
                Registry::open(&config, register, &token, credentials.clone(), running, roster)?;
            let address = registry.address().to_string();
            info!(target: "ratewire_switch", address, "members register");
            tasks.spawn_local(Rc::clone(&registry).serve());
            Some(registry)
        }
        None => None,
    };
    if let Some(probe) = &config.probe {
        let settings = acp::Config::new(credentials);
        let prober = Prober::open(probe, config.from, settings, Rc::clone(&running));
        let prober = prober.map_err(|error| DaemonError::From(config.from, error))?;
        for place in 0..config.members.len() + spare {
            tasks.spawn_local(Rc::clone(&prober).watch(place));
        }
    }
    if let Some(path) = &config.control {
        let server = ControlServer::bind(path).await;
        let server = server.map_err(|error| DaemonError::Control(path.clone(), error))?;
        let (running, modules) = (Rc::clone(&running), Rc::clone(&modules));
        tasks.spawn_local(server.serve(Rc::new(Commands { running, modules })));
        info!(target: "ratewire_switch", path = path.display().to_string(), "commands taken");
    }
    if let Some(address) = config.status {
        let server = Server::bind(address).await;
        let server = server.map_err(|error| DaemonError::Status(address, error))?;
        let address = server.address().to_string();
        info!(target: "ratewire_switch", address, "status served");
        let hosts = config.members.iter().map(|member| member.address.clone()).collect();
        let (running, modules) = (Rc::clone(&running), Rc::clone(&modules));
        let shown = Shown::new(running, modules, registry, seconds(), hosts);
        tasks.spawn_local(server.serve(&PROGRAM, Rc::new(shown)));
    }
    ready(running.address());
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = reloads => {}
        }
        info!(target: "ratewire_switch", "switch stops, and waits for its peers to end");
    };
    let strangers = Throttle::slow();
    let noting = |event| events::note(&running, &strangers, event);
    let done = running.run(stop, config.drain.to_std(), noting).await;
    info!(target: "ratewire_switch", "switch has ended");
    done.map_err(DaemonError::Socket)
}

/// Settings of ACP.
fn settings(config: &Config, credentials: Credentials) -> acp::Config {
    acp::Config {
        longest_frame: config.limits.longest_frame,
        connections: config.limits.connections as usize,
        ..acp::Config::new(credentials)
    }
}

/// What the sans-IO part is told.
fn hub(
    config: &Config,
    modules: &Modules,
    keys: &Keys,
    spare: usize,
    addresses: &Addresses,
) -> HubConfig {
    let credentials = &keys.members;
    let members = config.members.iter().enumerate().map(|(place, member)| {
        let address = addresses.get(place, config.from);
        Member {
            number: place as u64,
            weight: member.weight,
            prefixes: member.prefixes.clone(),
            ..Member::new(&member.name, address, credentials.clone())
        }
    });
    let mut peers = settings(config, keys.peers.clone());
    // A configuration has laws that there are.
    if let Some(name) = config.peer.as_ref().and_then(|peer| peer.law.as_ref())
        && let Ok(law) = name.parse()
    {
        (peers.law, peers.law_name) = (law, name.clone());
    }
    HubConfig {
        peers,
        peer: config.peer.as_ref().and_then(|peer| peer.address.address()),
        members: members.collect(),
        spare,
        session: SessionConfig {
            acp: settings(config, credentials.clone()),
            flow_control: config.flow_control,
            transforms: config.transforms,
            silence: config.silence,
        },
        routing: modules.maker(config),
        told: Told {
            choice: config.routing.told(),
            when_down: config.when_down,
            gather: config.register.as_ref().map_or(Duration::ZERO, |it| it.gather.to_std()),
        },
        patience: config.patience.to_std(),
    }
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the status tells when the switch was started")]
fn seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
