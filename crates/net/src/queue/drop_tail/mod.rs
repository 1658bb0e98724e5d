//! Drop-tail: packets that find no room are dropped, and no others.

use ratewire_laws::OptionError;
use ratewire_laws::options::Options;
use ratewire_units::Bytes;

use super::discipline::{Discipline, DisciplineInfo, NamedDiscipline};

/// Drop-tail.
#[derive(Clone, Copy, Debug)]
pub struct DropTail;

impl NamedDiscipline for DropTail {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "drop-tail",
        title: "drop-tail",
        summary: "First in, first out: drops packets that find no room, and no others",
        explanation: include_str!("explain.md"),
        example: "discipline = \"drop-tail\"",
        options: &[],
    };

    fn from_options(_: &Options, _: Bytes) -> Result<DropTail, OptionError> {
        Ok(DropTail)
    }
}

impl Discipline for DropTail {
    fn is_passive(&self) -> bool {
        true
    }
}
