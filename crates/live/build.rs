//! Compiles the programs for BPF, and generates their loaders.

use std::env;
use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // A link to the project's bpf, so that the published crate contains the sources.
    let bpf = std::fs::canonicalize("bpf").expect("the link to bpf");
    println!("cargo::rerun-if-changed={}", bpf.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    // Debian's folder for the machine's headers of linux-libc-dev.
    let machine = format!("-I/usr/include/{}-linux-gnu", env::consts::ARCH);
    for name in ["host", "router", "namespaces"] {
        let mut builder = SkeletonBuilder::new();
        builder.source(bpf.join(format!("{name}.bpf.c")));
        builder.clang_args(["-mcpu=v3", "-Wall", "-Wextra", "-Wno-unused-parameter", &machine]);
        if let Some(clang) = env::var_os("CLANG") {
            builder.clang(clang);
        }
        builder
            .build_and_generate(out.join(format!("{name}.skel.rs")))
            .unwrap_or_else(|e| panic!("{name}.bpf.c: {e:#}"));
    }
}
