//! A toy: drops packets that find a number of packets waiting.

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::Bytes;

use super::discipline::{
    Arrival, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};

/// A brief queue.
#[derive(Clone, Debug)]
pub struct Brief {
    most: u32,
}

const OPTIONS: &[OptionSpec] =
    &[option("most", OptionKind::Count(1, 1000), "5", "Packets that may wait.")];

impl NamedDiscipline for Brief {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "brief",
        title: "Brief",
        summary: "A toy: drops packets that find a number of packets waiting",
        explanation: include_str!("explain.md"),
        example: "discipline = { brief = { most = 5 } }",
        options: OPTIONS,
    };

    fn from_options(options: &Options, _: Bytes) -> Result<Brief, OptionError> {
        Ok(Brief { most: options.count("most") as u32 })
    }
}

impl Discipline for Brief {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn FnMut() -> f64) -> Treatment {
        if arrival.backlog.packets < self.most { Treatment::Pass } else { Treatment::Drop }
    }
}
