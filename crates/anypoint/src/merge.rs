//! Merges headers of the members' data, and splits those of the peer's acknowledgements.

use ratewire_laws::junction::Junction;
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::config::Transforms;
use crate::relay::NewlyAcked;

/// Round trips of silence after which a member counts as not sending. Ours: the paper counts all
/// members of the ensemble.
const SILENT_ROUNDS: u64 = 4;
const PS_PER_SECOND: f64 = 1e12;
/// Silence after which a member that has measured no round trip counts as not sending.
const FIRST_SILENCE: Duration = Duration::from_secs(1);

/// The transforms of the outbound direction.
#[derive(Clone, Debug)]
pub(crate) struct Merge {
    kind: Junction,
    packet: Bytes,
    transforms: Transforms,
    /// Fields of each member's last header: rate in B/s, 0 if it does not send; round trip in
    /// seconds; wish that the path to the switch has left, in B/s.
    rates: Vec<f64>,
    rtts: Vec<f64>,
    wishes: Vec<f64>,
    /// When a member counts as silent, unless it sends before.
    silent_from: Vec<Time>,
    /// Sums over the members that send: rates, and rates times round trips.
    rate: f64,
    window: f64,
    active: f64,
    /// Each member's part of a change that is shared evenly, and of one that is shared by rate.
    even: Vec<f64>,
    by_rate: Vec<f64>,
    /// Packets until the sums are computed again.
    sums_due: usize,
    /// Feedback due to each member for its own packets, and its part of the others', B/s.
    own: Vec<f64>,
    shared: Vec<f64>,
    /// Parts of others' feedback that members could not use, for the other members, B/s.
    unused: f64,
    /// Rates to be fed back.
    allotted: Vec<f64>,
}

impl Merge {
    pub(crate) fn new(
        law: &AnyLaw,
        members: usize,
        packet: Bytes,
        transforms: Transforms,
    ) -> Merge {
        let none = || vec![0.0; members];
        Merge {
            kind: law.junction(),
            packet,
            transforms,
            rates: none(),
            rtts: none(),
            wishes: none(),
            silent_from: vec![Time::ZERO; members],
            rate: 0.0,
            window: 0.0,
            active: 0.0,
            even: none(),
            by_rate: none(),
            sums_due: 0,
            own: none(),
            shared: none(),
            unused: 0.0,
            allotted: none(),
        }
    }

    /// Changes the header of a member's packet to the peer into the whole flow's: `rate = sum
    /// rate_i`, `rtt = sum(rate_i rtt_i) / rate`. The packet has `size` network-layer bytes.
    /// Returns its wish.
    pub(crate) fn data(
        &mut self,
        now: Time,
        law: &AnyLaw,
        member: usize,
        size: Bytes,
        header: &mut Header,
    ) -> f64 {
        let Some(declared) = law.declared(header, size) else { return 0.0 };
        let known = Some(declared.rtt).filter(|rtt| !rtt.is_zero());
        let silence = known.map_or(FIRST_SILENCE, |rtt| rtt * SILENT_ROUNDS);
        self.silent_from[member] = now + silence;
        self.rates[member] = declared.rate.get();
        self.rtts[member] = declared.rtt.ps() as f64;
        self.wishes[member] = declared.wish.get();
        if self.sums_due == 0 {
            self.sum_up(now);
        }
        self.sums_due -= 1;
        let own = self.rates[member];
        if own > 0.0 && self.rate > 0.0 {
            let rtt = Duration::from_ps((self.window / self.rate + 0.5) as u64);
            law.redeclare(header, self.rate / own, rtt);
        }
        declared.wish.get()
    }

    /// Updates the sums: at each packet with few members, once in a few packets with many, because
    /// a packet changes the sums little.
    fn sum_up(&mut self, now: Time) {
        self.sums_due = 1 + self.rates.len() / 16;
        (self.rate, self.window, self.active) = (0.0, 0.0, 0.0);
        for member in 0..self.rates.len() {
            if self.silent_from[member] <= now {
                self.rates[member] = 0.0;
                self.shared[member] = 0.0;
                continue;
            }
            self.rate += self.rates[member];
            self.window += self.rates[member] * self.rtts[member];
            self.active += 1.0;
        }
        for member in 0..self.rates.len() {
            let sends = f64::from(u8::from(self.silent_from[member] > now));
            self.even[member] = sends / self.active.max(1.0);
            self.by_rate[member] =
                if self.rate > 0.0 { self.rates[member] / self.rate } else { 0.0 };
        }
    }

    /// The peer's path has fed back `header` for these packets: notes each member's part.
    pub(crate) fn acknowledge(
        &mut self,
        now: Time,
        law: &AnyLaw,
        newly_acked: &[NewlyAcked],
        header: &Header,
    ) {
        let Some(feedback) = law.fed_back(header).map(Throughput::get) else { return };
        match self.kind {
            Junction::Changes => match self.transforms {
                Transforms::Refusals { shuffle } => {
                    self.split_change(newly_acked, feedback, shuffle)
                }
                Transforms::Paper => self.split_all(feedback),
            },
            Junction::Rates => self.split_rate(now, feedback),
            Junction::Untouched | Junction::Refuses(_) => {}
        }
    }

    /// If the path from here has refused nothing, the feedback is the part of the wish that each
    /// member's own path has left, and concerns no other member. Otherwise it is a change of the
    /// whole flow: an increase is shared evenly, a decrease by rate. A flow with its fair share has
    /// changes of about 0, which would leave unequal members unequal. So some of the rate is moved
    /// as well: taken by packet, given evenly.
    fn split_change(&mut self, newly_acked: &[NewlyAcked], feedback: f64, shuffle: f64) {
        let wished: f64 = newly_acked.iter().map(|f| f.wish).sum();
        let alone = self.active <= 1.0 && newly_acked.len() == 1;
        if newly_acked.is_empty() || feedback >= wished || alone {
            match newly_acked {
                [one] => self.own[one.source] += feedback,
                several => several.iter().for_each(|f| self.own[f.source] += f.wish),
            }
            return;
        }
        // A window in packets shares `shuffle` of the rate among its packets.
        let window = self.window / PS_PER_SECOND;
        if let [one] = newly_acked
            && window > 0.0
            && self.active > 0.0
        {
            let moved = shuffle * self.rate * self.packet.as_f64() / window;
            self.shared[one.source] -= moved;
            self.unused += moved;
        }
        let evenly = feedback.max(0.0) + core::mem::take(&mut self.unused);
        let by_rate = feedback.min(0.0);
        let parts = self.even.iter().zip(&self.by_rate);
        for (shared, (even, rate)) in self.shared.iter_mut().zip(parts) {
            *shared += evenly * even + by_rate * rate;
        }
    }

    /// The paper's split: an increase evenly among all members of the ensemble, a decrease by rate.
    fn split_all(&mut self, feedback: f64) {
        let even = feedback.max(0.0) / self.shared.len() as f64;
        let by_rate = feedback.min(0.0);
        for (shared, rate) in self.shared.iter_mut().zip(&self.by_rate) {
            *shared += even + by_rate * rate;
        }
    }

    /// Shares a rate of the whole flow equally, but gives no member more than its own path allows.
    fn split_rate(&mut self, now: Time, feedback: f64) {
        let sends = |k: &usize| self.silent_from[*k] > now;
        let mut order: Vec<usize> = (0..self.rates.len()).filter(sends).collect();
        order.sort_by(|a, b| self.rates[*a].total_cmp(&self.rates[*b]));
        let mut left = feedback;
        for (i, k) in order.iter().enumerate() {
            let even = left / (order.len() - i) as f64;
            self.allotted[*k] = if order.len() == 1 { feedback } else { even.min(self.rates[*k]) };
            left -= self.allotted[*k];
        }
    }

    /// Writes a member's part into its acknowledgement. Of others' feedback the member gets no more
    /// than its own path would let pass. The rest goes to the other members, up to the rate that is
    /// moved in a round trip.
    pub(crate) fn feed_back(&mut self, law: &AnyLaw, member: usize, header: &mut Header) {
        let feedback = match self.kind {
            Junction::Changes => {
                let own = core::mem::take(&mut self.own[member]);
                let shared = core::mem::take(&mut self.shared[member]);
                match self.transforms {
                    Transforms::Refusals { shuffle } => {
                        let used = shared.min((self.wishes[member] - own).max(0.0));
                        self.unused = (self.unused + (shared - used)).min(shuffle * self.rate);
                        own + used
                    }
                    Transforms::Paper => shared.min(self.wishes[member]),
                }
            }
            Junction::Rates => self.allotted[member],
            Junction::Untouched | Junction::Refuses(_) => return,
        };
        law.feed_back(header, Throughput::new(feedback));
    }

    /// Forgets a member that has failed.
    pub(crate) fn forget(&mut self, member: usize) {
        self.silent_from[member] = Time::ZERO;
        self.rates[member] = 0.0;
        self.own[member] = 0.0;
        self.shared[member] = 0.0;
        self.sums_due = 0;
    }
}
