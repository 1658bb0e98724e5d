//! Wires that lose, double, delay and change packets, between processes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::net::UdpSocket;
use tokio::task::spawn_local;

/// Packets of 1,000 that are lost, come twice, come late and have a bit changed.
const LOST: u64 = 20;
const TWICE: u64 = 20;
const LATE: u64 = 30;
const CHANGED: u64 = 10;
/// Time by which others overtake a late packet.
const DELAY: Duration = Duration::from_millis(3);
const LONGEST: usize = 65_536;

/// What wires have done to packets.
#[derive(Debug, Default)]
pub(super) struct Harm {
    pub(super) lost: Cell<u64>,
    pub(super) twice: Cell<u64>,
    pub(super) late: Cell<u64>,
    pub(super) changed: Cell<u64>,
}

struct Wire {
    harm: Rc<Harm>,
    random: RefCell<Xoshiro256PlusPlus>,
}

/// Lays a wire to an address; returns the address at its other end.
pub(super) async fn lay(to: SocketAddr, seed: u64, harm: &Rc<Harm>) -> SocketAddr {
    let random = RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed));
    let wire = Rc::new(Wire { harm: Rc::clone(harm), random });
    let outer = Rc::new(UdpSocket::bind("127.0.0.1:0").await.expect("a socket"));
    let address = outer.local_addr().expect("an address");
    spawn_local(async move {
        let mut inner: BTreeMap<SocketAddr, Rc<UdpSocket>> = BTreeMap::new();
        let mut buffer = vec![0; LONGEST];
        while let Ok((length, from)) = outer.recv_from(&mut buffer).await {
            if let Entry::Vacant(place) = inner.entry(from) {
                let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
                socket.connect(to).await.expect("an address");
                let socket = Rc::new(socket);
                place.insert(Rc::clone(&socket));
                spawn_local(back(Rc::clone(&wire), socket, Rc::clone(&outer), from));
            }
            wire.carry(&buffer[..length], &inner[&from], to);
        }
    });
    address
}

/// Carries the answers to one address.
async fn back(wire: Rc<Wire>, inner: Rc<UdpSocket>, outer: Rc<UdpSocket>, to: SocketAddr) {
    let mut buffer = vec![0; LONGEST];
    loop {
        // A process that is dead is an error of one packet.
        if let Ok(length) = inner.recv(&mut buffer).await {
            wire.carry(&buffer[..length], &outer, to);
        }
    }
}

impl Wire {
    fn happens(&self, in_1000: u64, count: &Cell<u64>) -> bool {
        let happens = self.random.borrow_mut().next_u64() % 1000 < in_1000;
        count.set(count.get() + u64::from(happens));
        happens
    }

    fn carry(&self, packet: &[u8], socket: &Rc<UdpSocket>, to: SocketAddr) {
        if self.happens(LOST, &self.harm.lost) {
            return;
        }
        let mut packet = packet.to_vec();
        if self.happens(CHANGED, &self.harm.changed) {
            let bit = self.random.borrow_mut().next_u64() as usize % (packet.len() * 8);
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        let copies = 1 + usize::from(self.happens(TWICE, &self.harm.twice));
        let delay = self.happens(LATE, &self.harm.late).then_some(DELAY);
        let socket = Rc::clone(socket);
        spawn_local(async move {
            if let Some(delay) = delay {
                tokio::time::sleep(delay).await;
            }
            // One that is connected sends to its own address only.
            for _ in 0..copies {
                _ = match socket.peer_addr() {
                    Ok(_) => socket.send(&packet).await,
                    Err(_) => socket.send_to(&packet, to).await,
                };
            }
        });
    }
}
