//! Fidelity of a run: how late packets left the network, and what was lost outside it.

use ratewire_units::Duration;

use crate::lateness::Lateness;

/// Largest share of late packets with which figures can be relied on, and of late looks at hosts
/// with which times can.
pub const MOST_LATE: f64 = 0.01;
/// Largest share of late looks at hosts with which any figure can be relied on: hosts that seldom
/// get a processor send less than they may.
pub const MOST_HOSTS_LATE: f64 = 0.5;

/// Fidelity of a run to time.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// Packets that left the network.
    pub packets: Lateness,
    /// Looks at hosts: how late a program that was to do something then had done it.
    pub hosts: Lateness,
    /// Longest time in which the network did not read hosts: a host's packets may have waited that
    /// long, and the time of the kernel to wake the network.
    pub longest_absence: Duration,
    /// Packets that hosts' devices dropped because the network did not take them.
    pub refused_by_devices: u64,
    /// Packets that hosts' kernels did not take.
    pub refused_by_hosts: u64,
    /// Packets for no host, or malformed ones.
    pub stray: u64,
    /// Packets whose time to live does not suffice for their way.
    pub expired: u64,
    /// Packets with a congestion header that no port's law can read.
    pub unread: u64,
    /// Ends of connections without their law, because the other end does not speak it.
    pub plain: u64,
    /// Ends of connections without their law, because the kernel refused its congestion control.
    pub refused: u64,
    /// Ends of connections without their law, because their program chose another.
    pub chose_another: u64,
    /// Flows that could not do what the scenario says.
    pub failed_flows: u64,
    /// Whether no packet left the network although something was to be sent.
    pub is_empty: bool,
    /// Whether hosts send and receive bundles of packets.
    pub offloads: bool,
    /// Whether the network had real-time priority.
    pub real_time: bool,
}

impl Default for Fidelity {
    fn default() -> Fidelity {
        Fidelity {
            packets: Lateness::default(),
            hosts: Lateness::default(),
            longest_absence: Duration::ZERO,
            refused_by_devices: 0,
            refused_by_hosts: 0,
            stray: 0,
            expired: 0,
            unread: 0,
            plain: 0,
            refused: 0,
            chose_another: 0,
            failed_flows: 0,
            is_empty: false,
            offloads: true,
            real_time: true,
        }
    }
}

impl Fidelity {
    /// Whether the run's figures can be relied on.
    pub fn holds(&self) -> bool {
        !self.is_empty
            && self.failed_flows == 0
            && self.refused == 0
            && self.packets.late_share() <= MOST_LATE
            && self.hosts.late_share() <= MOST_HOSTS_LATE
            && self.refused_by_devices == 0
            && self.refused_by_hosts == 0
    }

    /// Whether its figures of time that hosts have a part in can be: round trips and completions.
    pub fn times_hold(&self) -> bool {
        self.holds() && self.hosts.late_share() <= MOST_LATE
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::Time;

    use super::*;

    fn late(lateness: &mut Lateness, count: u64, micros: u64) {
        let at = Time::ZERO + Duration::from_micros(micros);
        (0..count).for_each(|_| lateness.note(Time::ZERO, at));
    }

    #[test]
    fn more_than_one_late_packet_in_a_hundred_is_too_many() {
        let mut fidelity = Fidelity::default();
        late(&mut fidelity.packets, 990, 10);
        late(&mut fidelity.packets, 10, 1001);
        assert!(fidelity.holds() && fidelity.times_hold());
        late(&mut fidelity.packets, 10, 1001);
        assert!(!fidelity.holds() && !fidelity.times_hold());
    }

    #[test]
    fn hosts_that_are_late_spoil_times_and_at_last_all() {
        let mut fidelity = Fidelity::default();
        late(&mut fidelity.hosts, 98, 10);
        late(&mut fidelity.hosts, 2, 1001);
        assert!(fidelity.holds() && !fidelity.times_hold());
        late(&mut fidelity.hosts, 96, 1001);
        assert!(fidelity.holds());
        late(&mut fidelity.hosts, 1, 1001);
        assert!(!fidelity.holds());
    }

    #[test]
    fn what_is_lost_outside_the_network_counts_against_a_run() {
        assert!(Fidelity::default().holds());
        let lost = Fidelity { refused_by_devices: 1, ..Fidelity::default() };
        let failed = Fidelity { failed_flows: 1, ..Fidelity::default() };
        let empty = Fidelity { is_empty: true, ..Fidelity::default() };
        let refused = Fidelity { refused: 1, ..Fidelity::default() };
        assert!(!lost.holds() && !failed.holds() && !empty.holds() && !refused.holds());
    }
}
