//! Switches and ends that run.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::chown;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::Setup;
use ratewire_switch_interface::endpoint::RecordFile;
use ratewire_switch_interface::status::fetch_status;

use super::arguments::{arguments, contents};
use super::config;
use super::plan::{KEY, Plan};
use crate::Error;
use crate::clock::Clock;
use crate::commands::{Commands, Launch, Process};
use crate::host::Host;

/// Time for processes to be ready.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between looks.
const LOOK: Duration = Duration::from_millis(10);
/// Hexadecimal digits of a key.
const DIGITS: usize = 64;

/// Switches and ends of a setup.
pub(super) struct Processes<'a> {
    setup: &'a Setup,
    plan: Plan,
    hosts: &'a [Host],
    commands: Commands<'a>,
    switches: Vec<Option<Process>>,
    /// By [`Plan::hosts`].
    ends: Vec<Option<Process>>,
    records: Vec<Arc<RecordFile>>,
}

/// The host of a node.
fn at(hosts: &[Host], node: NodeId) -> Result<&Host, Error> {
    let host = hosts.iter().find(|host| host.spec.node == node);
    host.ok_or_else(|| Error::new("a node of an ensemble has no host", "please report it"))
}

impl<'a> Processes<'a> {
    /// Puts what processes need on all hosts.
    pub(super) fn new(
        setup: &'a Setup,
        hosts: &'a [Host],
        launch: Launch<'a>,
        plan: &Plan,
    ) -> Result<Processes<'a>, Error> {
        let (uid, gid) = (launch.user.uid, launch.user.gid);
        let commands = Commands::new(launch, "acp");
        let key = || (KEY.to_string(), [b'7'; DIGITS].to_vec());
        let address = |node: NodeId| at(hosts, node).ok().map(|host| host.spec.address);
        for (switch, junction) in setup.ensembles.junctions.iter().enumerate() {
            let text = config::text(setup, plan, switch, address)?;
            let files = vec![key(), (config::file(switch), text.into_bytes())];
            commands.equip(at(hosts, junction.node)?, files)?;
        }
        let mut records = Vec::new();
        for (number, end) in plan.hosts.iter().enumerate() {
            let host = at(hosts, end.node)?;
            let contents = contents(setup, plan, end);
            commands.equip(host, vec![key(), (contents_at(number), contents)])?;
            let record = host.run(move || {
                let path = record_at(number);
                let record = RecordFile::open(path.as_ref())?;
                chown(&path, Some(uid), Some(gid))?;
                std::io::Result::Ok(record)
            })?;
            let record = record.map_err(|e| {
                Error::new(format!("cannot make a record at {}", host.spec.name), "").because(e)
            })?;
            records.push(Arc::new(record));
        }
        Ok(Processes {
            setup,
            hosts,
            commands,
            switches: setup.ensembles.junctions.iter().map(|_| None).collect(),
            ends: plan.hosts.iter().map(|_| None).collect(),
            records,
            plan: plan.clone(),
        })
    }

    /// By [`Plan::hosts`]: the records of the ends.
    pub(super) fn records(&self) -> &[Arc<RecordFile>] {
        &self.records
    }

    pub(super) fn start_switch(&mut self, switch: usize) -> Result<(), Error> {
        let junction = &self.setup.ensembles.junctions[switch];
        let host = at(self.hosts, junction.node)?;
        let arguments = ["run", "--config", &config::file(switch)].map(String::from);
        let what = format!("the switch {} of {:?}", host.spec.name, junction.name);
        self.switches[switch] = Some(self.commands.start(host, what, &arguments)?);
        Ok(())
    }

    pub(super) fn start_end(&mut self, number: usize) -> Result<(), Error> {
        let end = &self.plan.hosts[number];
        let host = at(self.hosts, end.node)?;
        // A peer's connection leads to the switch, a member waits at its own address.
        let address: Ipv4Addr = at(self.hosts, self.plan.edges[end.edge].nodes[1])?.spec.address;
        let (record, contents_at) = (record_at(number), contents_at(number));
        let has_contents = !contents(self.setup, &self.plan, end).is_empty();
        let files = (record.as_str(), has_contents.then_some(contents_at.as_str()));
        let arguments = arguments(self.setup, &self.plan, end, address, files);
        let what = format!("the end of a connection at {}", host.spec.name);
        self.ends[number] = Some(self.commands.start(host, what, &arguments)?);
        Ok(())
    }

    /// Kills an end, as `kill -9` does.
    pub(super) fn stop_end(&mut self, number: usize) {
        let killed = self.ends[number].take();
        self.commands.end(killed);
    }

    /// Waits until all switches and ends can take connections.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        while let Some(missing) = self.missing()? {
            let all = self.switches.iter_mut().chain(&mut self.ends);
            if let Some((what, why)) = self.commands.first_lost(all) {
                let help =
                    "ratewire-switch runs as the switches and ends: it must be of this version";
                return Err(Error::new(format!("{what} cannot run: {why}"), help));
            }
            if begun.elapsed() > PATIENCE {
                let what = format!("{missing} is not ready after {} s", PATIENCE.as_secs());
                let help = "their outputs are in `programs` of the run's folder";
                return Err(Error::new(what, help));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// A process that is not ready.
    fn missing(&self) -> Result<Option<String>, Error> {
        for (switch, junction) in self.setup.ensembles.junctions.iter().enumerate() {
            let host = at(self.hosts, junction.node)?;
            let status = SocketAddr::from((Ipv4Addr::LOCALHOST, config::status(switch)));
            if host.run(move || fetch_status(status).is_err())? {
                return Ok(Some(format!("the switch {}", host.spec.name)));
            }
        }
        let is_ready = |record: &RecordFile| record.figures().is_some_and(|f| f.is_ready);
        let missing = self.records.iter().position(|record| !is_ready(record));
        let name = |end: usize| at(self.hosts, self.plan.hosts[end].node).map(|h| &h.spec.name);
        missing.map(|end| Ok(format!("the end of a connection at {}", name(end)?))).transpose()
    }

    /// Writes time zero into the records of all ends.
    pub(super) fn begin(&self, clock: Clock) -> Result<(), Error> {
        let zero = clock.zero_ns();
        let written = self.records.iter().try_for_each(|record| record.set_zero(zero));
        written.map_err(|e| Error::new("cannot write to the record of an end", "").because(e))
    }

    /// Ends all processes; returns those that had ended by themselves, and why.
    pub(super) fn finish(&mut self) -> Vec<(String, String)> {
        let ends = self.ends.iter_mut().zip(&self.records);
        for (process, record) in ends {
            // A peer ends when all that it sends has arrived, and no more comes.
            let is_done = record.figures().is_some_and(|figures| figures.is_over());
            match process.take() {
                Some(mut process) if is_done => process.program.kill(),
                process => self.commands.end(process),
            }
        }
        for switch in 0..self.switches.len() {
            let process = self.switches[switch].take();
            self.commands.end(process);
        }
        self.commands.take_failed()
    }
}

/// Place of an end's record at its host.
fn record_at(end: usize) -> String {
    format!("/tmp/ratewire-end-{end}.record")
}

/// Place of the first bytes of an end's frames at its host.
fn contents_at(end: usize) -> String {
    format!("/tmp/ratewire-end-{end}.contents")
}
