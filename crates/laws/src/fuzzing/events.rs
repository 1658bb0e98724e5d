//! Events of a run, read from bytes.

use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration};

use crate::law::Signal;

/// One event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Time since the event before.
    pub(super) after: Duration,
    pub(super) what: What,
    /// Four sizes: of a packet or of acknowledged data; of outstanding data; of formerly
    /// outstanding data or of a queue; and of the receiver's window.
    pub(super) sizes: [Bytes; 4],
    pub(super) rtt: Option<Duration>,
    pub(super) srtt: Duration,
    pub(super) rto: Duration,
    pub(super) limited: bool,
    pub(super) in_recovery: bool,
    pub(super) marked: bool,
    /// Bytes that overwrite a header on its way, and their position modulo the header's length.
    pub(super) overwrite: Option<(usize, [u8; 4])>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A packet of this flow passes the ports.
    Send,
    /// A packet of another law passes the ports.
    Foreign,
    Ack,
    /// The flow opens, and gets the answer.
    Open,
    Congestion(Signal),
    Recovered,
    Timer,
    Rate,
}

/// Reads events of some ten bytes each; missing bytes at the end are zero.
pub(super) fn read(data: &[u8]) -> Vec<Event> {
    let mut bytes = data.iter().copied();
    let mut events = Vec::new();
    while bytes.len() > 0 {
        events.push(event(&mut bytes));
    }
    events
}

fn event(bytes: &mut impl Iterator<Item = u8>) -> Event {
    let what = match number(bytes, 1) % 16 {
        0..=3 => What::Send,
        4..=7 => What::Ack,
        8 => What::Foreign,
        9 => What::Timer,
        10 => What::Rate,
        11 => What::Congestion(Signal::Loss),
        12 => What::Congestion(Signal::Mark),
        13 => What::Congestion(Signal::Timeout),
        14 => What::Recovered,
        _ => What::Open,
    };
    let flags = number(bytes, 1);
    let on = |bit: u64| flags >> bit & 1 == 1;
    Event {
        after: time(bytes),
        what,
        sizes: [size(bytes), size(bytes), size(bytes), size(bytes)],
        rtt: Some(time(bytes)).filter(|_| !on(0)),
        srtt: time(bytes),
        rto: time(bytes),
        limited: on(1),
        in_recovery: on(2),
        marked: on(3),
        overwrite: (on(6) && on(7)).then(|| {
            let at = number(bytes, 1) as usize;
            (at, (number(bytes, 4) as u32).to_be_bytes())
        }),
    }
}

/// A time of a usual size: a multiple of 10 us, 1 ms or 10 ms. Sometimes any time.
fn time(bytes: &mut impl Iterator<Item = u8>) -> Duration {
    let byte = number(bytes, 1);
    match byte >> 5 {
        0 | 1 => Duration::from_micros(byte * 10),
        2..=4 => Duration::from_millis(byte & 31),
        5 => Duration::from_millis((byte & 31) * 10),
        _ => Duration::from_ps(wild(bytes)),
    }
}

/// A size of a packet or window. Sometimes any size.
fn size(bytes: &mut impl Iterator<Item = u8>) -> Bytes {
    let byte = number(bytes, 1);
    match byte >> 6 {
        0..=2 => Bytes::new(byte * 500),
        _ => Bytes::new(wild(bytes)),
    }
}

/// The big-endian number in the next `length` bytes; missing bytes are zero.
pub fn number(bytes: &mut impl Iterator<Item = u8>, length: usize) -> u64 {
    (0..length).fold(0, |n, _| n << 8 | u64::from(bytes.next().unwrap_or(0)))
}

/// A number of any magnitude, from 0 to the maximum, from one byte.
pub fn wild(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let byte = number(bytes, 1);
    match byte >> 6 {
        0 => byte,
        1 => (byte & 63) * 365,
        2 => 1 << (byte & 63),
        _ => u64::MAX >> (byte & 63),
    }
}
