#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ratewire_backpressure::fuzzing::messages(data));
