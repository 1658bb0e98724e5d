//! Overlays: group daemons at hosts, and clients of them, as processes.
//!
//! | file | is |
//! |---|---|
//! | `config` | the daemons' configuration, and what they cannot do |
//! | `clients` | which clients run where and when |
//! | `agenda` | what happens when |
//! | `processes` | daemons and clients that run |
//! | `ready` | the daemons link up before the run |
//! | `counters` | what a daemon's status has counted over all of its lives |
//! | `watch` | states of the daemons, as samples and as an outcome |
//!
//! Before a run, daemons link up and receivers join, over the same network. Time zero is when all
//! daemons know all members.

mod agenda;
mod clients;
mod config;
mod counters;
mod processes;
mod ready;
mod watch;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use ratewire_groups_interface::status::{Status, fetch_status};
use ratewire_net::Network;
use ratewire_sim::outcome::OverlayOutcome;
use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::routes::RouteTable;
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use crate::Error;
use crate::clock::Clock;
use crate::commands::Launch;
use crate::host::Host;

use agenda::{Agenda, Due};
use clients::Run;
pub(crate) use config::check;
use processes::Processes;
pub(crate) use watch::Sample;
use watch::Watch;

/// Longest wait before a look at whether the run is over.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);

/// An overlay in operation.
pub(crate) struct Overlay<'a> {
    spec: &'a OverlaySpec,
    interval: Option<Duration>,
    end: Time,
    /// Host of each node.
    hosts: Vec<&'a Host>,
    runs: Vec<Run>,
    processes: Mutex<Processes<'a>>,
}

/// What an overlay has come to.
pub(crate) struct Seen {
    pub(crate) samples: Vec<Sample>,
    pub(crate) outcome: OverlayOutcome,
    /// Daemons and clients that ended although they should not, and why.
    pub(crate) failed: Vec<(String, String)>,
}

impl<'a> Overlay<'a> {
    /// Starts the daemons of a setup, and the clients that are members from the start.
    pub(crate) fn start(
        setup: &'a Setup,
        spec: &'a OverlaySpec,
        hosts: &'a [Host],
        launch: Launch<'a>,
    ) -> Result<Overlay<'a>, Error> {
        let of = |node: &ratewire_net::spec::NodeId| hosts.iter().find(|h| h.spec.node == *node);
        let hosts: Vec<&Host> = spec.nodes.iter().filter_map(of).collect();
        let of = |host: &&'a Host| (host.spec.name.as_str(), host.spec.address);
        let named: Vec<_> = hosts.iter().map(of).collect();
        let text = config::text(spec, &named, &delays(setup)?)?;
        let mut processes = Processes::new(spec, &hosts, launch, &text)?;
        for node in 0..hosts.len() {
            processes.start_daemon(node)?;
        }
        let runs = clients::runs(spec);
        for run in runs.iter().filter(|run| run.start.is_none()) {
            processes.start_client(run)?;
        }
        let (interval, end) = (setup.sample_interval, Time::ZERO + setup.duration);
        Ok(Overlay { spec, interval, end, hosts, runs, processes: Mutex::new(processes) })
    }

    fn processes(&self) -> MutexGuard<'_, Processes<'a>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// States of the daemons, by node; `None` of one that does not run or does not answer.
    fn ask(&self) -> Vec<Option<Status>> {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, config::STATUS));
        let is_running = self.processes().running();
        let hosts = self.hosts.iter().zip(is_running);
        let state = |(host, is_running): (&&Host, bool)| {
            is_running.then(|| host.run(move || fetch_status(at)).ok()?.ok())?
        };
        hosts.map(state).collect()
    }

    /// Does what is due at its time, and watches the daemons, until the end or `over`.
    pub(crate) fn follow(&self, clock: Clock, over: &AtomicBool) -> Result<Seen, Error> {
        let names = self.hosts.iter().map(|host| host.spec.name.clone()).collect();
        let mut watch = Watch::new(self.spec, names, &self.runs);
        watch.begin(&self.ask());
        let mut agenda = Agenda::new(self.spec, &self.runs, self.interval, self.end);
        while let Some((at, due)) = agenda.next(clock.now()) {
            while clock.now() < at && !over.load(Relaxed) {
                thread::park_timeout(clock.until(at).min(LOOK));
            }
            if over.load(Relaxed) {
                break;
            }
            match due {
                Due::Sample => watch.sample(at, &self.ask()),
                Due::Start(run) => self.processes().start_client(&run)?,
                Due::Stop(run) => self.processes().stop_client(&run),
                Due::Crash(node) => {
                    // What the daemon has counted since the last sample would be lost.
                    watch.note(&self.ask());
                    self.processes().stop_daemon(node);
                }
                Due::Restart(node) => self.processes().start_daemon(node)?,
            }
        }
        let (samples, outcome) = watch.finish(clock.now().min(self.end));
        Ok(Seen { samples, outcome, failed: self.processes().finish() })
    }
}

/// Delay of each flow's route.
fn delays(setup: &Setup) -> Result<Vec<Duration>, Error> {
    let wrong = |e: ratewire_sim::SetupError| Error::new(e.to_string(), "");
    let mut network = Network::new(&setup.network, &setup.laws, false, setup.seed);
    let mut routes = RouteTable::new(setup).map_err(wrong)?;
    let flows = setup.flows.iter().enumerate();
    let delay = |(n, flow): (usize, &ratewire_sim::setup::FlowSpec)| {
        routes.get(&mut network, flow.from, flow.to, n as u64).map(|route| route.delay)
    };
    flows.map(delay).collect::<Result<_, _>>().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use ratewire_overlay::{ClientId, DeliveryOrder, GroupId, OverlayNodeId, Params, SenderSpec};
    use ratewire_sim::overlay::spec::{MemberChange, OverlayGroup, OverlayLink, OverlaySender};
    use ratewire_units::{Bytes, Rate};

    use super::*;

    /// Two nodes, and two groups: senders at the first node, receivers at the second.
    pub(super) fn spec() -> OverlaySpec {
        let [a, b] = [0, 1].map(OverlayNodeId);
        let sender = |client, group, offered, stop| OverlaySender {
            at: a,
            spec: SenderSpec {
                client: ClientId(client),
                group: GroupId(group),
                message: Bytes::new(1_000),
                line: Rate::from_mbps(8),
                offered,
            },
            start: Time::ZERO,
            stop,
        };
        let group = |name: &str, service, members| OverlayGroup {
            name: name.to_string(),
            service,
            members,
            salary: None,
            weight: 1.0,
        };
        let change = |secs, client, joins| MemberChange {
            at: Time::from_secs(secs),
            group: GroupId(0),
            client: ClientId(client),
            node: b,
            joins,
        };
        OverlaySpec {
            params: Params::default(),
            nodes: [0, 1].map(ratewire_net::spec::NodeId).to_vec(),
            links: vec![
                OverlayLink { from: a, to: b, flow: 0 },
                OverlayLink { from: b, to: a, flow: 1 },
            ],
            groups: vec![
                group("g0", DeliveryOrder::Fifo, vec![(ClientId(9), b)]),
                group("g1", DeliveryOrder::Agreed, vec![]),
            ],
            senders: vec![
                sender(0, 0, None, None),
                sender(1, 0, None, None),
                sender(2, 1, Some(Rate::from_bps(80_000)), Some(Time::from_secs(5))),
            ],
            changes: vec![change(5, 7, false), change(2, 7, true), change(2, 8, true)],
            faults: Vec::new(),
            payload: Bytes::new(900),
        }
    }
}
