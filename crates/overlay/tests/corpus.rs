//! Replays the fuzzer's corpus: every input in `fuzz/corpus/overlay_messages` at the root.

use std::path::Path;

use ratewire_overlay::fuzzing;

#[test]
fn the_corpus_of_overlay_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/overlay_messages");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::frames(&std::fs::read(path).unwrap()) {
            0 => refused += 1,
            _ => read += 1,
        }
    }
    assert!(read >= 7 && refused >= 7, "{read} with frames and {refused} without");
}
