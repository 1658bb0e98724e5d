//! The queue at an egress, held while a pause lasts.
//!
//! The holder is a token bucket of ours. Open, its rate is far above any link's, and packets pass.
//! Closed, its rate is a byte a second: a token bucket starts full after each change, and its burst
//! is one packet, so at most one full packet leaves after the change. Packets then wait.
//!
//! An interface's own token bucket stays, as the link's rate, and gets the holder as its queue.
//! Where the kernel chose the queueing discipline, the holder is the root, and the kernel chooses
//! again when it goes. The kernel does not look at a queue again because its rate has changed, so
//! the holder's user sends a packet afterwards.

use std::io;

use super::qdisc::{Bucket, Place, Qdisc, ROOT, TrafficControl, root};
use crate::Error;

/// Handle by which our holder is known, also after the program was killed.
const HANDLE: u32 = 0x5257 << 16;
/// Rate and burst of an open holder, far above those of links.
const OPEN: (u64, u32) = (125_000_000_000, 64 << 20);
/// Rate of a closed holder.
const CLOSED_RATE: u64 = 1;
/// Bytes of an Ethernet header and two VLAN tags.
const HEADERS: u32 = 14 + 8;

/// The queue of an egress.
pub(super) struct Holder {
    place: Place,
    /// Limit of the token bucket under which the holder is.
    under: Option<u32>,
    /// Limit of the holder.
    limit: u32,
    /// Largest packet, with its headers.
    packet: u32,
}

/// Where a holder can be.
fn place(ifindex: u32, iface: &str, all: &[Qdisc]) -> Result<(Place, Option<u32>), Error> {
    let root = root(all);
    let under = |parent| Place { ifindex, handle: HANDLE, parent };
    match root {
        None => Ok((under(ROOT), None)),
        Some(root) if root.handle == 0 => Ok((under(ROOT), None)),
        Some(root) if root.kind == "tbf" && root.limit.is_some() => {
            // A FIFO may be what an earlier port has left.
            let is_other =
                |qdisc: &Qdisc| qdisc.parent >> 16 == root.handle >> 16 && qdisc.kind != "bfifo";
            if all.iter().any(is_other) {
                let what =
                    format!("the token bucket at {iface} has a queueing discipline of its own");
                return Err(Error::new(what, "remove it, so that the queue can be held"));
            }
            Ok((under(root.handle | 1), root.limit))
        }
        Some(root) => Err(Error::new(
            format!("the queueing discipline of {iface}, {}, cannot be held", root.kind),
            format!("remove it (tc qdisc del dev {iface} root), or use tbf"),
        )),
    }
}

impl Holder {
    /// Puts an open holder at an egress. Packets that wait there are lost.
    ///
    /// # Errors
    /// If the interface's own queueing discipline cannot be held, or the kernel refuses.
    pub(super) fn attach(
        control: &mut TrafficControl,
        ifindex: u32,
        iface: &str,
        limit: u32,
    ) -> Result<Holder, Error> {
        let all = control.all(ifindex).map_err(|e| refused(iface).because(e))?;
        let (place, under) = place(ifindex, iface, &all)?;
        let mtu = std::fs::read_to_string(format!("/sys/class/net/{iface}/mtu"));
        let mtu: u32 = mtu.ok().and_then(|mtu| mtu.trim().parse().ok()).unwrap_or(1500);
        let limit = under.unwrap_or(limit);
        let holder = Holder { place, under, limit, packet: mtu + HEADERS };
        control.make_bucket(place, holder.open()).map_err(|e| refused(iface).because(e))?;
        Ok(holder)
    }

    fn open(&self) -> Bucket {
        Bucket { rate: OPEN.0, burst: OPEN.1, limit: self.limit }
    }

    /// Lets packets pass, or holds them.
    pub(super) fn set(&self, control: &mut TrafficControl, is_closed: bool) -> io::Result<()> {
        let closed = Bucket { rate: CLOSED_RATE, burst: self.packet, limit: self.limit };
        control.change_bucket(self.place, if is_closed { closed } else { self.open() })
    }

    /// Takes the holder away. Packets that wait in it are lost.
    pub(super) fn remove(&self, control: &mut TrafficControl) -> io::Result<()> {
        remove(control, self.place, self.under)
    }
}

/// Takes away the holder that a killed program left; returns whether there was one.
pub(super) fn remove_left(control: &mut TrafficControl, ifindex: u32) -> io::Result<bool> {
    let all = control.all(ifindex)?;
    let Some(left) = left(&all) else { return Ok(false) };
    let place = Place { ifindex, handle: HANDLE, parent: left.parent };
    let root = all.iter().find(|qdisc| qdisc.parent == ROOT && qdisc.handle != HANDLE);
    remove(control, place, root.and_then(|root| root.limit))?;
    Ok(true)
}

/// The holder among an interface's queueing disciplines.
pub(super) fn left(all: &[Qdisc]) -> Option<&Qdisc> {
    all.iter().find(|qdisc| qdisc.handle == HANDLE && qdisc.kind == "tbf")
}

fn remove(control: &mut TrafficControl, place: Place, under: Option<u32>) -> io::Result<()> {
    match under {
        // A token bucket whose queue is deleted drops all. A FIFO of its limit is what it had.
        Some(limit) => control.make_fifo(Place { handle: 0, ..place }, limit),
        None => control.delete(place),
    }
}

fn refused(iface: &str) -> Error {
    let remedy = "the kernel needs CONFIG_NET_SCH_TBF: modprobe sch_tbf";
    Error::new(format!("the kernel does not let the queue of {iface} be held"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noq::qdisc::Counters;

    fn qdisc(kind: &str, handle: u32, parent: u32) -> Qdisc {
        let limit = (kind == "tbf").then_some(300_000);
        Qdisc { kind: kind.to_string(), handle, parent, limit, counters: Counters::default() }
    }

    #[test]
    fn a_holder_goes_where_it_can_be_taken_away_again() {
        let at = |all: &[Qdisc]| place(7, "eth1", all).map(|(place, limit)| (place.parent, limit));
        let noqueue = qdisc("noqueue", 0, ROOT);
        assert_eq!(at(&[noqueue]).expect("the kernel's choice"), (ROOT, None));
        assert_eq!(at(&[]).expect("no root at all"), (ROOT, None));
        let bucket = qdisc("tbf", 0x10000, ROOT);
        assert_eq!(at(std::slice::from_ref(&bucket)).expect("a link"), (0x10001, Some(300_000)));
        let again = [bucket.clone(), qdisc("bfifo", 0x80010000, 0x10001)];
        assert_eq!(at(&again).expect("as a port left it"), (0x10001, Some(300_000)));
        let refused = |all: &[Qdisc]| at(all).expect_err("it cannot be held").to_string();
        let said = refused(&[qdisc("htb", 0x10000, ROOT)]);
        assert!(said.contains("eth1, htb, cannot be held") && said.contains("help: "), "{said}");
        let said = refused(&[bucket, qdisc("fq_codel", 0x20000, 0x10001)]);
        assert!(said.contains("a queueing discipline of its own"), "{said}");
    }

    #[test]
    fn a_holder_that_was_left_is_known_by_its_handle() {
        let ours = qdisc("tbf", HANDLE, 0x10001);
        let all = [qdisc("tbf", 0x10000, ROOT), ours.clone()];
        assert_eq!(left(&all), Some(&ours));
        assert_eq!(left(&all[..1]), None);
    }
}
