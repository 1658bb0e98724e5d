//! Replays the fuzzer's corpus, every input in `fuzz/corpus/switch` at the root, and random inputs.

use std::path::Path;

use proptest::prelude::*;
use ratewire_anypoint::fuzzing;

#[test]
fn the_corpus_of_the_switch() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/switch");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6, "{} holds too little", folder.display());
    for file in files {
        println!("{}", file.display());
        let count = fuzzing::switch(&std::fs::read(file).unwrap());
        assert!(count >= 8, "{count} operations are too few to find anything");
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled(
        shape in any::<u8>(),
        how in any::<u8>(),
        operations in prop::collection::vec((0u8..=254, any::<u8>()), 0..300),
    ) {
        // All operations but lies, after which nothing has to arrive.
        let honest = operations.into_iter().filter(|(operation, _)| operation & 15 != 15);
        let mut data = vec![shape, how];
        data.extend(honest.flat_map(|(operation, operand)| [operation, operand]));
        fuzzing::switch(&data);
    }

    #[test]
    fn lies_do_no_harm(data in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::switch(&data);
    }
}
