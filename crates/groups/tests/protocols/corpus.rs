//! Replays the fuzzer's corpus: every input in `fuzz/corpus/spread_clients` at the root.

use std::path::Path;

use ratewire_groups::spread::fuzzing;

#[test]
fn the_corpus_of_spread_clients() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/spread_clients");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::either_end(&std::fs::read(path).unwrap()) {
            0 => refused += 1,
            _ => read += 1,
        }
    }
    assert!(read >= 12 && refused >= 12, "{read} with messages and {refused} without");
}
