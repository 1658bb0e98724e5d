//! Replays the fuzzer's corpus: every input in `fuzz/corpus/switch_neighbours` at the root.

use std::path::Path;

use proptest::prelude::*;
use ratewire_switch::fuzzing;

#[test]
fn the_corpus_of_neighbours() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("fuzz/corpus/switch_neighbours")).expect("the corpus")
    {
        let path = entry.expect("a file").path();
        println!("{}", path.display());
        assert!(fuzzing::neighbours(&std::fs::read(path).expect("a file")) > 0);
        count += 1;
    }
    assert!(count >= 12, "{count} inputs");
}

proptest! {
    #[test]
    fn neighbours_may_send_anything(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::neighbours(&data);
    }
}
