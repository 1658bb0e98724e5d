//! Replays the fuzzer's corpora: every input in `fuzz/corpus/acp_*` at the root.

use std::path::Path;

use proptest::prelude::*;
use ratewire_acp::fuzzing;

/// Replays a corpus; returns how many inputs had something to read, and how many had not.
fn replay(name: &str, target: fn(&[u8]) -> bool) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("a file").path();
        println!("{}", path.display());
        match target(&std::fs::read(path).expect("a file")) {
            true => read += 1,
            false => refused += 1,
        }
    }
    (read, refused)
}

#[test]
fn the_corpus_of_packets() {
    let (read, refused) = replay("acp_packets", |data| fuzzing::packet(data) > 0);
    assert!(read >= 6 && refused >= 4, "{read} read, {refused} refused");
}

#[test]
fn the_corpus_of_peers() {
    let (read, refused) = replay("acp_peers", |data| fuzzing::peer(data) > 0);
    assert!(read >= 20 && refused == 0, "{read} read, {refused} refused");
}

proptest! {
    #[test]
    fn packets_may_be_anything(data in proptest::collection::vec(any::<u8>(), 0..120)) {
        fuzzing::packet(&data);
    }

    #[test]
    fn peers_may_send_anything(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::peer(&data);
    }
}
