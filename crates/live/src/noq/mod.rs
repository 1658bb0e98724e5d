//! A port of a network of queues: it pauses its upstream when its queue is long, and holds its
//! queue when its downstream pauses it (Herbert and Primet, section IV).
//!
//! Both parts are of one egress. The first watches the backlog of the egress and pauses neighbours
//! at other interfaces. The second obeys pauses that arrive at the egress itself, for a card that
//! does not. A program runs for as long as the port does: a kernel's programs can drop a packet but
//! not hold one, and cannot send a frame of their own.

mod control;
mod hold;
mod line;
mod neighbour;
mod port;
mod qdisc;
mod status;

use std::io;
use std::os::fd::BorrowedFd;

pub use ratewire_backpressure::messages::PORT;
use ratewire_units::{Bytes, Rate};

use crate::{Error, pins, router};
use control::{Listeners, Request};
pub use neighbour::Neighbour;
use port::Port;
use qdisc::TrafficControl;
pub use status::Status;

/// A port to run.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Name of the egress.
    pub iface: String,
    /// Neighbours to pause while the queue of the egress, or their own queue in it, is long.
    pub upstream: Vec<Source>,
    /// Neighbour whose pauses are obeyed; `None` if the card does it, or nobody pauses.
    pub downstream: Option<Neighbour>,
    /// Backlog above which neighbours are paused; below the limit of the queue, if it has one.
    pub xoff: Bytes,
    /// Backlog at which they resume; not above `xoff`.
    pub xon: Bytes,
    /// Most bytes that are held where the interface has no limit of its own.
    pub room: Bytes,
    /// Rate of links, in whose bit times frames count; `None` for the speed of each interface.
    pub rate: Option<Rate>,
}

/// A neighbour to pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The neighbour.
    pub neighbour: Neighbour,
    /// Class of the egress' queueing discipline in which the neighbour's packets wait, as
    /// [`class`] reads it; `None` to look at the whole queue.
    pub class: Option<u32>,
}

/// Reads a class as `tc` writes it: two hexadecimal numbers, as in `1:10`.
pub fn class(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once(':')?;
    let half = |text: &str| u16::from_str_radix(text, 16).ok().filter(|half| *half > 0);
    Some(u32::from(half(major)?) << 16 | u32::from(half(minor)?))
}

/// What a running port tells whoever started it.
#[derive(Debug)]
pub enum Event<'a> {
    /// It works.
    Started,
    /// Its queue is held, and no packet has left for longer than any pause of a queue that drains.
    Stuck(&'a Status),
    /// Packets leave again.
    Freed,
}

/// Runs a port until `enough` can be read or [`detach`] asks it to end. The interface is then as
/// before, and neighbours are let go. `tell` is called at each [`Event`].
///
/// # Errors
/// If a port runs there already, a neighbour cannot be reached in its way, the interface's own
/// queueing discipline cannot be held, or the kernel no longer answers.
pub fn run(
    spec: &Spec,
    enough: BorrowedFd<'_>,
    mut tell: impl FnMut(Event<'_>),
) -> Result<(), Error> {
    pins::check_rights()?;
    let ifindex = router::index(&spec.iface)?;
    let listeners = Listeners::open(ifindex).map_err(|e| taken(&spec.iface, &e))?;
    let mut port = Port::open(spec, ifindex)?;
    tell(Event::Started);
    let ended = port.serve(&listeners, enough, &mut tell);
    // The connection that asked for the end closes only when everything is restored.
    let (asker, failed) = match ended {
        Ok(asker) => (asker, None),
        Err(e) => (None, Some(e)),
    };
    let restored = port.close();
    drop(asker);
    match failed {
        Some(e) => Err(stopped(&spec.iface).because(e)),
        None => restored.map_err(|e| stopped(&spec.iface).because(e)),
    }
}

fn taken(iface: &str, why: &io::Error) -> Error {
    match why.kind() {
        io::ErrorKind::AddrInUse => Error::new(
            format!("a port of noq at {iface} runs already"),
            format!("end it first: ratewire live detach --iface {iface}"),
        ),
        _ => Error::new(format!("a port at {iface} cannot be asked"), "").because(why),
    }
}

fn stopped(iface: &str) -> Error {
    let remedy = format!("`tc qdisc show dev {iface}` shows what is there; start it again");
    Error::new(format!("the port at {iface} has ended"), remedy)
}

/// Ports that run in this network namespace.
///
/// # Errors
/// If the interfaces cannot be listed.
pub fn status() -> Result<Vec<Status>, Error> {
    let one = |(ifindex, iface): (u32, String)| {
        let answer = control::ask(ifindex, Request::Status).ok()??;
        Status::decode(iface, &answer)
    };
    Ok(router::interfaces()?.into_iter().filter_map(one).collect())
}

/// Interfaces of this network namespace whose queue a killed program may still hold.
///
/// # Errors
/// If the interfaces or their queueing disciplines cannot be listed.
pub fn halfway() -> Result<Vec<String>, Error> {
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    let mut left = Vec::new();
    for (ifindex, iface) in router::interfaces()? {
        let all = control.all(ifindex).map_err(|e| cannot_detach().because(e))?;
        if hold::left(&all).is_some() && matches!(control::ask(ifindex, Request::Status), Ok(None))
        {
            left.push(iface);
        }
    }
    Ok(left)
}

/// Lets the queue of an interface go whose port was killed while it held it; leaves that of a
/// running port.
///
/// # Errors
/// If there is no such interface, or the kernel refuses.
pub fn let_go(iface: &str) -> Result<(), Error> {
    let ifindex = router::index(iface)?;
    if matches!(control::ask(ifindex, Request::Status), Ok(Some(_))) {
        return Ok(());
    }
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    let removed = hold::remove_left(&mut control, ifindex);
    removed.map(drop).map_err(|e| cannot_detach().because(e))
}

/// Ends the ports of this network namespace, or one, and takes away what a killed one left; returns
/// the interfaces.
///
/// # Errors
/// If a port does not end, or the kernel refuses.
pub fn detach(only: Option<&str>) -> Result<Vec<String>, Error> {
    let mut detached = Vec::new();
    let mut control = TrafficControl::open().map_err(|e| cannot_detach().because(e))?;
    for (ifindex, iface) in router::interfaces()? {
        if only.is_some_and(|only| only != iface) {
            continue;
        }
        let ended = control::ask(ifindex, Request::End).map_err(|e| cannot_detach().because(e))?;
        let removed = hold::remove_left(&mut control, ifindex);
        if removed.map_err(|e| cannot_detach().because(e))? || ended.is_some() {
            detached.push(iface);
        }
    }
    Ok(detached)
}

fn cannot_detach() -> Error {
    Error::new("a port of noq cannot be ended", "`tc qdisc` shows whose queue is held")
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_read_as_tc_writes_it() {
        assert_eq!(class("1:10"), Some(0x1_0010));
        assert_eq!(class("ffff:a"), Some(0xffff_000a));
        for wrong in ["", "1", "1:", ":1", "1:0", "0:1", "1:10:2", "1:g", "1:10000"] {
            assert_eq!(class(wrong), None, "{wrong}");
        }
    }
}
