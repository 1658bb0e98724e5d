//! HPCC's INT header (SIGCOMM 2019, figure 7): 42 bytes, big-endian.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+-+---------------------+
//! | nHop  |R|       pathID        |  R: the stamps are on their way back
//! +-------+-+---------------------+-------------------------------+
//! |   B   |                      TS                       |txBytes|  five times, hop n at
//! |         txBytes               |            qLen               |  place n modulo 5
//! +-------------------------------+-------------------------------+
//! ```
//!
//! | field | bits | unit |
//! |---|---|---|
//! | nHop | 4 | ports passed, no more than 15 are counted |
//! | pathID | 11 | exclusive or of the ports' numbers: shows a change of path |
//! | B | 4 | one of [`SPEEDS`] |
//! | TS | 24 | 1 ns, or the time of 25 bits at speed B where that is longer; wraps |
//! | txBytes | 20 | 128 bytes; wraps |
//! | qLen | 16 | 80 bytes; stays at the most it can hold |
//!
//! A link whose rate is none of these speeds states the next higher one. It scales its byte counts
//! up by the same factor, as if its packets were longer. Shares of the link and times to drain its
//! queue then come out right.

use crate::law::HeaderError;

/// Bytes of the header.
pub const HEADER_LEN: usize = 42;
/// Stamps it holds.
pub const PLACES: usize = 5;
/// Maximum number of ports that nHop counts.
const MOST_HOPS: u8 = 15;
const PATH_BITS: u16 = 0x7ff;
const RETURNING: u16 = 0x800;

/// Speeds by the code B, in bits per second.
pub const SPEEDS: [u64; 16] = [
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    40_000_000_000,
    50_000_000_000,
    100_000_000_000,
    200_000_000_000,
    400_000_000_000,
    800_000_000_000,
    1_600_000_000_000,
];

const TICK_BITS: u32 = 24;
const TX_BITS: u32 = 20;
const TX_UNIT: f64 = 128.0;
const QUEUE_UNIT: f64 = 80.0;

/// Stamp of one port, in 64 bits.
// Two halves, so that the header is aligned to four bytes. Aligned to eight it would not fit into
// `Header`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopStamp {
    high: u32,
    low: u32,
}

/// One of [`SPEEDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeedCode(u8);

/// Unit of TS at each speed, in seconds.
const TICKS: [f64; SPEEDS.len()] = {
    let mut ticks = [1e-9; SPEEDS.len()];
    let mut at = 0;
    while at < SPEEDS.len() {
        let of_25_bits = 25.0 / SPEEDS[at] as f64;
        if of_25_bits > ticks[at] {
            ticks[at] = of_25_bits;
        }
        at += 1;
    }
    ticks
};

impl SpeedCode {
    /// The slowest speed of at least `bps`, or the fastest.
    pub fn at_least(bps: u64) -> SpeedCode {
        let at = SPEEDS.iter().position(|speed| *speed >= bps).unwrap_or(SPEEDS.len() - 1);
        SpeedCode(at as u8)
    }
    /// Rate of the link in bytes per second.
    #[inline]
    pub fn rate(self) -> f64 {
        SPEEDS[usize::from(self.0)] as f64 / 8.0
    }
    /// Unit of TS, in seconds.
    #[inline]
    pub fn tick(self) -> f64 {
        TICKS[usize::from(self.0)]
    }
    /// Whether this time is less than half of the range of TS and, on a busy link, of txBytes.
    #[inline]
    fn can_count(self, secs: f64) -> bool {
        const HALF: f64 = 0.5;
        secs < HALF * f64::from(1 << TICK_BITS) * self.tick()
            && secs * self.rate() < HALF * f64::from(1 << TX_BITS) * TX_UNIT
    }
}

impl HopStamp {
    /// A stamp made at this tick, after `tx_bytes`, with `queue` bytes waiting.
    #[inline]
    pub fn new(speed: SpeedCode, tick: u64, tx_bytes: f64, queue: f64) -> HopStamp {
        let tick = tick & ((1 << TICK_BITS) - 1);
        let tx = (tx_bytes / TX_UNIT) as u64 & ((1 << TX_BITS) - 1);
        let queue = (queue * (1.0 / QUEUE_UNIT)) as u16;
        let bits = u64::from(speed.0) << 60 | tick << 36 | tx << 16 | u64::from(queue);
        HopStamp { high: (bits >> 32) as u32, low: bits as u32 }
    }
    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
    #[inline]
    fn speed(self) -> SpeedCode {
        SpeedCode((self.high >> 28) as u8)
    }
    #[inline]
    fn ticks(self) -> u64 {
        self.bits() >> 36 & ((1 << TICK_BITS) - 1)
    }
    #[inline]
    fn tx(self) -> u64 {
        self.bits() >> 16 & ((1 << TX_BITS) - 1)
    }
    /// B, in bytes per second.
    pub fn rate(self) -> f64 {
        self.speed().rate()
    }
    /// TS in seconds, since it last wrapped.
    pub fn ts(self) -> f64 {
        self.ticks() as f64 * self.speed().tick()
    }
    /// txBytes, since it last wrapped.
    pub fn tx_bytes(self) -> f64 {
        self.tx() as f64 * TX_UNIT
    }
    /// qLen in bytes.
    #[inline]
    pub fn queue(self) -> f64 {
        f64::from(self.low & 0xffff) * QUEUE_UNIT
    }

    /// Use of a link from the stamp `before` to this one; `None` if they cannot be compared.
    /// `elapsed` is the time between them in seconds, by a clock that need not be exact.
    #[inline]
    pub fn since(self, before: HopStamp, elapsed: f64) -> Option<Passed> {
        let speed = self.speed();
        if speed != before.speed() || !speed.can_count(elapsed) {
            return None;
        }
        let ticks = self.ticks().wrapping_sub(before.ticks()) & ((1 << TICK_BITS) - 1);
        if ticks == 0 || ticks >> (TICK_BITS - 1) != 0 {
            // No time has passed, or this stamp is the older one.
            return None;
        }
        let tx = self.tx().wrapping_sub(before.tx()) & ((1 << TX_BITS) - 1);
        let secs = ticks as f64 * speed.tick();
        let rate = speed.rate();
        Some(Passed {
            secs,
            busy: tx as f64 * TX_UNIT / (rate * secs),
            queued: self.queue().min(before.queue()) / rate,
        })
    }
}

/// Use of a link between two stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// Time between the stamps, in seconds.
    pub secs: f64,
    /// Share of the link's rate at which it sent.
    pub busy: f64,
    /// Time to send the smaller of both queues, in seconds.
    pub queued: f64,
}

/// HPCC's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HpccHeader {
    stamps: [HopStamp; PLACES],
    path: u16,
    hops: u8,
    returning: bool,
}

impl HpccHeader {
    /// Ports passed.
    pub fn hops(&self) -> u8 {
        self.hops
    }
    /// Number that differs between paths (pathID).
    pub fn path(&self) -> u16 {
        self.path
    }
    /// Whether the stamps are on their way back.
    pub fn returning(&self) -> bool {
        self.returning
    }
    /// The header on its way back.
    pub fn returned(self) -> HpccHeader {
        HpccHeader { returning: true, ..self }
    }

    /// The port of this number adds its stamp.
    #[inline]
    pub fn push(&mut self, stamp: HopStamp, port: u32) {
        if self.hops < MOST_HOPS {
            self.stamps[usize::from(self.hops) % PLACES] = stamp;
            self.hops += 1;
            self.path ^= port as u16 & PATH_BITS;
        }
    }

    /// The stamps it holds, with the number of the hop, counted from 0.
    #[inline]
    pub fn stamps(&self) -> impl Iterator<Item = (usize, HopStamp)> + '_ {
        let hops = usize::from(self.hops);
        (hops.saturating_sub(PLACES)..hops).map(|hop| (hop, self.stamps[hop % PLACES]))
    }

    /// Whether both headers hold stamps of the same ports.
    #[inline]
    pub fn same_path(&self, other: &HpccHeader) -> bool {
        (self.hops, self.path) == (other.hops, other.path)
    }

    /// The header's bytes on the wire.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let returning = if self.returning { RETURNING } else { 0 };
        let first = u16::from(self.hops) << 12 | returning | self.path;
        bytes[..2].copy_from_slice(&first.to_be_bytes());
        for (place, stamp) in bytes[2..].chunks_exact_mut(8).zip(self.stamps) {
            place.copy_from_slice(&stamp.bits().to_be_bytes());
        }
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    /// When there are fewer bytes than [`HEADER_LEN`].
    pub fn from_bytes(bytes: &[u8]) -> Result<HpccHeader, HeaderError> {
        let bytes: &[u8; HEADER_LEN] = bytes.try_into().map_err(|_| {
            HeaderError::new(alloc::format!(
                "HPCC's header has {HEADER_LEN} bytes, not {}",
                bytes.len()
            ))
        })?;
        let first = u16::from_be_bytes([bytes[0], bytes[1]]);
        let mut stamps = [HopStamp::default(); PLACES];
        for (stamp, place) in stamps.iter_mut().zip(bytes[2..].chunks_exact(8)) {
            let half = |at: usize| {
                u32::from_be_bytes([place[at], place[at + 1], place[at + 2], place[at + 3]])
            };
            *stamp = HopStamp { high: half(0), low: half(4) };
        }
        Ok(HpccHeader {
            stamps,
            path: first & PATH_BITS,
            hops: (first >> 12) as u8,
            returning: first & RETURNING != 0,
        })
    }
}
