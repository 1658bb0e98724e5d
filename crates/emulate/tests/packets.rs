//! Packets of every kind through the network: cut and joined, marked and dropped, as kernels make
//! them and as nobody should.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use ratewire_emulate::fuzzing;

/// A TCP packet or bundle from a device.
#[derive(Clone, Debug)]
struct Given {
    choice: u8,
    options: Vec<u8>,
    payload: Vec<u8>,
    /// Payload of each packet of a bundle.
    each: Option<u16>,
    /// Whether the checksum is left unfinished; of bundles it always is.
    unfinished: bool,
    sequence: u32,
}

fn given() -> impl Strategy<Value = Given> {
    let padding = prop::collection::vec(any::<u8>(), 0..=10)
        .prop_map(|words| words.into_iter().flat_map(|byte| [1, 1, byte, 1]).collect::<Vec<u8>>());
    // A law's option: kind, length, identifier, and fields for routers and the sender.
    let identifier = prop::sample::select(vec![0x5278_u16, 0x5272, 0x526a, 0xf989]);
    let own =
        (identifier, prop::collection::vec(any::<[u8; 4]>(), 0..=9)).prop_map(|(id, words)| {
            let start = [254, 4 + 4 * words.len() as u8].into_iter().chain(id.to_be_bytes());
            start.chain(words.into_iter().flatten()).collect()
        });
    let options = prop_oneof![padding, own];
    let payload = prop::collection::vec(any::<u8>(), 0..5000);
    let each = prop::option::of(1_u16..1500);
    (any::<u8>(), options, payload, each, any::<bool>(), any::<u32>()).prop_map(
        |(choice, options, payload, each, unfinished, sequence)| Given {
            choice,
            options,
            payload,
            each,
            unfinished: unfinished || each.is_some(),
            sequence,
        },
    )
}

/// A datagram from a device that is ACP's, or nearly.
#[derive(Clone, Debug)]
struct Datagram {
    choice: u8,
    start: [u8; 4],
    /// Kind, length and identifier, then fields.
    congestion: Vec<u8>,
    rest: Vec<u8>,
    checksum: Checksum,
}

#[derive(Clone, Copy, Debug)]
enum Checksum {
    None,
    Finished,
    /// Its two bytes balance the datagram's last two, so that the sum is 0.
    Zero,
    Unfinished,
}

fn datagram() -> impl Strategy<Value = Datagram> {
    let start = prop_oneof![
        4 => Just(*b"AC\x01\x00"),
        1 => prop::sample::select(vec![*b"AC\x02\x00", *b"AC\x01\x01", *b"AD\x01\x00"]),
    ];
    let identifier = prop::sample::select(vec![0x5278_u16, 0x5272, 0x526a, 0xf989]);
    let kind = prop::sample::select(vec![254, 254, 254, 253, 0]);
    let congestion = (kind, identifier, prop::collection::vec(any::<[u8; 4]>(), 0..=9), 0..9_u8)
        .prop_map(|(kind, identifier, words, wrong)| {
            let len = 4 + 4 * words.len() as u8 + if wrong > 6 { 4 * wrong } else { 0 };
            let start = [kind, len].into_iter().chain(identifier.to_be_bytes());
            start.chain(words.into_iter().flatten()).collect()
        });
    let rest = prop::collection::vec(any::<u8>(), 0..100);
    let checksum = prop::sample::select(vec![
        Checksum::None,
        Checksum::Finished,
        Checksum::Zero,
        Checksum::Unfinished,
    ]);
    (any::<u8>(), start, congestion, rest, checksum).prop_map(
        |(choice, start, congestion, rest, checksum)| Datagram {
            choice,
            start,
            congestion,
            rest,
            checksum,
        },
    )
}

impl Datagram {
    fn bytes(&self) -> Vec<u8> {
        let mut udp = vec![0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0];
        udp.extend(self.start);
        udp.extend([7; 12]);
        udp.extend(&self.congestion);
        udp.extend(&self.rest);
        // Whole words, of which the last may balance the sum.
        udp.resize(udp.len().next_multiple_of(2) + 2, 0);
        let (length, total) = (udp.len() as u16, udp.len() as u16 + 20);
        udp[4..6].copy_from_slice(&length.to_be_bytes());
        let mut ip = vec![0x45, 2, 0, 0, 0, 1, 0x40, 0, 64, 17, 0, 0];
        ip[2..4].copy_from_slice(&total.to_be_bytes());
        ip.extend([198, 18, 0, 1, 198, 18, 0, 2]);
        let pseudo = fold(sum(&ip[12..20]) + 17 + u64::from(length));
        let whole = !fold(u64::from(pseudo) + sum(&udp));
        let checksum = match self.checksum {
            Checksum::None => 0,
            Checksum::Finished => {
                if whole == 0 {
                    0xffff
                } else {
                    whole
                }
            }
            Checksum::Zero => {
                let last = udp.len() - 2;
                udp[last..].copy_from_slice(&whole.to_be_bytes());
                0xffff
            }
            Checksum::Unfinished => pseudo,
        };
        udp[6..8].copy_from_slice(&checksum.to_be_bytes());
        let unfinished = matches!(self.checksum, Checksum::Unfinished);
        let (start, offset) = if unfinished { (20_u16, 6_u16) } else { (0, 0) };
        let mut bytes = vec![self.choice, u8::from(unfinished), 0, 0, 0, 0, 0];
        bytes.extend(start.to_ne_bytes());
        bytes.extend(offset.to_ne_bytes());
        bytes.extend(ip);
        bytes.extend(udp);
        bytes
    }
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|w| u64::from(w[0]) << 8 | u64::from(*w.get(1).unwrap_or(&0))).sum()
}

impl Given {
    fn bytes(&self) -> Vec<u8> {
        let tcp = 20 + self.options.len();
        let total = 20 + tcp + self.payload.len();
        let mut ip =
            vec![0x45, 2, (total >> 8) as u8, total as u8, 0xff, 0xfe, 0x40, 0, 64, 6, 0, 0];
        ip.extend([198, 18, 0, 1, 198, 18, 0, 2]);
        let mut segment = vec![0x12, 0x34, 0x14, 0x51];
        segment.extend(self.sequence.to_be_bytes());
        segment.extend([0, 0, 0, 9, (tcp << 2) as u8, 0x18, 1, 0, 0, 0, 0, 0]);
        segment.extend(&self.options);
        segment.extend(&self.payload);
        let pseudo = fold(sum(&ip[12..20]) + 6 + segment.len() as u64);
        let checksum = match self.unfinished {
            true => pseudo,
            false => !fold(u64::from(pseudo) + sum(&segment)),
        };
        segment[16..18].copy_from_slice(&checksum.to_be_bytes());
        let mut bytes = vec![self.choice];
        bytes.extend([u8::from(self.unfinished), u8::from(self.each.is_some())]);
        bytes.extend(((20 + tcp) as u16).to_ne_bytes());
        bytes.extend(self.each.unwrap_or(0).to_ne_bytes());
        let (start, offset) = if self.unfinished { (20_u16, 16_u16) } else { (0, 0) };
        bytes.extend(start.to_ne_bytes());
        bytes.extend(offset.to_ne_bytes());
        bytes.extend(ip);
        bytes.extend(segment);
        bytes
    }
}

proptest! {
    #[test]
    fn real_packets_arrive_as_they_were(given in given()) {
        prop_assert!(fuzzing::packets(&given.bytes()));
    }

    /// What ports change is in the congestion header, and the checksum stays right.
    #[test]
    fn datagrams_of_acp_arrive_as_they_were(datagram in datagram()) {
        prop_assert!(fuzzing::packets(&datagram.bytes()));
    }

    #[test]
    fn any_bytes_are_cut_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::packets(&bytes);
    }

    #[test]
    fn a_packet_with_a_few_wrong_bytes_does_no_harm(
        given in given(),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = given.bytes();
        for (at, value) in wrong {
            let at = at.index(bytes.len().min(80));
            bytes[at] = value;
        }
        fuzzing::packets(&bytes);
    }
}

/// Every input in `fuzz/corpus/packets` at the root.
#[test]
fn the_corpus_of_packets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/packets");
    let (mut valid, mut malformed) = (0, 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::packets(&fs::read(&path).unwrap()) {
            true => valid += 1,
            false => malformed += 1,
        }
    }
    assert!(valid >= 4 && malformed >= 4, "{valid} valid and {malformed} malformed inputs");
}
