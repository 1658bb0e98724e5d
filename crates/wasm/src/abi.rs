//! The interface between a switch and a module: names, signatures, records.

use ratewire_anypoint::routing::Member;
use wasmi::{FuncType, ValType};

/// Version of the interface. A module's `ratewire_abi` returns it.
pub const VERSION: i32 = 1;

/// Most first bytes of a frame that a module can ask for.
pub const MOST_CONTENT: usize = 4096;

/// Size of the record of a member in a module's memory.
pub const RECORD: usize = 24;

/// What `route` returns to leave a frame to the default module.
pub const DEFAULT_DECIDES: i32 = -1;

/// The export that holds the records and the frame.
pub(crate) const MEMORY: &str = "memory";

/// A function that a module exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    Abi,
    Wants,
    Frame,
    Members,
    Route,
}

impl Export {
    pub(crate) const ALL: [Export; 5] =
        [Export::Abi, Export::Wants, Export::Frame, Export::Members, Export::Route];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Export::Abi => "ratewire_abi",
            Export::Wants => "wants",
            Export::Frame => "frame",
            Export::Members => "members",
            Export::Route => "route",
        }
    }

    /// The signature as the text format and the reference write it.
    pub(crate) fn signature(self) -> &'static str {
        match self {
            Export::Abi => "ratewire_abi() -> i32",
            Export::Wants => "wants() -> i32",
            Export::Frame => "frame(i32) -> i32",
            Export::Members => "members(i32) -> i32",
            Export::Route => "route(i64, i32, i32) -> i32",
        }
    }

    /// Whether every module must export the function. Only a module that reads content needs
    /// `frame`.
    pub(crate) fn is_required(self) -> bool {
        matches!(self, Export::Abi | Export::Members | Export::Route)
    }

    pub(crate) fn has_type(self, found: &FuncType) -> bool {
        let parameters: &[ValType] = match self {
            Export::Abi | Export::Wants => &[],
            Export::Frame | Export::Members => &[ValType::I32],
            Export::Route => &[ValType::I64, ValType::I32, ValType::I32],
        };
        found.params() == parameters && found.results() == [ValType::I32]
    }
}

/// Writes the records of members, in order. The records' memory has the size of all of them.
pub(crate) fn write_members(memory: &mut [u8], members: &[Member]) {
    for (record, member) in memory.chunks_exact_mut(RECORD).zip(members) {
        let is_up = u64::from(member.is_up);
        record[..8].copy_from_slice(&is_up.to_le_bytes());
        record[8..16].copy_from_slice(&member.outstanding.get().to_le_bytes());
        record[16..].copy_from_slice(&(member.latency.ps() / 1000).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::{Bytes, Duration};

    use super::*;

    #[test]
    fn a_record_is_as_the_reference_states() {
        let up = Member {
            is_up: true,
            outstanding: Bytes::new(0x0102),
            latency: Duration::from_micros(1),
        };
        let mut memory = [0xff; 2 * RECORD];
        write_members(&mut memory, &[up, Member::default()]);
        let first = [1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0];
        assert_eq!(memory[..RECORD], first);
        assert_eq!(memory[RECORD..], [0; RECORD]);
    }
}
