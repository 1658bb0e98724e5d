//! The member's end of registrations.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use ratewire_acp::wire::Target;
use ratewire_acp::{Config, Connection, Dialer, Error};
use ratewire_config::Host;
use ratewire_daemon::log::reason;
use ratewire_daemon::resolve::resolve;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::time::{sleep, timeout};

use super::wire::{Application, Message, Reply, VERSION, decode, encode};
use crate::config::Token;

/// Time for the switch to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time for an address of a switch that has others, too.
const ATTEMPT: Duration = Duration::from_secs(2);
/// Time for the end of a registration that is over to reach the switch.
const FAREWELL: Duration = Duration::from_secs(1);
/// Time before the second attempt. Each wait is twice the one before, up to the longest.
const RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(2);
/// Renewals in the time after which a registration ends without one.
const RENEWALS: u32 = 3;

/// What a member says of itself.
#[derive(Clone, Debug)]
pub struct RegistrantConfig {
    /// Where the switch takes registrations. A name is resolved for each attempt.
    pub switch: Host,
    /// Settings of the connection with it; the credentials are those of the switch's members.
    pub acp: Config,
    /// The ensemble that the switch must serve.
    pub ensemble: String,
    /// The member's name, which no other has.
    pub name: String,
    /// Where the switch reaches the member. An address without a host, as in `0.0.0.0:5001`, has
    /// that from which the member reaches the switch.
    pub address: SocketAddr,
    /// The member's share of the frames, with `routing = "weighted"`.
    pub weight: f64,
    /// The secret that the switch asks for.
    pub token: Token,
}

/// What has happened to a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistrationEvent {
    /// The switch has given the member a place.
    Registered,
    /// The member is not registered, and tries again; why.
    Unregistered(String),
    /// The member has left, and the switch has taken back its sessions with it.
    Drained,
}

/// A member that registers at a switch, and again whenever that is needed.
pub struct Registrant {
    config: RegistrantConfig,
    dialer: Dialer,
    instance: u64,
}

impl Registrant {
    /// A member that is not registered yet. Call it in a tokio runtime.
    ///
    /// # Errors
    /// When no socket can be had, or the kernel gives no random numbers.
    pub fn new(config: RegistrantConfig) -> Result<Registrant, Error> {
        let dialer = Dialer::new(config.acp.clone());
        if let Some(address) = config.switch.address() {
            dialer.socket(address)?;
        }
        let mut instance = [0; 8];
        SystemRandom::new().fill(&mut instance).map_err(|_| Error::Random)?;
        let instance = u64::from_be_bytes(instance);
        Ok(Registrant { config, dialer, instance })
    }

    /// Stays registered until `leave` completes, and then waits until the switch has finished with
    /// the member. `note` gets what happens; a reason that has not changed is told once.
    pub async fn run(
        &self,
        leave: impl Future<Output = ()>,
        mut note: impl FnMut(RegistrationEvent),
    ) {
        let mut leave = pin!(leave);
        let (mut told, mut wait) = (None, RETRY);
        loop {
            let begun = tokio::select! {
                () = &mut leave => return,
                begun = self.begin() => begun,
            };
            let why = match begun {
                Ok((connection, pause)) => {
                    (told, wait) = (None, RETRY);
                    note(RegistrationEvent::Registered);
                    tokio::select! {
                        () = &mut leave => {
                            if finish(&connection, pause).await {
                                note(RegistrationEvent::Drained);
                                timeout(FAREWELL, connection.close()).await.ok();
                            }
                            return;
                        }
                        why = renew(&connection, pause) => why,
                    }
                }
                Err(why) => why,
            };
            if told.as_ref() != Some(&why) {
                told = Some(why.clone());
                note(RegistrationEvent::Unregistered(why));
            }
            tokio::select! {
                () = &mut leave => return,
                () = sleep(wait) => {}
            }
            wait = (wait * 2).min(LONGEST_RETRY);
        }
    }

    /// Connects with the switch at the first of its addresses that answers.
    async fn connect(&self) -> Result<Connection, String> {
        let addresses = resolve(&self.config.switch).await.map_err(|error| error.to_string())?;
        let mut why = String::new();
        let count = addresses.len();
        for (k, address) in addresses.into_iter().enumerate() {
            let connecting = self.dialer.connect_for(address, Target::Ensemble);
            let connected = match k + 1 == count {
                true => connecting.await.map_err(|error| reason(&error)),
                // Another address is better than one that does not answer.
                false => timeout(ATTEMPT, connecting)
                    .await
                    .map_err(|_| "it does not answer".to_string())
                    .and_then(|connected| connected.map_err(|error| reason(&error))),
            };
            match connected {
                Ok(connection) => return Ok(connection),
                Err(failed) => why = failed,
            }
        }
        Err(why)
    }

    /// Registers. Returns the connection, and the time between renewals.
    async fn begin(&self) -> Result<(Connection, Duration), String> {
        let RegistrantConfig { ensemble, name, address, weight, token, .. } = &self.config;
        let connection = self.connect().await?;
        let application = Message::Register(Application {
            version: VERSION,
            ensemble: ensemble.clone(),
            name: name.clone(),
            address: *address,
            weight: *weight,
            instance: self.instance,
            token: token.clone(),
        });
        match ask(&connection, &application).await? {
            Reply::Registered { lease_ms } => {
                Ok((connection, Duration::from_millis(lease_ms) / RENEWALS))
            }
            Reply::Refused { why } => Err(why),
            Reply::Drained => Err("the switch answers what was not asked".to_string()),
        }
    }
}

/// Asks for a renewal again and again; returns why the registration has ended.
async fn renew(connection: &Connection, pause: Duration) -> String {
    loop {
        tokio::select! {
            // The switch says nothing unasked, except that all is over.
            received = receive(connection) => match received {
                Ok(Reply::Refused { why }) | Err(why) => return why,
                Ok(_) => {}
            },
            () = sleep(pause) => match ask(connection, &Message::Renew).await {
                Ok(Reply::Registered { .. }) => {}
                Ok(Reply::Refused { why }) | Err(why) => return why,
                Ok(Reply::Drained) => return "the switch has drained the member".to_string(),
            },
        }
    }
}

/// Tells the switch that the member leaves. Returns whether the switch has finished with it.
async fn finish(connection: &Connection, pause: Duration) -> bool {
    let mut message = Message::Leave;
    while connection.send(encode(&message)).await.is_ok() {
        let heard = async {
            loop {
                match receive(connection).await {
                    Ok(Reply::Registered { .. }) => {}
                    other => return other,
                }
            }
        };
        match timeout(pause, heard).await {
            Ok(Ok(Reply::Drained)) => return true,
            Ok(_) => return false,
            Err(_) => message = Message::Renew,
        }
    }
    false
}

async fn ask(connection: &Connection, message: &Message) -> Result<Reply, String> {
    let asked = async {
        connection.send(encode(message)).await.map_err(|error| reason(&error))?;
        receive(connection).await
    };
    let answered = timeout(PATIENCE, asked).await;
    answered.unwrap_or_else(|_| Err("the switch has not answered in time".to_string()))
}

async fn receive(connection: &Connection) -> Result<Reply, String> {
    match connection.receive().await {
        Ok(Some(frame)) => {
            decode(&frame).ok_or_else(|| "the switch's answer cannot be read".to_string())
        }
        Ok(None) => Err("the switch has ended the registration".to_string()),
        Err(error) => Err(reason(&error)),
    }
}
