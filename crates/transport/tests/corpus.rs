//! Replays the fuzzer's corpus: every input in `fuzz/corpus/transport` at the root.

use std::path::Path;

use ratewire_transport::fuzzing;

#[test]
fn the_corpus_of_transport() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/transport");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 12, "{} holds too little", folder.display());
    for file in files {
        println!("{}", file.display());
        fuzzing::transport(&std::fs::read(file).unwrap());
    }
}
