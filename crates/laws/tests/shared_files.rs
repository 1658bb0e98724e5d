//! What is shared by laws names none of them, so that a law is added without touching it.

use std::fs;
use std::path::{Path, PathBuf};

use ratewire_laws::{AnyLaw, list};

/// Files that name laws and need not be touched for another: what each of them names laws for.
const NAMING: &[(&str, &str)] = &[
    ("laws/src/tcp/common.rs", "an option is called abc, as RFC 3465 is"),
    ("emulate/src/control.rs", "laws that kernels have, and what kernels call them"),
    ("emulate/src/dialect.rs", "laws whose headers kernels write otherwise"),
    ("emulate/src/options.rs", "the law whose ports are the kernel's in every emulated run"),
    ("live/src/law.rs", "laws of bpf/"),
    ("cli/src/commands/live/status/mod.rs", "how the kernel's routers of a law are shown"),
    ("ratewire/src/compare.rs", "laws that `all` leaves out"),
    ("scenario/src/keys/traffic.rs", "sizes that are all the same are called `fixed` too"),
    ("scenario/src/traffic/sizes.rs", "sizes that are all the same are called `fixed` too"),
    ("anypoint/src/fuzzing/mod.rs", "a law with and one without headers to split"),
    ("acp/src/config.rs", "the usual law"),
    ("transport/src/fuzzing.rs", "laws with a window, a pace, a header"),
    ("transport/src/testing.rs", "laws for this crate's tests"),
    ("emulate/src/fuzzing.rs", "laws whose headers kernels write"),
];

/// All that is compiled of the workspace's crates but their tests, by its path from `crates`.
fn sources() -> Vec<(String, PathBuf)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = entries(&crates).map(|one| one.join("src")).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" && !name.ends_with("_tests.rs") {
                let from_crates = path.strip_prefix(&crates).unwrap().display().to_string();
                found.push((from_crates, path));
            }
        }
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
}

/// The lines that are code, up to tests at the end of a file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// How code names a law: as its users do, and as the registry's enums do.
fn names() -> Vec<String> {
    let of = |name: &str| {
        let law = format!("{:?}", AnyLaw::new(name, &[]).unwrap());
        let variant = law.split('(').next().unwrap();
        let enums = ["AnyLaw", "AnySource", "AnyPort", "AnySink", "Header"];
        let mut all: Vec<String> = enums.map(|of| format!("{of}::{variant}(")).into();
        all.push(format!("{name:?}"));
        all
    };
    list().iter().flat_map(|info| of(info.name)).collect()
}

/// Whether the file is a law's own: its folder has an explanation, or is within one that has.
fn is_of_a_law(path: &str) -> bool {
    const FOLDERS: [&str; 2] = ["fixed", "kernel"];
    let Some(rest) = path.strip_prefix("laws/src/") else { return false };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = Path::new(rest).ancestors().skip(1).filter(|one| *one != Path::new(""));
    folders.any(|folder| {
        root.join(folder).join("explain.md").exists()
            || FOLDERS.iter().any(|name| folder == Path::new(name))
    })
}

#[test]
fn no_shared_file_names_a_law() {
    let names = names();
    let named = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let found = code(&text).find_map(|line| {
            names.iter().find(|name| line.contains(*name)).map(|name| (name.clone(), line.trim()))
        });
        found.map(|(name, line)| format!("{name} in {line}"))
    };
    let sources = sources();
    assert!(sources.len() > 300, "{} files", sources.len());
    let mut wrong = Vec::new();
    let mut of_laws = 0;
    for (path, file) in &sources {
        if is_of_a_law(path) {
            of_laws += usize::from(named(file).is_some());
            continue;
        }
        let may = NAMING.iter().any(|(known, _)| known == path);
        match named(file) {
            Some(what) if !may => wrong.push(format!("{path}: {what}")),
            None if may => wrong.push(format!("{path} names no law and is listed as if it did")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(of_laws >= 14, "each law's own folder says its name: {of_laws}");
}
