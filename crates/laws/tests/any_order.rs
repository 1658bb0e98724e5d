//! Every law in the registry keeps its head whatever happens, in whatever order; see
//! [`ratewire_laws::fuzzing`] for what that means.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use ratewire_laws::fuzzing::Laws;
use ratewire_laws::{AnyLaw, list};
use ratewire_units::Bytes;

static LAWS: LazyLock<Laws> = LazyLock::new(Laws::default);

/// Every input in `fuzz/corpus/<target>` at the root.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    println!("{files:#?}");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn the_corpus_of_laws() {
    let corpus = corpus("laws");
    assert!(corpus.len() >= 20, "{} inputs", corpus.len());
    for events in corpus {
        LAWS.each(&events);
    }
}

#[test]
fn the_corpus_of_law_headers() {
    let corpus = corpus("law_headers");
    for bytes in &corpus {
        LAWS.headers(bytes);
    }
    for info in list() {
        let law = AnyLaw::new(info.name, &[]).unwrap();
        let read =
            corpus.iter().filter(|bytes| law.decode(bytes, Bytes::new(1500)).is_ok()).count();
        let none = law.header_len() == Bytes::ZERO;
        assert!(read < corpus.len() && (read > 0 || none), "{}: {read} headers", info.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_every_law_keeps_its_head(
        bytes in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        LAWS.each(&bytes);
    }

    #[test]
    fn any_bytes_at_all_as_headers(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        LAWS.headers(&bytes);
    }

    #[test]
    fn headers_with_a_few_bits_flipped(
        flips in proptest::collection::vec(prop_oneof![9 => Just(0), 1 => any::<u8>()], 0..64),
    ) {
        LAWS.headers(&flips);
    }
}
