//! Fidelity of a run: how late packets left the network, and what was lost outside it.

use ratewire_units::{Duration, Time};

/// Lateness above which a packet counts as late.
pub const LATE: Duration = Duration::from_millis(1);
/// Largest share of late packets with which a run's figures can be relied on.
pub const MOST_LATE: f64 = 0.01;

/// Classes of lateness: eight for each doubling, from a microsecond on.
const CLASSES: usize = 8 * 24;

/// Fidelity of a run to time.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// Packets that left the network.
    pub packets: u64,
    /// Packets that left more than [`LATE`] after their time in the model.
    pub late: u64,
    /// Maximum lateness.
    pub worst: Duration,
    /// Lateness by class.
    pub(crate) classes: Vec<u64>,
    /// Longest time in which the network did not read hosts: a host's packets may have waited that
    /// long, and the time of the kernel to wake the network.
    pub longest_absence: Duration,
    /// Packets that hosts' devices dropped because the network did not take them.
    pub refused_by_devices: u64,
    /// Packets that hosts' kernels did not take.
    pub refused_by_hosts: u64,
    /// Packets for no host, or malformed ones.
    pub stray: u64,
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
            packets: 0,
            late: 0,
            worst: Duration::ZERO,
            classes: vec![0; CLASSES],
            longest_absence: Duration::ZERO,
            refused_by_devices: 0,
            refused_by_hosts: 0,
            stray: 0,
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
    /// Notes that packets due at `due` left at `at`.
    pub(crate) fn left(&mut self, packets: u32, due: Time, at: Time) {
        let late = at.since(due);
        let packets = u64::from(packets);
        self.packets += packets;
        self.worst = self.worst.max(late);
        if late > LATE {
            self.late += packets;
        }
        self.classes[class(late)] += packets;
    }

    /// Share of packets that were late.
    pub fn late_share(&self) -> f64 {
        if self.packets == 0 { 0.0 } else { self.late as f64 / self.packets as f64 }
    }

    /// Lateness that this share of packets did not exceed, at most 9 % too high.
    pub fn quantile(&self, share: f64) -> Duration {
        let target = (share * self.packets as f64).ceil() as u64;
        let mut sum = 0;
        for (class, count) in self.classes.iter().enumerate() {
            sum += count;
            if sum >= target.max(1) {
                return longest(class).min(self.worst);
            }
        }
        self.worst
    }

    /// Whether the run's figures can be relied on.
    pub fn holds(&self) -> bool {
        !self.is_empty
            && self.failed_flows == 0
            && self.refused == 0
            && self.late_share() <= MOST_LATE
            && self.refused_by_devices == 0
            && self.refused_by_hosts == 0
    }
}

fn class(late: Duration) -> usize {
    let micros = late.ps() as f64 / 1e6;
    if micros <= 1.0 {
        return 0;
    }
    ((micros.log2() * 8.0).ceil() as usize).min(CLASSES - 1)
}

fn longest(class: usize) -> Duration {
    Duration::from_secs_f64(1e-6 * (class as f64 / 8.0).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(n: u64) -> Time {
        Time::ZERO + Duration::from_micros(n)
    }

    #[test]
    fn lateness_is_counted_and_quantiles_are_close() {
        let mut fidelity = Fidelity::default();
        for late in 1..=1000 {
            fidelity.left(1, micros(10), micros(10 + late));
        }
        assert_eq!((fidelity.packets, fidelity.late), (1000, 0));
        assert_eq!(fidelity.worst, Duration::from_micros(1000));
        let p99 = fidelity.quantile(0.99).ps() as f64 / 1e6;
        assert!((990.0..1079.0).contains(&p99), "{p99}");
        assert!(fidelity.holds());
    }

    #[test]
    fn more_than_one_late_packet_in_a_hundred_is_too_many() {
        let mut fidelity = Fidelity::default();
        fidelity.left(990, micros(10), micros(20));
        fidelity.left(10, micros(10), micros(1011));
        assert!(fidelity.holds(), "{}", fidelity.late_share());
        fidelity.left(10, micros(10), micros(1011));
        assert!(!fidelity.holds(), "{}", fidelity.late_share());
    }

    #[test]
    fn a_packet_before_its_time_is_not_late() {
        let mut fidelity = Fidelity::default();
        fidelity.left(1, micros(10), micros(5));
        assert_eq!(fidelity.worst, Duration::ZERO);
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
