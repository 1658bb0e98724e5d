//! What is shared by laws treats none of them by its name, so that a law is added without touching
//! it.
//!
//! Code names a law by a variant of the registry's enums, or by its quoted name where the code
//! around speaks of laws. Elsewhere a law's name is a word like any other, so that a law may be
//! called `window`.

use std::fs;
use std::path::{Path, PathBuf};

use ratewire_laws::{AnyLaw, list};

/// Files that name laws and need not be touched for another: what each of them names laws for.
const NAMING: &[(&str, &str)] = &[
    ("emulate/src/control.rs", "laws that kernels have, and what kernels call them"),
    ("emulate/src/dialect.rs", "laws whose headers kernels write otherwise"),
    ("emulate/src/options.rs", "the law whose ports are the kernel's in every emulated run"),
    ("live/src/law.rs", "laws of bpf/"),
    ("cli/src/commands/live/status/mod.rs", "how the kernel's routers of a law are shown"),
    ("ratewire/src/compare.rs", "laws that `all` leaves out"),
    (
        "report/src/draw/look.rs",
        "colours and markers; a law without a line there has those of a hash",
    ),
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

/// The lines up to tests at the end of a file.
fn lines(text: &str) -> Vec<&str> {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().collect()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Whether a line has `law` or `laws` as a word or as a part of a name, outside quotation marks.
fn speaks_of_laws(line: &str) -> bool {
    let unquoted: String = line.split('"').step_by(2).collect();
    let is_letter = |c: char| c.is_ascii_lowercase();
    let is_word = |spelled: &str| {
        unquoted.match_indices(spelled).any(|(at, _)| {
            let after = &unquoted[at + 3..];
            let begins = !spelled.starts_with(is_letter) || !unquoted[..at].ends_with(is_letter);
            begins && !after.strip_prefix('s').unwrap_or(after).starts_with(is_letter)
        })
    };
    ["law", "Law", "LAW"].into_iter().any(is_word)
}

/// Whether the code around a line speaks of laws: the line, the heads of the blocks that it is in,
/// and the comment above the outermost.
fn is_about_laws(lines: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (mut around, mut top) = (vec![lines[at]], at);
    for (above, line) in lines[..at].iter().enumerate().rev() {
        let is_head = indent(line) < indent(lines[top]);
        if is_head && !is_comment(line) && !line.trim().is_empty() {
            around.push(line);
            top = above;
        }
    }
    let comment = lines[..top].iter().rev().take_while(|line| is_comment(line));
    around.extend(comment);
    around.into_iter().any(speaks_of_laws)
}

/// A law, as code names it.
struct Name {
    /// The name in quotation marks.
    quoted: String,
    /// Variants of the registry's enums.
    variants: Vec<String>,
}

fn names() -> Vec<Name> {
    let of = |name: &str| {
        let law = format!("{:?}", AnyLaw::new(name, &[]).unwrap());
        let variant = law.split('(').next().unwrap();
        let enums = ["AnyLaw", "AnySource", "AnyPort", "AnySink", "Header"];
        let variants = enums.map(|of| format!("{of}::{variant}(")).into();
        Name { quoted: format!("{name:?}"), variants }
    };
    list().iter().map(|info| of(info.name)).collect()
}

/// The first line of code that names a law.
fn naming<'a>(text: &'a str, names: &[Name]) -> Option<&'a str> {
    let lines = lines(text);
    let is_naming = |at: &usize| {
        let line = lines[*at];
        let has_variant = |name: &Name| name.variants.iter().any(|variant| line.contains(variant));
        let is_quoted = names.iter().any(|name| line.contains(&name.quoted));
        !is_comment(line)
            && (names.iter().any(has_variant) || is_quoted && is_about_laws(&lines, *at))
    };
    (0..lines.len()).find(is_naming).map(|at| lines[at].trim())
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
    let sources = sources();
    assert!(sources.len() > 300, "{} files", sources.len());
    let mut wrong = Vec::new();
    let mut of_laws = 0;
    for (path, file) in &sources {
        let text = fs::read_to_string(file).unwrap();
        if is_of_a_law(path) {
            of_laws += usize::from(names.iter().any(|name| text.contains(&name.quoted)));
            continue;
        }
        let may = NAMING.iter().any(|(known, _)| known == path);
        match naming(&text, &names) {
            Some(line) if !may => {
                let remedy = "ask the law (`Law::properties`), or list the file with its reason";
                wrong.push(format!("{path} names a law in `{line}`: {remedy}"));
            }
            None if may => wrong.push(format!("{path} names no law and is listed as if it did")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(of_laws >= 14, "each law's own folder says its name: {of_laws}");
}

#[test]
fn a_law_may_be_called_as_another_thing_is() {
    let names = [Name { quoted: "\"window\"".into(), variants: vec!["AnyLaw::Window(".into()] }];
    let is_found = |text: &str| naming(text, &names).is_some();
    assert!(is_found("fn f(law: &str) {\n    match law {\n        \"window\" => {}\n    }\n}"));
    assert!(is_found("/// The law that is left out.\nconst OUT: &str = \"window\";"));
    assert!(is_found("fn f() {\n    matches!(one, AnyLaw::Window(_))\n}"));
    assert!(!is_found("fn f(key: &str) {\n    match key {\n        \"window\" => {}\n    }\n}"));
    assert!(!is_found("/// A flaw.\nconst COLUMN: &str = \"window\";"));
    assert!(!is_found("// As the law \"window\" does.\nfn f() {}"));
}

/// A law that is renamed takes its colour along.
#[test]
fn colours_are_of_laws_that_there_are() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src/draw/look.rs");
    let text = fs::read_to_string(file).unwrap();
    let (_, table) = text.split_once("const OWN").expect("the table of looks");
    let (table, _) = table.split_once("];\n\n").expect("its end");
    let named: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(named.len() >= 19, "{named:?}");
    let unknown = named.iter().find(|name| list().iter().all(|info| info.name != **name));
    assert_eq!(unknown, None, "no law has the name");
}
