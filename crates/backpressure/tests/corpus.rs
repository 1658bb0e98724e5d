//! Replays the fuzzer's corpora: every input in `fuzz/corpus/pause_frames` and
//! `fuzz/corpus/pause_messages` at the root.

use std::fs;
use std::path::Path;

use ratewire_backpressure::frames::PauseFrame;
use ratewire_backpressure::fuzzing;
use ratewire_backpressure::messages::Message;

/// Replays a corpus; returns how many of its inputs are valid, and how many malformed.
fn replay(corpus: &str, check: impl Fn(&[u8]), is_valid: impl Fn(&[u8]) -> bool) -> [usize; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut counts = [0; 2];
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let data = fs::read(&path).unwrap();
        println!("{}", path.display());
        check(&data);
        counts[usize::from(!is_valid(&data))] += 1;
    }
    counts
}

#[test]
fn the_corpus_of_pause_frames() {
    let [valid, malformed] =
        replay("pause_frames", fuzzing::frames, |data| PauseFrame::decode(data).is_ok());
    assert!(valid >= 4 && malformed >= 6, "{valid} valid and {malformed} malformed inputs");
}

#[test]
fn the_corpus_of_pause_messages() {
    let [valid, malformed] =
        replay("pause_messages", fuzzing::messages, |data| Message::decode(data).is_ok());
    assert!(valid >= 3 && malformed >= 5, "{valid} valid and {malformed} malformed inputs");
}
