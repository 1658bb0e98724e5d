//! `ratewire-switch proxy`: a gateway, a switch and members in one process.

use std::future::pending;
use std::net::SocketAddr;
use std::pin::pin;

use clap::ValueEnum;
use ratewire_acp::{self as acp, Credentials, KeyPair};
use ratewire_command_line::{Exit, with_causes};
use ratewire_config::Server;
use ratewire_daemon::process::{begun, notify_ready, start_log, wait_for_stop_signal};
use ratewire_framing::Framing;
use ratewire_gateway::OpenError;
use ratewire_gateway::gateway::Gateway;
use ratewire_gateway::member::{Member, MemberConfig};
use ratewire_switch::config::{self, RoutingConfig, WhenDown};
use ratewire_switch::daemon::{self, DaemonError, Keys};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet};

use super::files::Shares;
use super::gateway::ClientArgs;
use super::programs::{framing, framing_help, framings};

/// Servers of a proxy, at most.
const MOST: usize = 256;
/// Time for a server to come back, after which requests get an error.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
/// Where a gateway's frames have the hash of the request's key.
const HASH: RoutingConfig = RoutingConfig::Hash { offset: 0, length: 8 };

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The servers, each an address or a name and a port, or unix:/PATH
    #[arg(required = true, value_name = "SERVER")]
    servers: Vec<Server>,
    #[arg(long, value_name = "NAME", value_parser = framing, help = framing_help(), long_help = framings())]
    framing: Framing,
    #[command(flatten)]
    clients: ClientArgs,
    /// Which server a request goes to; by default that of its key for resp and memcached, and the
    /// one that owes the least for others
    #[arg(long, value_name = "HOW")]
    routing: Option<RoutingName>,
    /// What becomes of requests whose server's member is down, with --routing hash: they fail, as
    /// by default for resp and memcached, or move to other servers, as in a cache
    #[arg(long, value_name = "WHAT")]
    when_down: Option<WhenDownName>,
    /// Where the state is told by HTTP, for `ratewire-switch status`
    #[arg(long, value_name = "ADDRESS")]
    status: Option<SocketAddr>,
    /// Write the log as JSON, one event a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoutingName {
    /// To the server of its key
    Hash,
    /// To the server that owes the least
    LeastOutstanding,
    /// To the better of two random servers
    PowerOfTwo,
    /// One server after the other
    RoundRobin,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhenDownName {
    /// They fail
    Fail,
    /// They go to other servers
    Move,
}

/// What keeps a proxy from running.
#[derive(Debug, thiserror::Error)]
enum ProxyError {
    #[error("cannot start the asynchronous runtime")]
    Runtime(#[source] std::io::Error),
    #[error("the kernel gives no random numbers")]
    Random,
    #[error(transparent)]
    Gateway(OpenError),
    #[error("cannot start the member of {0}")]
    Member(Server, #[source] OpenError),
    #[error(transparent)]
    Switch(DaemonError),
}

impl ProxyError {
    fn help(&self) -> &'static str {
        match self {
            ProxyError::Runtime(_) | ProxyError::Member(..) => "raise the limit of open files",
            ProxyError::Random => "try again when the system has started",
            ProxyError::Gateway(OpenError::Listen(..)) => {
                "end the program that has the address, or name another with --listen"
            }
            ProxyError::Switch(DaemonError::Status(..))
            | ProxyError::Gateway(OpenError::Status(..)) => {
                "end the program that has the address, or name another with --status"
            }
            ProxyError::Gateway(OpenError::Acp(_)) | ProxyError::Switch(_) => {
                "start the proxy again"
            }
        }
    }
}

pub(super) fn proxy(args: &Args) -> Exit {
    if let Err(exit) = args.check() {
        return exit;
    }
    start_log(args.json);
    match run(args) {
        Ok(()) => Exit::Done,
        Err(error) => {
            print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
            Exit::Unable
        }
    }
}

impl Args {
    fn routing(&self) -> RoutingName {
        let usual = match self.framing.is_store() {
            true => RoutingName::Hash,
            false => RoutingName::LeastOutstanding,
        };
        self.routing.unwrap_or(usual)
    }

    /// Notes options that do not go together.
    fn check(&self) -> Result<(), Exit> {
        self.clients.check()?;
        let refuse = |message: String, help: &str| {
            print_stderr!("ratewire: {message}\n  help: {help}");
            Err(Exit::Wrong)
        };
        if self.servers.len() > MOST {
            let help = "leave some out, or run two proxies";
            return refuse(format!("there are more than {MOST} servers"), help);
        }
        for (k, server) in self.servers.iter().enumerate() {
            if self.servers[..k].contains(server) {
                return refuse(format!("the server {server} is named twice"), "name it once");
            }
            if server.to_string() == self.clients.listen.to_string() {
                let message = format!("the proxy would be its own server, at {server}");
                return refuse(message, "name another address with --listen");
            }
        }
        if self.when_down.is_some() && self.routing() != RoutingName::Hash {
            let help = "add --routing hash, or take it away";
            let message = "--when-down has no effect: no server owns requests";
            return refuse(message.to_string(), help);
        }
        Ok(())
    }

    /// What the switch is to do, with members at these addresses.
    fn switch(&self, addresses: &[SocketAddr]) -> config::Config {
        let member = |(server, address): (&Server, &SocketAddr)| config::MemberConfig {
            name: server.to_string(),
            address: (*address).into(),
            weight: 1.0,
            prefixes: Vec::new(),
        };
        let routing = match self.routing() {
            RoutingName::Hash => HASH,
            RoutingName::LeastOutstanding => RoutingConfig::LeastOutstanding,
            RoutingName::PowerOfTwo => RoutingConfig::PowerOfTwo,
            RoutingName::RoundRobin => RoutingConfig::RoundRobin,
        };
        let members = self.servers.iter().zip(addresses).map(member).collect();
        config::Config {
            status: self.status,
            when_down: self.when_down.map(|what| match what {
                WhenDownName::Fail => WhenDown::Fail,
                WhenDownName::Move => WhenDown::Move,
            }),
            ..config::Config::local(members, routing)
        }
    }
}

fn run(args: &Args) -> Result<(), ProxyError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ProxyError::Runtime)?;
    let done = LocalSet::new().block_on(&runtime, serve(args));
    // A name that is being resolved holds nothing up.
    runtime.shutdown_background();
    done
}

/// Serves clients until the program is told to stop, and clients have their answers.
async fn serve(args: &Args) -> Result<(), ProxyError> {
    let stop = begun(wait_for_stop_signal("the proxy ends at once")).await;
    // Only the parts of this process have the key.
    let key = KeyPair::generate().map_err(|_| ProxyError::Random)?.private;
    let credentials = Credentials::Shared(key);
    let acp = acp::Config::new(credentials.clone());
    let shares = Shares::raise(args.framing, args.clients.count(), args.servers.len());
    let mut members = JoinSet::new();
    let mut addresses = Vec::new();
    for server in &args.servers {
        let config = MemberConfig {
            framing: args.framing,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            server: server.clone(),
            acp: acp.clone(),
            patience: PATIENCE,
            connections: shares.connections,
        };
        let member = Member::open(config);
        let member = member.map_err(|error| ProxyError::Member(server.clone(), error))?;
        addresses.push(member.address());
        members.spawn_local(member.run());
    }
    let keys = Keys { peers: credentials.clone(), members: credentials };
    let (ready, address) = oneshot::channel();
    let reload = async || pending().await;
    let ready = |address| _ = ready.send(address);
    let switch = daemon::serve(args.switch(&addresses), keys, pending(), reload, ready);
    let mut switch = pin!(switch);
    let address = tokio::select! {
        ended = &mut switch => return ended.map_err(ProxyError::Switch),
        address = address => address.expect("a switch that has not ended is ready"),
    };
    let config = args.clients.config(args.framing, address.into(), acp, shares);
    let gateway = Gateway::open(config).await.map_err(ProxyError::Gateway)?;
    notify_ready();
    // Nobody else has a connection with the switch: it ends with the gateway.
    tokio::select! {
        ended = switch => ended.map_err(ProxyError::Switch),
        () = gateway.run_until(stop, args.clients.timeout()) => Ok(()),
    }
}
