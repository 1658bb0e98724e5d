//! Replays the fuzzer's corpora: every input in `fuzz/corpus/wasm_*` at the root. And what must
//! hold of any module, with inputs at random.

use std::path::Path;

use proptest::prelude::*;
use ratewire_wasm::fuzzing;

/// The inputs of a corpus, by path.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).expect("the corpus");
    let paths = entries.map(|entry| entry.expect("a file").path());
    paths.map(|path| (path.display().to_string(), std::fs::read(&path).expect("a file"))).collect()
}

#[test]
fn the_corpus_of_modules() {
    let (mut loaded, mut refused) = (0, 0);
    for (path, data) in corpus("wasm_modules") {
        println!("{path}");
        match fuzzing::module(&data) {
            true => loaded += 1,
            false => refused += 1,
        }
    }
    assert!(loaded >= 6 && refused >= 4, "{loaded} loaded, {refused} refused");
}

#[test]
fn the_corpus_of_answers() {
    let routed = corpus("wasm_answers").into_iter().map(|(path, data)| {
        println!("{path}");
        fuzzing::answers(&data)
    });
    assert!(routed.sum::<usize>() >= 10);
}

/// A frame: what the module does, with a number that is often a member's.
fn order() -> impl Strategy<Value = [u8; 6]> {
    let number = prop_oneof![-2i32..10, any::<i32>(), (0i32..80_000)];
    (0u8..10, number, any::<u8>()).prop_map(|(what, number, down)| {
        let [a, b, c, d] = number.to_le_bytes();
        [what, a, b, c, d, down]
    })
}

proptest! {
    #[test]
    fn a_frame_goes_to_a_member_that_is_up_whatever_a_module_does(
        up in any::<u8>(),
        orders in prop::collection::vec(order(), 0..40),
    ) {
        let data: Vec<u8> = [up].into_iter().chain(orders.into_iter().flatten()).collect();
        fuzzing::answers(&data);
    }

    #[test]
    fn modules_may_be_anything(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::module(&data);
    }

    /// Binaries that differ from a valid one in a few bytes.
    #[test]
    fn modules_may_be_damaged(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut binary = fuzzing::binary();
        for (at, value) in changes {
            let at = at.index(binary.len());
            binary[at] = value;
        }
        fuzzing::module(&binary);
    }
}
