//! Replays the fuzzer's corpus: every input in `fuzz/corpus/gateway_frames` at the root.

use std::path::Path;

use ratewire_gateway::fuzzing;

#[test]
fn the_corpus_of_frames() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gateway_frames");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("a file").path();
        println!("{}", path.display());
        match fuzzing::frames(&std::fs::read(path).expect("a file")) {
            true => read += 1,
            false => refused += 1,
        }
    }
    assert!(read >= 10 && refused >= 2, "{read} frames were read, {refused} refused");
}
