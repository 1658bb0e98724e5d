//! `ratewire new-law`: a folder with a law to begin with.

use std::fs;
use std::path::{Component, Path, PathBuf};

use ratewire_command_line::{Exit, print};

/// What stands for the law's name in the templates.
const NAME: &str = "@NAME@";
/// What stands for the folder of Ratewire.
const RATEWIRE: &str = "@RATEWIRE@";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Name of the law, and of the folder
    name: PathBuf,
    /// In C, as a shared object: make, and then --law ./NAME.so
    #[arg(long, conflicts_with = "rust")]
    c: bool,
    /// In Rust, as a program that uses the library
    #[arg(long)]
    rust: bool,
    /// Folder of a clone of Ratewire, which the program in Rust depends on
    #[arg(long, requires = "rust", default_value = "../ratewire")]
    ratewire: PathBuf,
}

/// Names that Cargo refuses for a package: keywords, names of Rust's crates, and of its folders.
const RESERVED: &str = "\
    abstract alloc as async await become box break build const continue core crate deps do \
    dyn else enum examples extern false final fn for gen if impl in incremental let loop \
    macro match mod move mut override priv proc-macro pub ratewire ref return self static \
    std struct super test trait true try type typeof unsafe unsized use virtual where while \
    yield";

/// The path with each `NAME/..` left out: the folder of the law is not there yet.
fn without_parents(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        let is_named = matches!(whole.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::ParentDir if is_named => _ = whole.pop(),
            part => whole.push(part),
        }
    }
    whole
}

/// Files of a template: their names, in which the law's name may stand, and their texts.
type Template = [(&'static str, &'static str)];

const C: &Template = &[
    ("@NAME@.c", include_str!("c/law.c")),
    ("Makefile", include_str!("c/Makefile")),
    ("README.md", include_str!("c/README.md")),
    ("scenario.toml", include_str!("c/scenario.toml")),
    ("ratewire_law.h", ratewire::plugin::HEADER),
];

const RUST: &Template = &[
    ("Cargo.toml", include_str!("rust/Cargo.toml.txt")),
    ("README.md", include_str!("rust/README.md")),
    ("scenario.toml", include_str!("rust/scenario.toml")),
    ("src/law.rs", include_str!("rust/law.rs.txt")),
    ("src/main.rs", include_str!("rust/main.rs.txt")),
];

pub(crate) fn new_law(args: &Args) -> Exit {
    let name = args.name.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !begins || !name.chars().all(is_plain) {
        print_stderr!(
            "ratewire: a law cannot be called {name:?}\n  help: lower-case letters, digits and -, \
             beginning with a letter"
        );
        return Exit::Wrong;
    }
    if ratewire::laws::find(name).is_some() {
        print_stderr!("ratewire: a law is called {name:?} already");
        return Exit::Wrong;
    }
    if !args.c && !args.rust {
        print_stderr!(
            "ratewire: new-law writes a law in C or in Rust\n  help: give --c for a shared object, \
             or --rust for a program that uses the library"
        );
        return Exit::Wrong;
    }
    if args.rust && RESERVED.split(' ').any(|word| word == name) {
        print_stderr!(
            "ratewire: a law in Rust cannot be called {name:?}, which is a word of Rust or one of \
             its crates\n  help: choose another name, such as {name}-law"
        );
        return Exit::Wrong;
    }
    if args.rust {
        // A relative path is that of the manifest, in the new folder.
        let path = args.name.join(&args.ratewire).join("crates/ratewire/Cargo.toml");
        let path = without_parents(&path);
        if !path.is_file() {
            print_stderr!(
                "ratewire: there is no {}\n  help: --ratewire is the folder of a clone of \
                 Ratewire, as seen from the folder of the law",
                path.display()
            );
            return Exit::File;
        }
    }
    let (template, next) = if args.c {
        (
            C,
            format!(
                "cd {} && make && ratewire run scenario.toml --trust-laws",
                args.name.display()
            ),
        )
    } else {
        (RUST, format!("cd {} && cargo run --release", args.name.display()))
    };
    match write(&args.name, template, name, &args.ratewire) {
        Ok(()) => print(&format!("Written: {}\nNext: {next}\n", args.name.display())),
        Err(e) => {
            print_stderr!("ratewire: cannot write {}: {e}", args.name.display());
            Exit::File
        }
    }
}

/// Writes the files of a template into a new folder; one that exists stays as it is. Without all
/// of its files there is no folder.
fn write(folder: &Path, template: &Template, name: &str, ratewire: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(folder)?;
    fill(folder, template, name, ratewire).inspect_err(|_| _ = fs::remove_dir_all(folder))
}

fn fill(folder: &Path, template: &Template, name: &str, ratewire: &Path) -> std::io::Result<()> {
    for (file, text) in template {
        let path = folder.join(file.replace(NAME, name));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let ratewire = ratewire.display().to_string();
        fs::write(path, text.replace(NAME, name).replace(RATEWIRE, &ratewire))?;
    }
    Ok(())
}
