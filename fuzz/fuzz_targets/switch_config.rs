#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ratewire_switch::config::fuzzing::config(data);
});
