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
