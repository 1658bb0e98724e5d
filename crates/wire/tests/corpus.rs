//! Replays the fuzzer's corpus: every input in `fuzz/corpus/xcp_header` at the root.

use std::fs;
use std::path::Path;

use ratewire_wire::fuzzing;
use ratewire_wire::xcp::XcpView;

#[test]
fn the_corpus_of_xcp_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/xcp_header");
    let (mut valid, mut malformed) = (0, 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let data = fs::read(&path).unwrap();
        println!("{}", path.display());
        fuzzing::xcp_header(&data);
        if XcpView::new_checked(&data).is_ok() {
            valid += 1;
        } else {
            malformed += 1;
        }
    }
    assert!(valid >= 4 && malformed >= 5, "{valid} valid and {malformed} malformed inputs");
}
