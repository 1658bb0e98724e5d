//! Replays the fuzzer's corpora: every input in `fuzz/corpus/framing_*` at the root.

use std::path::Path;

use ratewire_framing::fuzzing;

/// Replays a corpus; returns how many inputs had something to read, and how many had not.
fn replay(name: &str, target: fn(&[u8]) -> usize) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("a file").path();
        println!("{}", path.display());
        match target(&std::fs::read(path).expect("a file")) {
            0 => refused += 1,
            _ => read += 1,
        }
    }
    (read, refused)
}

#[test]
fn the_corpus_of_requests() {
    let (read, refused) = replay("framing_requests", fuzzing::requests);
    assert!(read >= 10 && refused >= 6, "{read} read, {refused} refused");
}

#[test]
fn the_corpus_of_answers() {
    let (read, refused) = replay("framing_answers", fuzzing::answers);
    assert!(read >= 10 && refused >= 5, "{read} read, {refused} refused");
}
