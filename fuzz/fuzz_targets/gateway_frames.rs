#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ratewire_gateway::fuzzing::frames(data);
});
