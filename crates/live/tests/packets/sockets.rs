//! Datagrams from one socket to another, past a port: single ones, and many that a sender hands
//! over as one packet (UDP_SEGMENT). The receiving kernel drops those with a wrong checksum.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGsoSegment;
use ratewire_live::KernelLaw;

use crate::frames::{
    ACP_HEADER, Carried, ETHERNET, acp, fields_of_acp, leave_checksum, rewritten, sum_of,
    transport, udp, wish,
};
use crate::namespaces::{Frames, Pair};

/// Addresses of the two ends, and bytes of all headers below UDP's payload where the port is.
const WAYS: [(&str, &str, u64); 2] =
    [("10.8.0.1", "10.8.0.2", 14 + 20 + 8), ("fd00:8::1", "fd00:8::2", 14 + 40 + 8)];

/// Two sockets, and the frames that reach the receiver's interface.
struct Way {
    from: UdpSocket,
    to: UdpSocket,
    address: SocketAddr,
    /// `None` if what arrives is not finished.
    arriving: Option<Frames>,
}

impl Way {
    fn new(pair: &Pair, (from, to, _): (&str, &str, u64)) -> Way {
        let (from, to) = (pair.udp("near", from), pair.udp("far", to));
        let address = to.local_addr().expect("an address");
        Way { from, to, address, arriving: Some(pair.frames("far")) }
    }

    /// Sends bytes that are datagrams of this size.
    fn send(&self, bytes: &[u8], each: usize) {
        setsockopt(&self.from, UdpGsoSegment, &(each as i32)).expect("Linux can");
        let sent = self.from.send_to(bytes, self.address).expect("it leaves");
        assert_eq!(sent, bytes.len());
    }

    /// The next datagram, which must have arrived with a right checksum.
    fn receive(&self) -> Vec<u8> {
        let mut datagram = vec![0; 1 << 16];
        // A process that was stopped for a while is interrupted where a timeout is set.
        let len = loop {
            match self.to.recv(&mut datagram) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                came => break came.expect("it comes"),
            }
        };
        datagram.truncate(len);
        let Some(arriving) = &self.arriving else { return datagram };
        let frame = arriving.receive(|frame| frame.ends_with(&datagram));
        let ip = ETHERNET;
        assert!(transport(&frame, ip) + 8 + len == frame.len(), "{frame:02x?}");
        assert_ne!(frame[transport(&frame, ip) + 6..][..2], [0, 0], "UDP has a checksum");
        assert_eq!(sum_of(&frame, ip), 0xffff, "{frame:02x?}");
        datagram
    }
}

/// Checks that a datagram is as it was sent but for a law's fields, which were answered.
fn check(law: KernelLaw, sent: &[u8], came: &[u8]) {
    let range = rewritten(law);
    let fields = ACP_HEADER + 4 + range.start..ACP_HEADER + 4 + range.end;
    let mut expected = sent.to_vec();
    expected[fields.clone()].copy_from_slice(&came[fields.clone()]);
    assert_eq!(came, expected, "{law:?}");
    assert_ne!(came, sent, "{law:?}: the port must answer");
    if law == KernelLaw::Xcp {
        let change = i32::from_be_bytes(came[fields].try_into().expect("four bytes"));
        assert!(change < i32::MAX);
    }
}

#[test]
fn datagrams_pass_a_port_one_by_one_and_as_one_packet() {
    let Some(pair) = Pair::build("udp") else { return };
    for law in KernelLaw::OF_ROUTERS {
        for way in WAYS {
            pair.attach(law);
            let sockets = Way::new(&pair, way);
            // Of equal and of uneven sizes, at odd offsets; the last one shorter; more than Linux
            // keeps in one page.
            let (mut packets, mut bytes) = (0, 0);
            for (count, each, last) in
                [(1, 1200, 1200), (2, 100, 100), (9, 333, 77), (45, 1400, 801), (128, 200, 200)]
            {
                let datagrams: Vec<Vec<u8>> = (0..count)
                    .map(|n| acp(n, &wish(law), if n + 1 == count { last } else { each }))
                    .collect();
                sockets.send(&datagrams.concat(), each);
                for sent in &datagrams {
                    check(law, sent, &sockets.receive());
                    packets += 1;
                    bytes += sent.len() as u64 + way.2;
                }
            }
            // The port has seen neighbour discovery too.
            let status = pair.status();
            assert_eq!(status.with_header, packets, "{law:?} {way:?}");
            assert!(status.packets >= packets && status.packets < packets + 30, "{status:?}");
            assert!(status.bytes.get() >= bytes && status.bytes.get() < bytes + 3000, "{status:?}");
            pair.detach();
        }
    }
}

/// As a card would get them: with unfinished checksums, and the payload in pages.
#[test]
fn datagrams_pass_a_port_to_a_card_that_cuts_them() {
    let Some(pair) = Pair::build("card") else { return };
    pair.leave_to_card(true);
    for law in KernelLaw::OF_ROUTERS {
        for way in WAYS {
            pair.attach(law);
            let sockets = Way { arriving: None, ..Way::new(&pair, way) };
            for (count, each) in [(1, 1200), (45, 1400), (128, 500)] {
                let datagrams: Vec<Vec<u8>> =
                    (0..count).map(|n| acp(n, &wish(law), each)).collect();
                sockets.send(&datagrams.concat(), each);
                datagrams.iter().for_each(|sent| check(law, sent, &sockets.receive()));
            }
            assert_eq!(pair.status().with_header, 1 + 45 + 128, "{law:?} {way:?}");
            pair.detach();
        }
    }
}

/// Datagrams without a header, or with one that is cut off, among others.
#[test]
fn of_many_in_one_packet_only_those_with_a_header_change() {
    let Some(pair) = Pair::build("mix") else { return };
    for law in KernelLaw::OF_ROUTERS {
        for way in WAYS {
            pair.attach(law);
            let sockets = Way::new(&pair, way);
            let own = acp(0, &[253, 8, 0, 4, 1, 2, 3, 4], 300);
            let none = acp(1, &[0, 4, 0, 0], 300);
            let random: Vec<u8> = (0..300).map(|i| (i * i) as u8).collect();
            let cut_off = acp(2, &wish(law), 300)[..ACP_HEADER + 7].to_vec();
            let asks = acp(3, &wish(law), 300);
            let all = [&own, &asks, &none, &random, &asks, &cut_off];
            let bytes: Vec<u8> = all.iter().flat_map(|datagram| datagram.iter().copied()).collect();
            sockets.send(&bytes, 300);
            for sent in all {
                match *sent == asks {
                    true => check(law, sent, &sockets.receive()),
                    false => assert_eq!(sockets.receive(), *sent, "{law:?}"),
                }
            }
            assert_eq!(pair.status().with_header, 2);
            // A packet of another protocol, which may have such bytes anywhere.
            let other = [&random[..], &asks, &asks].concat();
            sockets.send(&other, 300);
            for sent in [&random, &asks, &asks] {
                assert_eq!(sockets.receive(), *sent, "{law:?}");
            }
            assert_eq!(pair.status().with_header, 2);
            pair.detach();
        }
    }
}

/// Frames with finished checksums, as those that a router forwards.
#[test]
fn frames_pass_to_the_bit_but_for_headers() {
    let Some(pair) = Pair::build("raw") else { return };
    let (from, to) = (pair.frames("near"), pair.frames("far"));
    for law in KernelLaw::OF_ROUTERS {
        pair.attach(law);
        for (n, carried) in [Carried::V4, Carried::V6, Carried::Tagged].into_iter().enumerate() {
            let right = acp(n as u32, &wish(law), 150);
            let mut own = right.clone();
            own[ACP_HEADER] = 253;
            let mut version = right.clone();
            version[2] = 2;
            let short = right[..ACP_HEADER + 4].to_vec();
            for (payload, is_read) in
                [(right, true), (own, false), (version, false), (short, false)]
            {
                let (sent, ip) = udp(carried, &payload);
                from.send(&sent);
                // The receiving interface takes the tag away.
                let sealed = fields_of_acp(&sent, ip) + 24;
                let end = sent[sealed.min(sent.len())..].to_vec();
                let came = to.receive(|frame| {
                    frame.len() >= ETHERNET + 28
                        && frame.ends_with(&end)
                        && frame[transport(frame, ETHERNET)..][..4]
                            == sent[transport(&sent, ip)..][..4]
                });
                assert_eq!(sum_of(&came, ETHERNET), 0xffff, "{law:?} {carried:?}");
                let (came, sent) = (&came[ETHERNET..], &sent[ip..]);
                if !is_read {
                    assert_eq!(came, sent, "{law:?} {carried:?}");
                    continue;
                }
                let udp = transport(sent, 0);
                assert_eq!(came[..udp + 6], sent[..udp + 6]);
                check(law, &sent[udp + 8..], &came[udp + 8..]);
            }
        }
        pair.detach();
    }
}

/// A tag of a VLAN too, which needs no interface that has it.
#[test]
fn frames_of_many_datagrams_are_cut_with_their_headers_answered() {
    let Some(pair) = Pair::build("many") else { return };
    let (from, to) = (pair.frames("near"), pair.frames("far"));
    for law in KernelLaw::OF_ROUTERS {
        pair.attach(law);
        for carried in [Carried::V4, Carried::V6, Carried::Tagged] {
            let datagrams: Vec<Vec<u8>> = (0..20).map(|n| acp(n, &wish(law), 999)).collect();
            let (mut sent, ip) = udp(carried, &datagrams.concat());
            leave_checksum(&mut sent, ip);
            from.send_many(&sent, transport(&sent, ip), 999);
            for datagram in &datagrams {
                let number = ACP_HEADER - 4..ACP_HEADER;
                let came = to.receive(|frame| {
                    let payload = frame.len().checked_sub(999).map(|at| &frame[at..]);
                    payload
                        .is_some_and(|payload| payload[number.clone()] == datagram[number.clone()])
                });
                assert_eq!(sum_of(&came, ETHERNET), 0xffff, "{law:?} {carried:?}");
                check(law, datagram, &came[transport(&came, ETHERNET) + 8..]);
            }
        }
        let status = pair.status();
        assert_eq!(status.with_header, 60, "{status:?}");
        let bytes = 20 * (3 * (14 + 8 + 999) + 20 + 40 + 20 + 4);
        assert!(status.bytes.get() >= bytes && status.bytes.get() < bytes + 3000, "{status:?}");
        pair.detach();
    }
}
