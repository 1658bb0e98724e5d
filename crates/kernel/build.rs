//! Compiles the laws' C for this machine.

fn main() {
    // A link to the project's bpf/laws, so that the published crate contains the sources.
    let laws = std::fs::canonicalize("bpf").expect("the link to bpf/laws");
    println!("cargo::rerun-if-changed={}", laws.display());
    println!("cargo::rerun-if-changed=src/native.c");
    cc::Build::new()
        .file("src/native.c")
        .include(laws)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        // A packet adds to few sums: separate additions cost less than packed ones.
        .flag_if_supported("-fno-tree-slp-vectorize")
        // With line tables the compiler keeps a frame pointer by default, and short functions would
        // save and restore it at each call.
        .force_frame_pointer(false)
        .compile("ratewire_kernel");
}
