//! Queueing disciplines of an interface, read and changed over rtnetlink.

use std::io;

use nix::sys::socket::SockProtocol;

use crate::netlink::{self, Kernel, attribute, word};

// From `linux/rtnetlink.h`, `linux/pkt_sched.h`.
const NEW: u16 = 36;
const DELETE: u16 = 37;
const GET: u16 = 38;
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const STATS: u16 = 3;
/// Flags of a request to make a queueing discipline in place of any other, and to change one.
const REPLACE: u16 = 0x500;
const CHANGE: u16 = 0;
/// The parent of a root.
pub(super) const ROOT: u32 = u32::MAX;
const PARAMETERS: u16 = 1;
const RATE_64: u16 = 4;
const BURST: u16 = 6;
/// `TC_LINKLAYER_ETHERNET`: sizes need no table.
const ETHERNET: u8 = 1;
/// Offset of the limit in a token bucket's parameters, `struct tc_tbf_qopt`.
const LIMIT: usize = 24;
/// Length of `struct tcmsg`.
const HEADER: usize = 20;

/// Counters of a queueing discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Bytes that have left.
    pub(super) sent: u64,
    pub(super) drops: u32,
    pub(super) packets_waiting: u32,
    pub(super) bytes_waiting: u32,
}

/// A queueing discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Qdisc {
    pub(super) kind: String,
    /// 0 for one that the kernel made itself.
    pub(super) handle: u32,
    pub(super) parent: u32,
    /// Most bytes that wait in it, if it is a token bucket or a FIFO that counts bytes.
    pub(super) limit: Option<u32>,
    pub(super) counters: Counters,
}

/// Place of a queueing discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) ifindex: u32,
    pub(super) handle: u32,
    pub(super) parent: u32,
}

/// A token bucket's rate, in B/s, its burst and its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) rate: u64,
    pub(super) burst: u32,
    pub(super) limit: u32,
}

/// The kernel's traffic control.
pub(super) struct TrafficControl(Kernel);

impl TrafficControl {
    pub(super) fn open() -> io::Result<TrafficControl> {
        Kernel::open(SockProtocol::NetlinkRoute).map(TrafficControl)
    }

    /// All queueing disciplines of an interface.
    pub(super) fn all(&mut self, ifindex: u32) -> io::Result<Vec<Qdisc>> {
        let mut found = Vec::new();
        let place = Place { ifindex, handle: 0, parent: 0 };
        self.0.ask(&netlink::message(GET, netlink::DUMP, &header(place)), |_, content| {
            found.extend(read(content).filter(|(of, _)| *of == ifindex).map(|(_, qdisc)| qdisc));
        })?;
        Ok(found)
    }

    /// Counters of an interface's root.
    ///
    /// They come from a list of all. A question for one has its answer sent to all who listen to
    /// the kernel's notices, which would burden them: the root is looked at thousands of times a
    /// second.
    pub(super) fn root(&mut self, ifindex: u32) -> io::Result<Counters> {
        let all = self.all(ifindex)?;
        root(&all).map(|qdisc| qdisc.counters).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes a token bucket, in place of what is there.
    pub(super) fn make_bucket(&mut self, place: Place, bucket: Bucket) -> io::Result<()> {
        self.request(NEW, REPLACE, place, "tbf", &options(bucket))
    }

    /// Changes a token bucket; it is full afterwards.
    pub(super) fn change_bucket(&mut self, place: Place, bucket: Bucket) -> io::Result<()> {
        self.request(NEW, CHANGE, place, "tbf", &options(bucket))
    }

    /// Makes a FIFO with this limit in bytes, in place of what is there.
    pub(super) fn make_fifo(&mut self, place: Place, limit: u32) -> io::Result<()> {
        self.request(NEW, REPLACE, place, "bfifo", &limit.to_ne_bytes())
    }

    pub(super) fn delete(&mut self, place: Place) -> io::Result<()> {
        let message = netlink::message(DELETE, netlink::ACKNOWLEDGE, &header(place));
        self.0.ask(&message, |_, _| ())
    }

    fn request(
        &mut self,
        request: u16,
        flags: u16,
        place: Place,
        kind: &str,
        options: &[u8],
    ) -> io::Result<()> {
        let mut content = header(place);
        netlink::put(&mut content, KIND, &[kind.as_bytes(), b"\0"].concat());
        netlink::put(&mut content, OPTIONS, options);
        let message = netlink::message(request, netlink::ACKNOWLEDGE | flags, &content);
        self.0.ask(&message, |_, _| ())
    }
}

/// The root among an interface's queueing disciplines.
pub(super) fn root(all: &[Qdisc]) -> Option<&Qdisc> {
    all.iter().find(|qdisc| qdisc.parent == ROOT)
}

/// `struct tcmsg`.
fn header(place: Place) -> Vec<u8> {
    let mut header = vec![0; 4];
    for field in [place.ifindex, place.handle, place.parent, 0] {
        header.extend(field.to_ne_bytes());
    }
    header
}

/// Options of a token bucket.
fn options(Bucket { rate, burst, limit }: Bucket) -> Vec<u8> {
    let mut parameters = vec![0; LIMIT + 12];
    parameters[1] = ETHERNET;
    let short = u32::try_from(rate).unwrap_or(u32::MAX);
    parameters[8..12].copy_from_slice(&short.to_ne_bytes());
    parameters[LIMIT..LIMIT + 4].copy_from_slice(&limit.to_ne_bytes());
    let mut options = Vec::new();
    netlink::put(&mut options, PARAMETERS, &parameters);
    if rate > short.into() {
        netlink::put(&mut options, RATE_64, &rate.to_ne_bytes());
    }
    netlink::put(&mut options, BURST, &burst.to_ne_bytes());
    options
}

/// Reads an answer about a queueing discipline: the interface's number, and the rest.
fn read(content: &[u8]) -> Option<(u32, Qdisc)> {
    let attributes = content.get(HEADER..)?;
    let kind = attribute(attributes, KIND)?.split(|byte| *byte == 0).next()?;
    let kind = String::from_utf8_lossy(kind).into_owned();
    let options = attribute(attributes, OPTIONS).unwrap_or_default();
    // `struct tc_stats`.
    let stats = attribute(attributes, STATS)?;
    let counters = Counters {
        sent: u64::from_ne_bytes(stats.get(..8)?.try_into().ok()?),
        drops: word(stats, 12)?,
        packets_waiting: word(stats, 28)?,
        bytes_waiting: word(stats, 32)?,
    };
    let (handle, parent) = (word(content, 8)?, word(content, 12)?);
    let limit = match &*kind {
        "tbf" => attribute(options, PARAMETERS).and_then(|parameters| word(parameters, LIMIT)),
        // `struct tc_fifo_qopt`.
        "bfifo" => word(options, 0),
        _ => None,
    };
    Some((word(content, 4)?, Qdisc { kind, handle, parent, limit, counters }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An answer of the kernel about a token bucket.
    fn answer() -> Vec<u8> {
        let mut content = header(Place { ifindex: 7, handle: 0x10000, parent: ROOT });
        netlink::put(&mut content, KIND, b"tbf\0");
        let bucket = Bucket { rate: 12_500_000, burst: 32_768, limit: 300_000 };
        netlink::put(&mut content, OPTIONS, &options(bucket));
        let mut stats = vec![0; 36];
        for (at, value) in [(0, 5000_u32), (12, 2), (28, 3), (32, 4542)] {
            stats[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        netlink::put(&mut content, STATS, &stats);
        content
    }

    #[test]
    fn a_token_bucket_is_read() {
        let counters = Counters { sent: 5000, drops: 2, packets_waiting: 3, bytes_waiting: 4542 };
        let (kind, handle, limit) = ("tbf".to_string(), 0x10000, Some(300_000));
        let qdisc = Qdisc { kind, handle, parent: ROOT, limit, counters };
        assert_eq!(read(&answer()), Some((7, qdisc)));
    }

    #[test]
    fn a_fifo_of_bytes_is_read() {
        let mut content = header(Place { ifindex: 7, handle: 0x20000, parent: 0x1_0010 });
        netlink::put(&mut content, KIND, b"bfifo\0");
        netlink::put(&mut content, OPTIONS, &50_000_u32.to_ne_bytes());
        netlink::put(&mut content, STATS, &[0; 36]);
        let (_, qdisc) = read(&content).expect("a queueing discipline");
        assert_eq!((qdisc.limit, qdisc.parent), (Some(50_000), 0x1_0010));
        assert_eq!(root(std::slice::from_ref(&qdisc)), None);
    }

    #[test]
    fn a_rate_of_more_than_32_bits_has_an_attribute_of_its_own() {
        let long = options(Bucket { rate: 1 << 33, burst: 1, limit: 1 });
        assert_eq!(attribute(&long, RATE_64), Some(&(1_u64 << 33).to_ne_bytes()[..]));
        let short = options(Bucket { rate: 1 << 31, burst: 1, limit: 1 });
        assert_eq!(attribute(&short, RATE_64), None);
    }

    /// Loopback has a root that the kernel chose, whose queue is always empty.
    #[test]
    fn the_kernel_tells_of_its_queues() {
        let loopback = crate::router::index("lo").expect("every machine has it");
        let mut control = TrafficControl::open().expect("a kernel with netlink");
        let all = control.all(loopback).expect("it lists them");
        assert_eq!((all[0].handle, all[0].parent), (0, ROOT), "{all:?}");
        assert_eq!(control.root(loopback).expect("a root").bytes_waiting, 0);
    }

    proptest! {
        /// Whatever the kernel says is read or left out.
        #[test]
        fn no_answer_is_read_past_its_end(cut in 0_usize..160, at in 0_usize..150, with: [u8; 4]) {
            let mut content = answer();
            let at = at.min(content.len() - 4);
            content[at..at + 4].copy_from_slice(&with);
            content.truncate(cut);
            let _ = read(&content);
        }
    }
}
