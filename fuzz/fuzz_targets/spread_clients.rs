#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ratewire_groups::spread::fuzzing::either_end(data);
});
