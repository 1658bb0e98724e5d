//! Compiles the laws' C for this machine.

fn main() {
    let laws = "../../bpf/laws";
    println!("cargo::rerun-if-changed={laws}");
    println!("cargo::rerun-if-changed=src/native.c");
    cc::Build::new()
        .file("src/native.c")
        .include(laws)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("ratewire_kernel");
}
