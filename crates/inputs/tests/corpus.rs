//! Replays the fuzz targets' corpora, so that bugs that fuzzing found stay fixed.

use std::path::Path;

use ratewire_inputs::fuzzing;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{} holds too little", folder.display());
    for file in files {
        run(&std::fs::read(file).unwrap());
    }
}

#[test]
fn traces() {
    replay("traces", fuzzing::traces);
}

#[test]
fn topologies() {
    replay("topologies", fuzzing::topologies);
}
