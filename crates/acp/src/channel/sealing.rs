//! Packets of a channel on their way out.

use std::net::SocketAddr;

use ratewire_laws::Header;
use ratewire_units::{Bytes as Size, Duration, Time};

use super::{Channel, Transmit, below};
use crate::wire::{Congestion, Data, HEADER, HEADER_WITHOUT_CONGESTION, Part, TAG};

/// A packet in the making, at the end of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Draft {
    start: usize,
    parts: usize,
}

impl Draft {
    /// Where in the buffer the packet begins.
    pub fn start(&self) -> usize {
        self.start
    }
    /// Where in the buffer its parts begin.
    pub fn parts(&self) -> usize {
        self.parts
    }
    /// Bytes of its parts so far.
    pub fn len(&self, out: &[u8]) -> usize {
        out.len() - self.parts
    }
}

impl Channel {
    /// Begins a packet at the end of `out`. Its parts are to follow, and then
    /// [`Channel::finish`]; without parts, `out` is to be cut at [`Draft::start`].
    pub fn begin(&self, out: &mut Vec<u8>) -> Draft {
        let start = out.len();
        let parts = start + HEADER + Congestion::usual(&self.law);
        out.resize(parts, 0);
        Draft { start, parts }
    }

    /// Completes the packet at the end of `out`.
    pub fn finish(
        &mut self,
        now: Time,
        to: SocketAddr,
        header: &Header,
        draft: &Draft,
        out: &mut Vec<u8>,
    ) -> Transmit {
        let longest = HEADER + Congestion::longest(&self.law) + draft.len(out) + TAG;
        let congestion = Congestion::of(&self.law, header, Size::new(below(to) + longest as u64));
        let number = self.number;
        self.number += 1;
        self.clear.clear();
        let clear = Data {
            connection: self.params.connection,
            number: number as u32,
            congestion: congestion.bytes(),
        };
        clear.put(&mut self.clear);
        let start = draft.start;
        // Few packets have another header than is usual, and those are short.
        out.splice(start..draft.parts, self.clear.iter().copied());
        self.keys.seal.seal(number, out, start, HEADER, self.clear.len());
        self.sent = now;
        self.counts.sent += 1;
        Transmit { to, len: out.len() - start, ecn: false }
    }

    /// Appends a packet that finds out whether the path carries packets of its size, if one is due.
    /// No packet is due before a round trip is known.
    pub fn poll_probe(&mut self, now: Time, srtt: Duration, out: &mut Vec<u8>) -> Option<Transmit> {
        let datagram = self.path.poll_probe(now, srtt)?;
        let draft = self.begin(out);
        Part::Ping(datagram).put(out);
        // Without a congestion header.
        let parts = datagram as usize - HEADER_WITHOUT_CONGESTION - TAG;
        out.resize(draft.parts + parts, 0);
        Some(self.finish(now, self.peer, &Header::None, &draft, out))
    }
}
