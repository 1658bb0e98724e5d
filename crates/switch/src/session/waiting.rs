//! Data of the peer that has overtaken other data.
//!
//! A routing module that reads frames cannot say where missing ones go. If later frames went on
//! before them, requests for one key could change their order. So they wait at the switch for what
//! is missing, and the peer hears that they are there.

use ratewire_acp::wire::DataPart;
use ratewire_laws::Header;
use ratewire_units::Time;

use super::Session;

/// Packets that wait at most; later ones are dropped, and come again.
const MOST: usize = 1024;
/// Bytes that wait at most: datagrams may be larger than most are.
const MOST_BYTES: usize = 2 << 20;

/// A packet's data.
#[derive(Debug)]
pub(super) struct Held {
    header: Header,
    marked: bool,
    source: u64,
    frame: u64,
    within: u64,
    again: bool,
    bytes: Vec<u8>,
}

impl Session {
    pub(super) fn hold(&mut self, now: Time, data: &DataPart<'_>, header: &Header, marked: bool) {
        let DataPart { offset, source, frame, within, bytes, again } = *data;
        let known = self.held.get(&offset).map_or(0, |held| held.bytes.len());
        let is_full = known == 0 && self.held.len() == MOST;
        let sum = self.held_bytes - known + bytes.len();
        if known >= bytes.len() || is_full || sum > MOST_BYTES {
            return;
        }
        self.held_bytes = sum;
        let bytes = bytes.to_vec();
        let end = offset.saturating_add(bytes.len() as u64);
        let held = Held { header: *header, marked, source, frame, within, again, bytes };
        self.held.insert(offset, held);
        self.switch.hold(now, offset, end, &mut self.outputs);
        self.pass_on(now, None);
    }

    /// Gives the switch what no longer must wait.
    pub(super) fn give_held(&mut self, now: Time) {
        while let Some(first) = self.held.first_entry()
            && !self.switch.must_wait(*first.key())
        {
            let (offset, held) = first.remove_entry();
            self.held_bytes -= held.bytes.len();
            let Held { header, marked, source, frame, within, again, bytes } = held;
            self.switch.release(offset, offset + bytes.len() as u64);
            let data = DataPart { offset, source, frame, within, bytes: &bytes, again };
            self.on_data(now, ratewire_anypoint::Side::Peer, &data, &header, None, marked);
        }
    }
}
