#![no_main]

use std::sync::LazyLock;

use ratewire_laws::fuzzing::Laws;

static LAWS: LazyLock<Laws> = LazyLock::new(Laws::default);

libfuzzer_sys::fuzz_target!(|data: &[u8]| LAWS.headers(data));
