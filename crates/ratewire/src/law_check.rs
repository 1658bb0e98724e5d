//! Checks of a law: that it keeps the rules of every law, and its own promises.

use std::sync::Mutex;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_laws::fuzzing::Laws;
use ratewire_laws::{AnyLaw, LawSet};
use ratewire_report::FlowRow;
use ratewire_scenario::Loader;

use crate::{Error, Experiment, Listener, Results, Running};

/// A check of a law.
///
/// A law of a shared object may crash the process, so check one in a process of its own, as
/// `ratewire check-law` does.
#[derive(Clone, Copy, Debug)]
pub struct LawCheck {
    /// Name of the check.
    pub name: &'static str,
    /// What it checks, in a few words.
    pub about: &'static str,
    is_due: fn(&AnyLaw) -> bool,
    check: fn(&Checked<'_>) -> Result<String, String>,
}

/// The law that is checked.
struct Checked<'a> {
    laws: &'a LawSet,
    name: &'a str,
    seed: u64,
    /// Sequences of events.
    sequences: usize,
}

const ALL: &[LawCheck] = &[
    LawCheck {
        name: "wild",
        about: "any events in any order: bounds, no NaN, timers that advance, explained rates",
        is_due: |_| true,
        check: wild,
    },
    LawCheck {
        name: "headers",
        about: "any bytes as headers: they are read, written and shown without harm",
        is_due: |_| true,
        check: headers,
    },
    LawCheck {
        name: "options",
        about: "options at the ends of their ranges, under any events",
        is_due: |_| true,
        check: options,
    },
    LawCheck {
        name: "run",
        about: "three flows join, lose packets and leave: every packet is accounted for",
        is_due: |_| true,
        check: run,
    },
    LawCheck {
        name: "deterministic",
        about: "equal runs have equal results, also beside others in other threads",
        is_due: |_| true,
        check: deterministic,
    },
    LawCheck {
        name: "conserved",
        about: "promise: what ports give and receivers return balances, under any events",
        is_due: AnyLaw::has_books,
        check: conserved,
    },
    LawCheck {
        name: "equal-shares",
        about: "promise: 2, 5 and 8 equal flows end within 5 % of equal shares in a minute",
        is_due: |law| law.promises().equal_shares,
        check: equal_shares,
    },
    LawCheck {
        name: "any-speed",
        about: "promise: the same course at four times all rates, within 1 %",
        is_due: |law| law.promises().any_speed,
        check: any_speed,
    },
];

impl LawCheck {
    /// All checks, in the order in which they should run.
    pub fn all() -> &'static [LawCheck] {
        ALL
    }

    /// Whether the law of a set makes the promise that is checked; true for the rules of every law.
    ///
    /// # Errors
    /// An error if the set has no such law, or the law refuses its defaults.
    pub fn is_due(&self, laws: &LawSet, name: &str) -> Result<bool, Error> {
        Ok((self.is_due)(&made(laws, name)?))
    }

    /// Checks the law `name` of a set; `seed` chooses the events. Returns what was done.
    ///
    /// # Errors
    /// What the law does wrong.
    ///
    /// # Panics
    /// When the law breaks a rule under events of its own making.
    pub fn check(&self, laws: &LawSet, name: &str, seed: u64) -> Result<String, String> {
        self.check_with(laws, name, seed, EVENTS)
    }

    /// As [`LawCheck::check`], with about this number of events, for laws that take long for each.
    ///
    /// # Errors
    /// As [`LawCheck::check`].
    pub fn check_with(
        &self,
        laws: &LawSet,
        name: &str,
        seed: u64,
        events: usize,
    ) -> Result<String, String> {
        let sequences = (events / EVENTS_A_SEQUENCE).max(1);
        (self.check)(&Checked { laws, name, seed, sequences })
    }
}

fn made(laws: &LawSet, name: &str) -> Result<AnyLaw, Error> {
    let wrong = |wrong: ratewire_laws::OptionError| Error::Setting {
        setting: format!("law {name}"),
        reason: wrong.to_string(),
    };
    laws.make(name, &[]).map_err(wrong)
}

/// Events that a law gets by default.
const EVENTS: usize = 225_000;
/// Mean number of events in a sequence, and bytes of the longest. An event takes about ten.
const EVENTS_A_SEQUENCE: usize = 75;
const LONGEST: usize = 1500;

/// Calls `each` with random bytes.
fn random(seed: u64, times: usize, longest: usize, mut each: impl FnMut(&[u8])) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..times {
        let mut bytes = vec![0; (random.next_u32() as usize) % longest];
        random.fill_bytes(&mut bytes);
        each(&bytes);
    }
}

fn wild(of: &Checked<'_>) -> Result<String, String> {
    of.happen(Laws::of(of.laws, [of.name]).without_books())
}

fn conserved(of: &Checked<'_>) -> Result<String, String> {
    of.happen(Laws::of(of.laws, [of.name]))
}

fn headers(of: &Checked<'_>) -> Result<String, String> {
    let laws = Laws::of(of.laws, [of.name]);
    random(of.seed, of.sequences, 40, |bytes| laws.headers(bytes));
    Ok(format!("{} headers", of.sequences))
}

fn options(of: &Checked<'_>) -> Result<String, String> {
    use ratewire_laws::options::OptionKind;
    let info = of.laws.find(of.name).ok_or("no such law")?;
    let mut sets = Vec::new();
    for option in info.options {
        let ends = match option.kind {
            OptionKind::Number(min, max) => vec![min.to_string(), max.to_string()],
            OptionKind::Count(min, max) => vec![min.to_string(), max.to_string()],
            OptionKind::Switch => vec!["true".to_string(), "false".to_string()],
            OptionKind::Word(words) => words.iter().map(ToString::to_string).collect(),
            OptionKind::Time | OptionKind::Rate(_) | OptionKind::Size(_) => Vec::new(),
        };
        sets.extend(ends.into_iter().map(|end| (option.name, end)));
    }
    let mut refused = 0;
    for (option, value) in &sets {
        // A law may refuse what its table cannot exclude, with a reason.
        match of.laws.make(of.name, &[(option, value)]) {
            Err(_) => refused += 1,
            Ok(law) => {
                let laws = Laws::from(law).without_books();
                random(of.seed, (of.sequences / 30).max(1), LONGEST, |bytes| laws.each(bytes));
            }
        }
    }
    Ok(format!("{} values, {refused} of them refused", sets.len()))
}

/// A dumbbell of `pairs` flows, with a bottleneck of this rate.
fn dumbbell(pairs: u32, seconds: u32, rate: &str, queue: &str, rest: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
         pairs = {pairs}\nrtt = \"40 ms\"\n\
         bottleneck = {{ rate = \"{rate}\", delay = \"10 ms\", queue = \"{queue}\" }}\n\
         [transport]\nhandshake = true\njitter = \"none\"\n\
         [[flow]]\nfrom = \"s*\"\nto = \"d*\"\nstagger = \"1 s\"\n{rest}"
    )
}

impl Checked<'_> {
    /// Runs laws under any events in any order.
    fn happen(&self, laws: Laws) -> Result<String, String> {
        random(self.seed, self.sequences, LONGEST, |bytes| laws.each(bytes));
        Ok(format!("{} sequences of up to {} events", self.sequences, 2 * EVENTS_A_SEQUENCE))
    }

    fn experiment(&self, text: &str) -> Result<Experiment, String> {
        let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Loader::from(self.laws).parse("check", text, &no_files);
        let scenario = scenario.map_err(|wrong| wrong.to_string())?;
        Ok(Experiment::of(scenario).laws([self.name]))
    }

    fn results(&self, text: &str) -> Result<Results, String> {
        self.experiment(text)?.run().map_err(|wrong| wrong.to_string())
    }
}

const JOIN_AND_LEAVE: &str = "stop = \"8 s\"\n[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n";

fn run(of: &Checked<'_>) -> Result<String, String> {
    let results = of.results(&dumbbell(3, 12, "20 Mbit/s", "20 packets", JOIN_AND_LEAVE))?;
    let link = results.runs()[0].link("bottleneck").map_err(|wrong| wrong.to_string())?;
    Ok(format!(
        "utilisation {:.3}, mean queue {:.1} packets, {} drops",
        link.utilisation,
        link.queue_packets_mean,
        link.drops.values().sum::<u64>()
    ))
}

/// Keeps the samples of flows.
#[derive(Default)]
struct KeptRows(Mutex<Vec<FlowRow>>);

impl Listener for KeptRows {
    fn flow_sample(&self, _: &Running<'_>, sample: &FlowRow) {
        self.0.lock().expect("no holder panics").push(*sample);
    }
}

fn deterministic(of: &Checked<'_>) -> Result<String, String> {
    let text = dumbbell(3, 12, "20 Mbit/s", "20 packets", JOIN_AND_LEAVE);
    let samples = || -> Result<Vec<FlowRow>, String> {
        let kept = KeptRows::default();
        let run = of.experiment(&text)?.without_samples().run_with(&kept);
        run.map_err(|wrong| wrong.to_string())?;
        Ok(kept.0.into_inner().expect("no holder panics"))
    };
    const RUNS: usize = 4;
    let all: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..RUNS).map(|_| scope.spawn(samples)).collect();
        started.into_iter().map(|run| run.join().map_err(|_| "a run panicked")).collect()
    });
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first = all.first().cloned().unwrap_or(Err("no run".to_string()))?;
    for other in all {
        if other? != first {
            return Err("equal runs differ: the law keeps something outside its states, or uses \
                        what it did not set"
                .to_string());
        }
    }
    Ok(format!("{RUNS} runs at a time"))
}

fn equal_shares(of: &Checked<'_>) -> Result<String, String> {
    let mut worst: f64 = 0.0;
    for flows in [2_u32, 5, 8] {
        let share = 1.0 / f64::from(flows);
        let expect = |flow: u32| {
            format!(
                "[[expect]]\nmetric = \"share\"\nflow = \"s{flow}->d{flow}\"\n\
                 during = \"50 s .. 60 s\"\nequals = {share}\ntolerance = \"5 %\"\n"
            )
        };
        let all: String = (1..=flows).map(expect).collect();
        let results = of.results(&dumbbell(flows, 60, "40 Mbit/s", "unlimited", &all))?;
        for found in results.runs()[0].verdicts() {
            worst = worst.max((found.measured.unwrap_or(f64::NAN) / share - 1.0).abs());
            if !found.pass {
                let measured = &found.measured_text;
                return Err(format!(
                    "{flows} flows: {} is {measured}, not {share:.3}",
                    found.claim
                ));
            }
        }
    }
    Ok(format!("at most {:.2} % from equal", worst * 100.0))
}

fn any_speed(of: &Checked<'_>) -> Result<String, String> {
    let course = |mbps: u32| -> Result<Vec<f64>, String> {
        use ratewire_report::Series;
        let rest = "[record]\ninterval = \"250 ms\"\n";
        let text = dumbbell(3, 4, &format!("{mbps} Mbit/s"), "unlimited", rest);
        let results = of.results(&text)?;
        let flows = &results.runs()[0].report().collected.flows;
        let values = flows.iter().filter_map(|flow| flow.tracks.get("goodput"));
        Ok(values.flat_map(Series::values).map(|bps| bps / (f64::from(mbps) * 1e6)).collect())
    };
    let (slow, fast) = (course(100)?, course(400)?);
    if slow.len() != fast.len() {
        return Err(format!("{} samples at one speed, {} at another", slow.len(), fast.len()));
    }
    let apart = slow.iter().zip(&fast).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let difference = format!("at most {:.2} % of the link apart", apart * 100.0);
    if apart < 0.01 { Ok(difference) } else { Err(difference) }
}
