//! A queue discipline outside the workspace: flows take turns.
//!
//! The packets of each flow wait in a queue of their own, and the queues send a packet in turn
//! (Nagle, RFC 970). A link without room drops from the longest queue. So a newcomer gets its share
//! of the link at once, whatever the laws of the others do.
//!
//! `cargo run --release -p ratewire --example own_discipline`

use ratewire::laws::options::{OptionError, OptionKind, Options};
use ratewire::queue::{Arrival, Discipline, DisciplineInfo, NamedDiscipline, Queues, option};
use ratewire::units::{Bytes, Time};
use ratewire::{Error, Experiment};

/// The discipline with its option, and the state of one queue under it.
#[derive(Clone, Debug)]
struct Turns {
    /// Number of queues. Flows whose numbers are equal modulo this share a queue.
    queues: u32,
    /// The queue that sent last.
    last: u32,
}

impl NamedDiscipline for Turns {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "turns",
        title: "Turns",
        summary: "A queue for each flow; the queues send a packet in turn",
        explanation: "Known limits: flows with large packets get more than their share.\n",
        example: "discipline = { turns = { queues = 64 } }",
        options: &[option(
            "queues",
            OptionKind::Count(1, 65_536),
            "64",
            "Number of queues, over which flows are spread.",
        )],
    };

    // Each option is given or has its default, and is within its range.
    fn from_options(options: &Options, _full_packet: Bytes) -> Result<Turns, OptionError> {
        Ok(Turns { queues: options.count("queues") as u32, last: 0 })
    }
}

impl Discipline for Turns {
    // The link then asks `place` where a packet waits, and `choose` which queue sends.
    fn sorts(&self) -> bool {
        true
    }

    fn place(&mut self, packet: &Arrival, _draw: &mut dyn FnMut() -> f64) -> u32 {
        packet.flow % self.queues
    }

    fn choose(&mut self, _now: Time, queues: Queues<'_>) -> u32 {
        let in_turn = (1..=self.queues).map(|step| (self.last + step) % self.queues);
        let mut waiting = in_turn.filter(|queue| queues.backlog(*queue).packets > 0);
        self.last = waiting.next().unwrap_or_default();
        self.last
    }

    // A packet that finds no room is let in, and `shed` says what is dropped for it.
    fn makes_room(&self) -> bool {
        true
    }

    fn shed(&mut self, queues: Queues<'_>, is_full: bool) -> Option<(u32, u32)> {
        let longest = (0..queues.count()).max_by_key(|queue| queues.backlog(*queue).bytes)?;
        is_full.then_some((longest, 1))
    }
}

fn main() -> Result<(), Error> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-flows.toml");
    let experiment = Experiment::load(path)?.register_discipline::<Turns>()?.laws(["cubic"]);
    for discipline in ["turns", "drop-tail"] {
        let results = experiment.clone().set("bottleneck.discipline", discipline)?.run()?;
        let run = &results.runs()[0];
        let link = run.link("bottleneck")?;
        println!(
            "{discipline:9} utilisation {:.3}, queue {:.1} packets on average, Jain's index {:.3}",
            link.utilisation,
            link.queue_packets_mean,
            run.summary().jain_index.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
