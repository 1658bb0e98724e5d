//! Proportional Rate Reduction (RFC 9937): how much a sender may send while it repairs a loss.

use ratewire_units::Bytes;

/// The rate reduction of one repair. Names are those of the RFC; payload bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    recover_fs: u64,
    ssthresh: u64,
    mss: u64,
    delivered: u64,
    out: u64,
    /// What may be outstanding until the next acknowledgement.
    cwnd: u64,
}

impl Prr {
    /// A repair that begins with this much outstanding or lost, and is to end with `ssthresh`.
    pub(super) fn new(recover_fs: Bytes, ssthresh: Bytes, mss: u32) -> Prr {
        let mss = u64::from(mss);
        let (recover_fs, ssthresh) = (recover_fs.get().max(1), ssthresh.get().max(mss));
        Prr { recover_fs, ssthresh, mss, delivered: 0, out: 0, cwnd: 0 }
    }

    /// Handles an acknowledgement in the repair: it has delivered this much, and this much is then
    /// in flight. `is_safe` if it advances the cumulative acknowledgement and shows no new loss.
    pub(super) fn on_ack(&mut self, delivered: u64, in_flight: Bytes, is_safe: bool) {
        self.delivered += delivered;
        let in_flight = in_flight.get();
        let mut count = if in_flight > self.ssthresh {
            let part = u128::from(self.delivered) * u128::from(self.ssthresh);
            (part.div_ceil(u128::from(self.recover_fs)) as u64).saturating_sub(self.out)
        } else {
            let mut most = self.delivered.saturating_sub(self.out).max(delivered);
            if is_safe {
                most += self.mss;
            }
            most.min(self.ssthresh - in_flight)
        };
        if self.out == 0 && count == 0 {
            count = self.mss;
        }
        self.cwnd = in_flight + count;
    }

    pub(super) fn on_sent(&mut self, payload: u32) {
        self.out += u64::from(payload);
    }

    /// What may be outstanding now.
    pub(super) fn window(&self) -> Bytes {
        Bytes::new(self.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// A repair of 20 packets in flight, whose law halves: by acknowledgement, packets that are
    /// sent. `lost` of the packets, the first ones, are found lost at once.
    fn repair(lost: u64) -> Vec<u64> {
        let mut prr = Prr::new(Bytes::new(20 * MSS), Bytes::new(10 * MSS), MSS as u32);
        let mut in_flight = (20 - lost) * MSS;
        let mut sent = Vec::new();
        for _ in lost..20 {
            in_flight -= MSS;
            prr.on_ack(MSS, Bytes::new(in_flight), false);
            let mut packets = 0;
            while in_flight + MSS <= prr.window().get() {
                in_flight += MSS;
                prr.on_sent(MSS as u32);
                packets += 1;
            }
            sent.push(packets);
        }
        sent
    }

    /// The RFC's first example: of 20 packets the first is lost. One packet leaves for two
    /// that arrive, over the whole round trip.
    #[test]
    fn one_loss_halves_the_rate_over_a_round_trip() {
        let sent = repair(1);
        assert_eq!(sent.iter().sum::<u64>(), 10);
        let pairs: Vec<u64> = sent.chunks(2).map(|pair| pair.iter().sum()).collect();
        assert!(pairs[..7].iter().all(|pair| *pair == 1), "{sent:?}");
    }

    /// The RFC's second example: 15 of 20 are lost. What arrives is replaced, and nothing
    /// more: there is no burst of what the window would allow.
    #[test]
    fn heavy_loss_is_followed_by_as_much_as_arrives() {
        assert_eq!(repair(15), [1; 5]);
    }

    /// An acknowledgement that advances and shows no loss adds a packet, until the
    /// threshold is reached.
    #[test]
    fn a_safe_acknowledgement_adds_a_packet() {
        let mut prr = Prr::new(Bytes::new(20 * MSS), Bytes::new(10 * MSS), MSS as u32);
        prr.on_ack(MSS, Bytes::new(4 * MSS), true);
        assert_eq!(prr.window(), Bytes::new(6 * MSS));
        prr.on_ack(MSS, Bytes::new(9 * MSS), true);
        assert_eq!(prr.window(), Bytes::new(10 * MSS));
    }
}
