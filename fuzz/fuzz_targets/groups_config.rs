#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ratewire_groups::config::fuzzing::config(data);
});
