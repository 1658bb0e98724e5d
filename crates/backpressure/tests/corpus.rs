//! Replays the fuzzer's corpus: every input in `fuzz/corpus/pause_frames` at the root.

use std::fs;
use std::path::Path;

use ratewire_backpressure::frames::PauseFrame;
use ratewire_backpressure::fuzzing;

#[test]
fn the_corpus_of_pause_frames() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/pause_frames");
    let (mut valid, mut malformed) = (0, 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let data = fs::read(&path).unwrap();
        println!("{}", path.display());
        fuzzing::frames(&data);
        if PauseFrame::decode(&data).is_ok() {
            valid += 1;
        } else {
            malformed += 1;
        }
    }
    assert!(valid >= 4 && malformed >= 6, "{valid} valid and {malformed} malformed inputs");
}
