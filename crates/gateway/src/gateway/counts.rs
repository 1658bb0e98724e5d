//! What a gateway counts.

use std::cell::Cell;

use ratewire_switch_interface::status::{ClientCounts, FailureCounts, RequestCounts};

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The member is down.
    Down,
    /// The connection with the member was lost.
    Lost,
    /// There was no answer in time.
    Late,
    /// The member has said that its server has failed.
    Server,
    /// The gateway cannot send the request.
    Unsent,
    /// Another part of the request has failed, and this one was not sent.
    OtherPart,
}

/// Why a client was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// More was held for all clients than may be.
    Memory,
    /// It did not take its answers.
    NotReading,
    /// Its request did not arrive in time.
    Slow,
    /// What it has sent is no request.
    Violation,
}

/// Clients and requests so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    clients: Cell<ClientCounts>,
    requests: Cell<RequestCounts>,
}

impl Counts {
    pub(super) fn clients(&self) -> ClientCounts {
        self.clients.get()
    }
    pub(super) fn requests(&self) -> RequestCounts {
        self.requests.get()
    }

    fn change_clients(&self, change: impl FnOnce(&mut ClientCounts)) {
        let mut clients = self.clients.get();
        change(&mut clients);
        self.clients.set(clients);
    }
    fn change_requests(&self, change: impl FnOnce(&mut RequestCounts)) {
        let mut requests = self.requests.get();
        change(&mut requests);
        self.requests.set(requests);
    }

    /// Notes that a client waits for a place, and that it does no longer.
    pub(super) fn wait(&self) {
        self.change_clients(|clients| clients.waiting += 1);
    }
    pub(super) fn has_waited(&self) {
        self.change_clients(|clients| clients.waiting -= 1);
    }
    /// Notes that a client is served, and that it is no longer.
    pub(super) fn serve(&self) {
        self.change_clients(|clients| {
            (clients.now, clients.served) = (clients.now + 1, clients.served + 1)
        });
    }
    pub(super) fn has_served(&self) {
        self.change_clients(|clients| clients.now -= 1);
    }
    /// Notes that there is no place for a client.
    pub(super) fn refuse(&self) {
        self.change_clients(|clients| clients.refused += 1);
    }
    /// Notes that a client was ended.
    pub(super) fn end(&self, end: End) {
        self.change_clients(|clients| match end {
            End::Memory => clients.ended_for_memory += 1,
            End::NotReading => clients.ended_not_reading += 1,
            End::Slow => clients.ended_slow += 1,
            End::Violation => clients.violations += 1,
        });
    }

    /// Notes a request that is for a member.
    pub(super) fn ask(&self) {
        self.change_requests(|requests| requests.asked += 1);
    }
    /// Notes a request that the gateway answers itself.
    pub(super) fn answer_here(&self) {
        self.change_requests(|requests| requests.local += 1);
    }
    /// Notes the answer of a member.
    pub(super) fn answer(&self) {
        self.change_requests(|requests| requests.answered += 1);
    }
    /// Notes requests whose client has left.
    pub(super) fn abandon(&self, requests: usize) {
        self.change_requests(|counts| counts.abandoned += requests as u64);
    }
    /// Notes that a request has failed.
    pub(super) fn fail(&self, cause: Cause) {
        self.change_requests(|requests| {
            let FailureCounts { down, lost, late, server, unsent } = &mut requests.failed;
            match cause {
                Cause::Down => *down += 1,
                Cause::Lost => *lost += 1,
                Cause::Late => *late += 1,
                Cause::Server => *server += 1,
                Cause::Unsent => *unsent += 1,
                Cause::OtherPart => {}
            }
        });
    }
}
