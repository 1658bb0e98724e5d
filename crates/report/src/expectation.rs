//! Claims compared with what was measured, and the verdict on each.

use serde::{Deserialize, Serialize};

use crate::World;

/// One claim of the scenario (`[[expect]]`) compared with what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckedExpectation {
    /// The law of the run.
    pub law: String,
    /// The seed of the run.
    pub seed: u64,
    /// The world of the run.
    pub world: World,
    /// What is claimed, in words: `utilisation of bottleneck, 5 s .. 30 s`.
    pub claim: String,
    /// What was measured, with its unit; `not measured` when there was nothing to measure.
    pub measured: String,
    /// What was allowed: `at least 0.98`.
    pub bound: String,
    /// Whether `measured` is within `bound`.
    pub passed: bool,
    /// The metric's name.
    pub metric: String,
    /// What was measured, in `unit`; `None` when there was nothing to measure.
    pub value: Option<f64>,
    /// The least that was allowed, in `unit`.
    pub min: Option<f64>,
    /// The most that was allowed, in `unit`.
    pub max: Option<f64>,
    /// `bit/s`, `packets`, `B` or `s`; empty for a share (0 to 1) and Jain's index.
    pub unit: String,
    /// What was measured, as written: a link, flows, a class of traffic.
    pub target: String,
    /// The time measured, from and to, seconds; `None` for the whole run.
    pub window_s: Option<(f64, f64)>,
    /// What the bound rests on.
    pub basis: Basis,
    /// Where the claim is from: a paper's figure, a measurement.
    pub source: Option<String>,
    /// A remark of the scenario's author.
    pub note: Option<String>,
}

/// What the bound of a claim rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The source states the value or the order.
    #[default]
    Claim,
    /// A value computed from the source's theory or set-up; the source does not state the value.
    Derived,
    /// The source states the value, and a parameter that it does not state was chosen to meet it.
    Fit,
    /// A run: the source gives no figure.
    Run,
    /// A run that the source contradicts.
    Differs,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// What was measured is not within the bound.
    Failed,
    /// The source's claim does not hold here; the stated bound, set after a run, does.
    NotReproduced,
    /// The source gives no figure; the bound set after an earlier run holds.
    Unclaimed,
    /// The source's value holds with a parameter that was chosen to meet it.
    Fitted,
    /// A value computed from the source's theory or set-up holds; the source does not state the
    /// value.
    Derived,
    /// The source's own claim holds.
    Reproduced,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Reproduced,
        Verdict::Derived,
        Verdict::Fitted,
        Verdict::Unclaimed,
        Verdict::NotReproduced,
        Verdict::Failed,
    ];

    /// The verdict in words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Failed => "failed",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Reproduced => "reproduced",
            Verdict::Derived => "as derived",
            Verdict::Fitted => "fitted",
            Verdict::Unclaimed => "set after a run",
        }
    }
}

impl CheckedExpectation {
    /// The name of the run: its law, with the world if emulated or if the claim was measured in
    /// several worlds, and with the seed if it was measured with several.
    pub fn run(&self, among: &[CheckedExpectation]) -> String {
        let twins = || among.iter().filter(|o| o.law == self.law && o.claim == self.claim);
        let mut name = self.law.clone();
        if self.world == World::Emulate || twins().any(|other| other.world != self.world) {
            name += &format!(" ({}d)", self.world);
        }
        if twins().any(|other| other.world == self.world && other.seed != self.seed) {
            name += &format!(" (seed {})", self.seed);
        }
        name
    }

    /// The verdict. A bound that was set after a run reproduces nothing, nor does one that a
    /// parameter was fitted to.
    pub fn verdict(&self) -> Verdict {
        match self.basis {
            _ if !self.passed => Verdict::Failed,
            Basis::Claim => Verdict::Reproduced,
            Basis::Derived => Verdict::Derived,
            Basis::Fit => Verdict::Fitted,
            Basis::Run => Verdict::Unclaimed,
            Basis::Differs => Verdict::NotReproduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World::{Emulate, Simulate};

    #[test]
    fn a_claim_names_its_run_as_far_as_others_differ() {
        let of = |law: &str, seed, world| CheckedExpectation {
            law: law.into(),
            seed,
            world,
            ..CheckedExpectation::default()
        };
        let runs = |all: &[CheckedExpectation]| all.iter().map(|e| e.run(all)).collect::<Vec<_>>();
        let (xcp, again, cubic) =
            (of("xcp", 1, Simulate), of("xcp", 2, Simulate), of("cubic", 2, Simulate));
        assert_eq!(runs(&[xcp.clone(), xcp.clone(), cubic.clone()]), ["xcp", "xcp", "cubic"]);
        assert_eq!(runs(&[xcp.clone(), again, cubic]), ["xcp (seed 1)", "xcp (seed 2)", "cubic"]);
        let emulated = of("xcp", 1, Emulate);
        assert_eq!(runs(std::slice::from_ref(&emulated)), ["xcp (emulated)"]);
        assert_eq!(runs(&[xcp, emulated]), ["xcp (simulated)", "xcp (emulated)"]);
    }
}
