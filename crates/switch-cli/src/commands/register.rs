//! Registration of a member at switches.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ratewire_acp::{Config, Error};
use ratewire_command_line::{Exit, with_causes};
use ratewire_config::Host;
use ratewire_daemon::secret::warn_if_others_may_read;
use ratewire_switch::config::TokenSource;
use ratewire_switch::registration::{Registrant, RegistrantConfig, RegistrationEvent};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};

use super::programs::{Stop, time};

/// The variable of the environment with the token.
const TOKEN: &str = "RATEWIRE_TOKEN";

/// Options of registration.
#[derive(clap::Args)]
pub(super) struct RegisterArgs {
    /// Register at a switch: the address that `listen` has in [register] of its switch.toml, or its
    /// host's name and the port; may be given several times
    #[arg(long, value_name = "ADDRESS", requires = "name")]
    register: Vec<Host>,
    /// The member's name at the switch
    #[arg(long, requires = "register")]
    name: Option<String>,
    /// The file of the token that the switch asks for; without it, the environment's RATEWIRE_TOKEN
    #[arg(long, value_name = "FILE", requires = "register")]
    token: Option<PathBuf>,
    /// The ensemble that the switch must serve
    #[arg(long, value_name = "NAME", default_value = "default", requires = "register")]
    ensemble: String,
    /// Where the switch reaches the member, if not at --listen
    #[arg(long, value_name = "ADDRESS", requires = "register")]
    advertise: Option<SocketAddr>,
    /// The member's share of the frames, for a switch that routes by weight
    #[arg(long, default_value_t = 1.0, requires = "register")]
    weight: f64,
    /// Time after SIGTERM for switches to finish with the member, and for requests to be answered
    #[arg(long, value_name = "TIME", default_value = "10 s", value_parser = time)]
    drain: ratewire_units::Duration,
}

/// What is to be registered.
pub(super) struct Registration {
    configs: Vec<RegistrantConfig>,
    advertise: Option<SocketAddr>,
    drain: Duration,
}

/// A member that registers.
pub(super) struct Registering {
    registrants: Vec<(Host, Registrant)>,
    drain: Duration,
}

impl RegisterArgs {
    /// Reads the token; `acp` has the settings of connections with switches.
    pub(super) fn read(&self, acp: &Config) -> Result<Registration, Exit> {
        let mut configs = Vec::new();
        if let Some(name) = &self.name {
            let source = match &self.token {
                Some(file) => TokenSource::File(file.clone()),
                None => TokenSource::Environment(TOKEN.to_string()),
            };
            self.token.iter().for_each(|file| warn_if_others_may_read(file));
            let token = source.read().map_err(|error| {
                print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
                Exit::File
            })?;
            configs.extend(self.register.iter().map(|switch| RegistrantConfig {
                switch: switch.clone(),
                acp: acp.clone(),
                ensemble: self.ensemble.clone(),
                name: name.clone(),
                // Known when the member listens.
                address: SocketAddr::from(([0, 0, 0, 0], 0)),
                weight: self.weight,
                token: token.clone(),
            }));
        }
        let drain = Duration::from_nanos(self.drain.ps() / 1000);
        Ok(Registration { configs, advertise: self.advertise, drain })
    }
}

impl Registration {
    /// Makes the sockets of a member that listens at an address.
    pub(super) fn open(self, listen: SocketAddr) -> Result<Registering, Error> {
        let address = self.advertise.unwrap_or(listen);
        let open = |config: RegistrantConfig| {
            Ok((config.switch.clone(), Registrant::new(RegistrantConfig { address, ..config })?))
        };
        let registrants = self.configs.into_iter().map(open).collect::<Result<_, Error>>()?;
        Ok(Registering { registrants, drain: self.drain })
    }
}

impl Registering {
    /// Stays registered until `stop` completes and the switches have finished with the member, or
    /// the time for that is over. Returns what is left of that time.
    pub(super) async fn run(self, stop: Stop) -> Duration {
        let (leave, _) = watch::channel(());
        let mut tasks = JoinSet::new();
        for (switch, registrant) in self.registrants {
            let mut leave = leave.subscribe();
            tasks.spawn_local(async move {
                let left = async { _ = leave.changed().await };
                registrant.run(left, |event| note(&switch, event)).await;
            });
        }
        stop.await;
        let end = Instant::now() + self.drain;
        drop(leave);
        if !tasks.is_empty() {
            info!(target: "ratewire_switch", "the member leaves its switches");
        }
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout_at(end, all).await.is_err() {
            warn!(target: "ratewire_switch", "the member ends before its switches have finished");
        }
        end.saturating_duration_since(Instant::now())
    }
}

fn note(switch: &Host, event: RegistrationEvent) {
    let switch = switch.to_string();
    match event {
        RegistrationEvent::Registered => {
            info!(target: "ratewire_switch", switch, "registered");
        }
        RegistrationEvent::Unregistered(reason) => {
            warn!(target: "ratewire_switch", switch, reason, "not registered");
        }
        RegistrationEvent::Drained => {
            info!(target: "ratewire_switch", switch, "the switch has finished with the member");
        }
    }
}
