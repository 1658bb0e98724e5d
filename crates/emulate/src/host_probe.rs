//! How late hosts do their work: their programs and kernels share this machine's processors.
//!
//! A thread of each host sleeps until a time, sends itself a datagram over the host's loopback and
//! receives it. It has the priority of programs, so it waits as they do, and its datagram as their
//! packets do.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration as Span;

use ratewire_units::Duration;

use crate::Error;
use crate::clock::Clock;
use crate::host::Host;
use crate::lateness::Lateness;

/// Time between two looks at a host, while there are few hosts.
const PERIOD: Duration = Duration::from_millis(20);
/// Hosts beyond which each is looked at less often, so that all together take a percent or two of a
/// processor.
const MANY: u64 = 32;
/// Time after which a datagram is lost, for want of memory. The look is then so late.
const LONGEST: Span = Span::from_secs(1);

/// A socket of each host, for its probe.
pub(crate) fn open(hosts: &[Host]) -> Result<Vec<UdpSocket>, Error> {
    let open = |host: &Host| {
        let socket = host.run(|| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(socket.local_addr()?)?;
            socket.set_read_timeout(Some(LONGEST))?;
            Ok::<_, std::io::Error>(socket)
        })?;
        let name = &host.spec.name;
        socket.map_err(|e| Error::new(format!("cannot open a socket at {name}"), "").because(e))
    };
    hosts.iter().map(open).collect()
}

/// Looks at one of `hosts` hosts until the run is `over`.
pub(crate) fn watch(socket: &UdpSocket, hosts: usize, clock: Clock, over: &AtomicBool) -> Lateness {
    let period = PERIOD * (hosts as u64).div_ceil(MANY);
    let mut lateness = Lateness::default();
    let mut due = clock.now() + period;
    while !over.load(Relaxed) {
        thread::sleep(clock.until(due));
        let _ = socket.send(&[0]).and_then(|_| socket.recv(&mut [0]));
        let now = clock.now();
        lateness.note(due, now);
        due = now + period;
    }
    lateness
}
