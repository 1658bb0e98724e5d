//! Interfaces that pause when the next queue is full: those whose card obeys pause frames, as
//! `ethtool` says, and those at which a port of noq obeys in the card's place.
//!
//! Either may end at any time, and a sender without a window would then flood queues. So the
//! program believes an answer only for a while, and a process looks again and again.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::{PAUSING, folder, whom};
use crate::{Error, KernelLaw, clock, noq, pins, router};

/// Time from one look to the next.
const PERIOD: Duration = Duration::from_secs(1);
/// How long an answer is believed: a busy machine may be late with the next.
const BELIEVED: Duration = Duration::from_secs(3);

/// Looks after which cards that could not be asked are asked again: a link may have been down.
const FORGOTTEN: u32 = 60;

/// Looks at the interfaces of this network namespace, and tells the program which pause.
pub(super) struct Watcher {
    netns: u32,
    /// Interfaces whose cards could not be asked in the last `FORGOTTEN` looks, as those of virtual
    /// networks.
    without: BTreeSet<u32>,
    looks: u32,
}

impl Watcher {
    pub(super) fn new() -> Result<Watcher, Error> {
        Ok(Watcher { netns: whom::netns()?, without: BTreeSet::new(), looks: 0 })
    }

    /// Looks once.
    pub(super) fn look(&mut self, map: &impl MapCore) -> Result<(), Error> {
        let refused = |e: libbpf_rs::Error| {
            Error::new("the kernel does not take an interface", "").because(e)
        };
        let ports = noq::status()?;
        let obeys = |iface: &str| ports.iter().any(|port| port.iface == iface && port.obeys);
        if self.looks.is_multiple_of(FORGOTTEN) {
            self.without.clear();
        }
        self.looks += 1;
        for (ifindex, iface) in router::interfaces()? {
            let key = [self.netns.to_ne_bytes(), ifindex.to_ne_bytes()].concat();
            if obeys(&iface) || self.card_obeys(ifindex, &iface)? {
                let now = clock::monotonic();
                let now = now.map_err(|e| Error::new("there is no clock", "").because(e))?;
                let until = now + BELIEVED.as_nanos() as u64;
                map.update(&key, &until.to_ne_bytes(), MapFlags::ANY).map_err(refused)?;
            } else if map.lookup(&key, MapFlags::ANY).map_err(refused)?.is_some() {
                map.delete(&key).map_err(refused)?;
            }
        }
        Ok(())
    }

    fn card_obeys(&mut self, ifindex: u32, iface: &str) -> Result<bool, Error> {
        if self.without.contains(&ifindex) {
            return Ok(false);
        }
        let done = Command::new("ethtool").args(["-a", iface]).output().map_err(|e| {
            let remedy = "install ethtool; or take it everywhere: --mode force";
            Error::new("cannot ask which interfaces pause", remedy).because(e)
        })?;
        if !done.status.success() {
            self.without.insert(ifindex);
        }
        Ok(done.status.success() && pauses(&String::from_utf8_lossy(&done.stdout)))
    }
}

/// Tells the attached law of noq which interfaces of this network namespace pause, every second
/// until it is detached.
///
/// # Errors
/// If the caller is not root, or the pins cannot be read. Connections then fall back, because
/// nobody believes an old answer.
#[expect(clippy::disallowed_methods, reason = "real cards and kernels need real time")]
pub fn watch() -> Result<(), Error> {
    crate::quiet();
    let Some(own) = pinned()? else { return Ok(()) };
    let id = |map: &MapHandle| map.info().ok().map(|info| info.info.id);
    let mut watcher = Watcher::new()?;
    // Another attachment has another process.
    while pinned()?.is_some_and(|now| id(&now) == id(&own)) {
        // A look that fails may succeed the next time; meanwhile nobody believes the last one long.
        let _ = watcher.look(&own);
        std::thread::sleep(PERIOD);
    }
    Ok(())
}

/// The attached law's interfaces that pause.
fn pinned() -> Result<Option<MapHandle>, Error> {
    let folder = folder(pins::open()?.as_ref(), KernelLaw::Noq)?;
    Ok(folder.and_then(|folder| MapHandle::from_pinned_path(folder.pin(PAUSING)).ok()))
}

/// Whether an interface obeys pause frames: the negotiated setting counts, if there is one.
fn pauses(said: &str) -> bool {
    let value = |name: &str| {
        said.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(|value| value.trim() == "on")
    };
    value("RX negotiated:").or(value("RX:")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::pauses;

    #[test]
    fn what_was_negotiated_counts() {
        let said = "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\toff\nTX:\t\toff\n";
        assert!(!pauses(said));
        assert!(pauses(&said.replace("RX:\t\toff", "RX:\t\ton")));
        assert!(pauses(&format!("{said}RX negotiated: on\nTX negotiated: on\n")));
        assert!(!pauses(&format!("{}RX negotiated: off\n", said.replace("off", "on"))));
        assert!(!pauses("netlink error: Operation not supported\n"));
    }
}
