//! Daemons and clients that run.

use ratewire_sim::overlay::spec::OverlaySpec;

use super::clients::Run;
use super::config::{FILE, SOCKET};
use crate::Error;
use crate::commands::{Commands, Launch, Process};
use crate::host::Host;

/// Daemons and clients of an overlay.
pub(super) struct Processes<'a> {
    spec: &'a OverlaySpec,
    hosts: Vec<&'a Host>,
    commands: Commands<'a>,
    /// By node.
    daemons: Vec<Option<Process>>,
    /// Clients, by the number of their run.
    clients: Vec<Option<Process>>,
}

impl<'a> Processes<'a> {
    /// Puts what processes need on all hosts; `text` is the daemons' configuration.
    pub(super) fn new(
        spec: &'a OverlaySpec,
        hosts: &[&'a Host],
        launch: Launch<'a>,
        text: &str,
    ) -> Result<Processes<'a>, Error> {
        let commands = Commands::new(launch, "overlay");
        for host in hosts {
            commands.equip(host, vec![(FILE.to_string(), text.as_bytes().to_vec())])?;
        }
        Ok(Processes {
            spec,
            hosts: hosts.to_vec(),
            commands,
            daemons: hosts.iter().map(|_| None).collect(),
            clients: Vec::new(),
        })
    }

    pub(super) fn start_daemon(&mut self, node: usize) -> Result<(), Error> {
        let host = self.hosts[node];
        let name = &host.spec.name;
        let arguments = ["daemon", "--config", FILE, "--name", name].map(String::from);
        let what = format!("the group daemon {name}");
        self.daemons[node] = Some(self.commands.start(host, what, &arguments)?);
        Ok(())
    }

    /// Kills a daemon, as `kill -9` does.
    pub(super) fn stop_daemon(&mut self, node: usize) {
        let killed = self.daemons[node].take();
        self.commands.end(killed);
    }

    pub(super) fn start_client(&mut self, run: &Run) -> Result<(), Error> {
        let mut arguments = run.arguments(self.spec);
        arguments.extend(["--at".to_string(), SOCKET.to_string()]);
        let host = self.hosts[run.node];
        let group = &self.spec.groups[run.group.index()].name;
        let what = format!("clients of {group} at {}", host.spec.name);
        let process = self.commands.start(host, what, &arguments)?;
        self.clients.resize_with(self.clients.len().max(run.number + 1), || None);
        self.clients[run.number] = Some(process);
        Ok(())
    }

    pub(super) fn stop_client(&mut self, run: &Run) {
        let killed = self.clients.get_mut(run.number).and_then(Option::take);
        self.commands.end(killed);
    }

    /// Whether the daemon of each node runs.
    pub(super) fn running(&self) -> Vec<bool> {
        self.daemons.iter().map(Option::is_some).collect()
    }

    /// The first daemon that has ended by itself, and why.
    pub(super) fn lost(&mut self) -> Option<(String, String)> {
        self.commands.first_lost(self.daemons.iter_mut())
    }

    /// Ends all processes; returns those that had ended by themselves, and why.
    pub(super) fn finish(&mut self) -> Vec<(String, String)> {
        let mut all: Vec<Option<Process>> = self.clients.drain(..).collect();
        all.extend(self.daemons.iter_mut().map(Option::take));
        all.into_iter().for_each(|process| self.commands.end(process));
        self.commands.take_failed()
    }
}
