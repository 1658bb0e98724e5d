//! Figures of a running program.

use ratewire_units::{Bytes, Duration};

/// How many numbers the figures have.
const NUMBERS: usize = 17;

/// State of an egress that pauses its upstream, obeys its downstream, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The interface's name.
    pub iface: String,
    /// Names of the neighbours that are paused while the queue is long.
    pub upstream: Vec<String>,
    /// Whether pauses are obeyed here.
    pub obeys: bool,
    /// Address of the neighbour that holds the queue now.
    pub held_by: Option<String>,
    /// Queue that waits now.
    pub waiting: Bytes,
    /// Packets that the interface's queue has dropped since the program started.
    pub drops: u64,
    /// Whether the upstream is paused now.
    pub is_pausing: bool,
    /// Pauses of the upstream since the start.
    pub pauses_sent: u64,
    /// Frames and messages sent upstream, repeated ones included.
    pub told: u64,
    /// Frames and messages that could not be sent.
    pub untold: u64,
    /// Whether the queue is held now, because the downstream has paused it.
    pub is_held: bool,
    /// Pauses obeyed since the start.
    pub pauses_obeyed: u64,
    /// Time for which the queue was held.
    pub held: Duration,
    /// Packets that waited when a pause ended.
    pub packets_held: u64,
    /// Frames and messages obeyed, repeated ones included.
    pub obeyed: u64,
    /// Packets that are no pause, or from another than the neighbour.
    pub refused: u64,
    /// Pauses whose lateness is known.
    pub timed: u64,
    /// Sum of the times from a pause's arrival to the hold.
    pub late: Duration,
    /// Longest of these times.
    pub latest: Duration,
    /// How long no packet has left while some wait and the queue is held, from a second on. A ring
    /// of queues that wait for each other looks like this at each of its egresses, and each pauses
    /// its upstream.
    pub standing: Duration,
}

impl Status {
    /// Mean time from a pause's arrival to the hold.
    pub fn mean_lateness(&self) -> Option<Duration> {
        (self.timed > 0).then(|| Duration::from_ps(self.late.ps() / self.timed))
    }

    fn numbers(&self) -> [u64; NUMBERS] {
        [
            self.waiting.get(),
            self.drops,
            self.is_pausing.into(),
            self.pauses_sent,
            self.told,
            self.untold,
            self.is_held.into(),
            self.pauses_obeyed,
            self.held.ps(),
            self.packets_held,
            self.obeyed,
            self.refused,
            self.timed,
            self.late.ps(),
            self.latest.ps(),
            self.standing.ps(),
            self.obeys.into(),
        ]
    }

    /// The figures as one program tells another, and names between line ends.
    pub(super) fn encode(&self) -> Vec<u8> {
        let numbers = self.numbers().map(u64::to_ne_bytes);
        let held_by = self.held_by.as_deref().unwrap_or_default();
        let names = [&[held_by.to_string()][..], &self.upstream].concat().join("\n");
        [numbers.as_flattened(), names.as_bytes()].concat()
    }

    /// Reads figures; `None` if they are of another version.
    pub(super) fn decode(iface: String, bytes: &[u8]) -> Option<Status> {
        let (numbers, names) = bytes.split_at_checked(8 * NUMBERS)?;
        let mut names = std::str::from_utf8(names).ok()?.split('\n').map(str::to_string);
        let held_by = names.next().filter(|name| !name.is_empty());
        let (numbers, _) = numbers.as_chunks::<8>();
        let [
            waiting,
            drops,
            is_pausing,
            pauses_sent,
            told,
            untold,
            is_held,
            pauses_obeyed,
            held,
            packets_held,
            obeyed,
            refused,
            timed,
            late,
            latest,
            standing,
            obeys,
        ]: [[u8; 8]; NUMBERS] = numbers.try_into().ok()?;
        let number = u64::from_ne_bytes;
        let time = |bytes| Duration::from_ps(number(bytes));
        Some(Status {
            iface,
            upstream: names.filter(|name| !name.is_empty()).collect(),
            obeys: number(obeys) == 1,
            held_by,
            waiting: Bytes::new(number(waiting)),
            drops: number(drops),
            is_pausing: number(is_pausing) == 1,
            pauses_sent: number(pauses_sent),
            told: number(told),
            untold: number(untold),
            is_held: number(is_held) == 1,
            pauses_obeyed: number(pauses_obeyed),
            held: time(held),
            packets_held: number(packets_held),
            obeyed: number(obeyed),
            refused: number(refused),
            timed: number(timed),
            late: time(late),
            latest: time(latest),
            standing: time(standing),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_arrive_as_they_were_told() {
        let bytes: Vec<u8> = (1..=NUMBERS as u64).flat_map(u64::to_ne_bytes).collect();
        let read = Status::decode("eth1".to_string(), &bytes).expect("seventeen figures");
        assert_eq!((read.waiting, read.standing), (Bytes::new(1), Duration::from_ps(16)));
        assert_eq!((read.held_by.as_ref(), read.upstream.len()), (None, 0));
        let told = Status { is_pausing: true, is_held: true, obeys: true, ..read };
        assert_eq!(Status::decode("eth1".to_string(), &told.encode()), Some(told.clone()));
        let upstream = vec!["eth0".to_string(), "10.0.0.1:8808".to_string()];
        let named = Status { upstream, held_by: Some("02:00".to_string()), ..told.clone() };
        assert_eq!(Status::decode("eth1".to_string(), &named.encode()), Some(named));
        assert_eq!(Status::decode(String::new(), &told.encode()[..130]), None);
        assert_eq!(told.mean_lateness(), Some(Duration::from_ps(14 / 13)));
        assert_eq!(Status::default().mean_lateness(), None);
    }
}
