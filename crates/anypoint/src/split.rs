//! Splits headers of the peer's data among the members, and merges those of their acknowledgements.

use ratewire_laws::junction::Junction;
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::config::Transforms;
use crate::ratios::Ratios;

/// Assumed round trip before the peer has measured one.
const FIRST_ROUND: Duration = Duration::from_millis(100);

/// The transforms of the inbound direction.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    kind: Junction,
    transforms: Transforms,
    packet: Bytes,
    ratios: Ratios,
    /// Reduction that a member's path asks for beyond the peer's reduction so far, in B/s of the
    /// peer's rate; at or below 0 if another path has been stricter.
    refused: Vec<f64>,
    /// Reduction given to the peer in this round.
    taken: f64,
    /// Last feedback of each member's path: a rate, or with the paper's transforms a change.
    last: Vec<Option<f64>>,
}

impl Split {
    pub(crate) fn new(
        law: &AnyLaw,
        members: usize,
        packet: Bytes,
        frame: Bytes,
        transforms: Transforms,
    ) -> Split {
        Split {
            kind: law.junction(),
            transforms,
            packet,
            ratios: Ratios::new(members, frame.as_f64()),
            refused: vec![0.0; members],
            taken: 0.0,
            last: vec![None; members],
        }
    }

    /// Changes the header of a packet to a member into that of the member's part of the peer's
    /// flow. Returns the packet's wish.
    pub(crate) fn data(
        &mut self,
        now: Time,
        law: &AnyLaw,
        member: usize,
        payload: Bytes,
        header: &mut Header,
    ) -> f64 {
        let declared = law.declared(header, self.packet);
        let round = declared.map(|d| d.rtt).filter(|rtt| !rtt.is_zero()).unwrap_or(FIRST_ROUND);
        if self.ratios.add(now, round, member, payload.as_f64()) {
            // Relief from other paths' reductions lasts for the next round only.
            let spared = -self.taken;
            self.refused.iter_mut().for_each(|refused| *refused = refused.max(spared));
            self.taken = 0.0;
        }
        let Some(declared) = declared else { return 0.0 };
        self.declare(law, member, declared.rtt, header);
        declared.wish.get()
    }

    /// Splits a header that opens the connection.
    pub(crate) fn open(&self, law: &AnyLaw, member: usize, header: &mut Header) {
        if let Some(declared) = law.declared(header, self.packet) {
            self.declare(law, member, declared.rtt, header);
        }
    }

    fn declare(&self, law: &AnyLaw, member: usize, rtt: Duration, header: &mut Header) {
        law.redeclare(header, self.ratios.of(member), rtt);
    }

    /// Turns the feedback of a member's path, for packets with this wish, into feedback for the
    /// peer. With shares `beta_k = lambda_k / lambda_p`, a change of `k`'s rate is `beta_k` of a
    /// change of the peer's: `min over k of (fdbk_k / beta_k)`.
    pub(crate) fn acknowledge(
        &mut self,
        law: &AnyLaw,
        member: usize,
        wish: f64,
        header: &mut Header,
    ) {
        let Some(feedback) = law.fed_back(header).map(Throughput::get) else { return };
        let merged = match self.kind {
            Junction::Changes => match self.transforms {
                Transforms::Refusals { .. } => self.merge_change(member, wish, feedback),
                Transforms::Paper => {
                    self.last[member] = Some(feedback);
                    self.least(|change, _| change).unwrap_or(feedback)
                }
            },
            Junction::Rates => {
                self.last[member] = Some(feedback);
                self.least(|rate, share| rate / share).unwrap_or(feedback)
            }
            Junction::Untouched | Junction::Refuses(_) => return,
        };
        law.feed_back(header, Throughput::new(merged));
    }

    /// `wish` is the part of the peer's wish that reached the switch. A path's refusal, over its
    /// share, is the reduction that it asks for. The peer follows the strictest path, once.
    fn merge_change(&mut self, member: usize, wish: f64, feedback: f64) -> f64 {
        let share = self.ratios.of(member);
        let refused = (wish - feedback).max(0.0);
        if refused == 0.0 || share == 0.0 {
            return feedback;
        }
        self.refused[member] += refused / share;
        let taken = self.refused[member].max(0.0);
        if taken > 0.0 {
            self.refused.iter_mut().for_each(|refused| *refused -= taken);
            self.taken += taken;
        }
        feedback + (refused - taken)
    }

    /// Minimum of the last feedback of the paths in use, as `of_peer` converts feedback and share.
    fn least(&self, of_peer: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let used = self.last.iter().enumerate();
        let used = used.filter_map(|(k, last)| last.map(|last| (last, self.ratios.of(k))));
        let used = used.filter(|(_, share)| *share > 0.0);
        used.map(|(last, share)| of_peer(last, share)).reduce(f64::min)
    }

    /// Forgets the feedback of a member that has failed.
    pub(crate) fn forget(&mut self, member: usize) {
        self.refused[member] = 0.0;
        self.last[member] = None;
    }
}
