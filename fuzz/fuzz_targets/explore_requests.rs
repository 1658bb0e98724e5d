#![no_main]

use ratewire_scenario::whole_path;

// The crate itself would bring Arrow and a renderer of pages.
#[path = "../../crates/explore/src/request.rs"]
#[allow(dead_code, reason = "the server uses what this target does not")]
mod request;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(run) = request::RunRequest::read(data) {
        assert!(!run.laws.is_empty());
        let paths: Vec<_> = run.values.iter().map(|(path, _)| whole_path(path)).collect();
        assert!((1..paths.len()).all(|at| !paths[..at].contains(&paths[at])));
    }
    _ = request::StopRequest::read(data);
});
