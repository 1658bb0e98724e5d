//! Which file of a crate uses which, read from the paths in its text.
//!
//! A path that begins with `crate`, `self`, `super` or a name known in its module is followed,
//! through imports and re-exports, to the file that defines what it names. Tests are left out: they
//! may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path of names, `crate` first.
type Names = Vec<String>;

/// Files of a crate, each with those it uses. Names are relative to the crate's `src`.
pub type Uses = BTreeMap<String, BTreeSet<String>>;

/// A module as its text has it.
#[derive(Debug, Default)]
struct Module {
    file: String,
    /// What it defines, other modules left out.
    items: BTreeSet<String>,
    /// Names it imports, and where from.
    imports: BTreeMap<String, Names>,
    /// Modules all of whose names it imports.
    globs: Vec<Names>,
    /// Paths in its text, as written.
    paths: Vec<Names>,
}

/// The uses between the files below `src`.
pub fn uses(src: &Path) -> Uses {
    let mut modules = BTreeMap::new();
    for file in files(src) {
        let name = file.strip_prefix(src).unwrap().to_string_lossy().into_owned();
        read(&name, &fs::read_to_string(&file).unwrap(), &mut modules);
    }
    resolve(&modules)
}

/// The source files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
    found
}

/// Whether a file holds tests alone.
fn is_of_tests(file: &str) -> bool {
    file.split(['/', '.']).any(|part| part == "tests" || part.ends_with("_tests"))
}

/// The module that a file is.
fn module_of(file: &str) -> Names {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let parts = path.split('/').filter(|part| !["lib", "main", "mod"].contains(part));
    ["crate"].into_iter().chain(parts).map(str::to_string).collect()
}

/// Adds the modules in a file's text.
fn read(file: &str, text: &str, modules: &mut BTreeMap<Names, Module>) {
    if is_of_tests(file) {
        return;
    }
    let tokens = tokens(text);
    let mut open: Vec<(Names, usize)> = vec![(module_of(file), 0)];
    let (mut depth, mut at) = (0, 0);
    let new = || Module { file: file.to_string(), ..Module::default() };
    modules.entry(open[0].0.clone()).or_insert_with(new);
    while at < tokens.len() {
        let here = open.last().unwrap().0.clone();
        let module = modules.entry(here.clone()).or_insert_with(new);
        let word = tokens[at].as_str();
        let next = tokens.get(at + 1).map_or("", String::as_str);
        match word {
            "#" if is_for_tests(&tokens[at..]) => {
                at = after_item(&tokens, at);
                continue;
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if open.last().is_some_and(|(_, outside)| *outside == depth) && open.len() > 1 {
                    open.pop();
                }
            }
            "mod" if tokens.get(at + 2).is_some_and(|t| t == "{") => {
                let inner = [here, vec![next.to_string()]].concat();
                open.push((inner, depth));
                depth += 1;
                at += 3;
                continue;
            }
            "use" => {
                at = read_use(&tokens, at + 1, &mut Vec::new(), module);
                continue;
            }
            "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" | "union" => {
                module.items.insert(next.to_string());
            }
            _ if is_name(word) && next == "::" => {
                let mut path = vec![word.to_string()];
                while tokens.get(at + 1).is_some_and(|t| t == "::")
                    && tokens.get(at + 2).is_some_and(|t| is_name(t))
                {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                module.paths.push(path);
            }
            _ => {}
        }
        at += 1;
    }
}

/// Whether an attribute begins here that leaves what follows to tests.
fn is_for_tests(tokens: &[String]) -> bool {
    let attribute = tokens.iter().take(6).map(String::as_str);
    attribute.eq(["#", "[", "cfg", "(", "test", ")"])
}

/// The token after the item that begins at `at` with an attribute.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Reads the tree of a `use` from `at`, below the path `before`; gives the token after it.
fn read_use(tokens: &[String], mut at: usize, before: &mut Names, module: &mut Module) -> usize {
    let length = before.len();
    loop {
        match tokens.get(at).map_or(";", String::as_str) {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = read_use(tokens, at, before, module);
                    if tokens[at] == "," {
                        at += 1;
                    }
                }
            }
            "*" => module.globs.push(before.clone()),
            "::" => {}
            name if is_name(name) => {
                before.push(name.to_string());
                let next = tokens.get(at + 1).map_or(";", String::as_str);
                if next != "::" {
                    let known = if next == "as" { &tokens[at + 2] } else { &tokens[at] };
                    // `self` in braces is the module before them.
                    let known = if known == "self" { &before[before.len() - 2] } else { known };
                    let path: Names = before.iter().filter(|n| *n != "self").cloned().collect();
                    let path = if before[0] == "self" {
                        [vec!["self".into()], path].concat()
                    } else {
                        path
                    };
                    module.imports.insert(known.clone(), path.clone());
                    module.paths.push(path);
                    at += if next == "as" { 2 } else { 0 };
                }
            }
            _ => break,
        }
        at += 1;
        if matches!(tokens.get(at).map_or(";", String::as_str), "," | "}" | ";") {
            break;
        }
    }
    before.truncate(length);
    if length == 0 { at + 1 } else { at }
}

/// The uses between files, each path followed to what it names.
fn resolve(modules: &BTreeMap<Names, Module>) -> Uses {
    let mut uses = Uses::new();
    for (name, module) in modules {
        let of = uses.entry(module.file.clone()).or_default();
        for path in module.paths.iter().chain(&module.globs) {
            let found = follow(modules, name, path, 0);
            of.extend(found.filter(|file| *file != module.file));
        }
    }
    uses
}

/// The file that defines what `path` names in the module `from`; `None` for other crates' items.
fn follow(
    modules: &BTreeMap<Names, Module>,
    from: &Names,
    path: &[String],
    depth: usize,
) -> Option<String> {
    // No re-export goes through so many others: imports of each other would.
    const DEEPEST: usize = 16;
    if depth > DEEPEST {
        return None;
    }
    let mut here = from.clone();
    let mut rest = path;
    match path.first().map(String::as_str)? {
        "crate" => (here, rest) = (vec!["crate".to_string()], &path[1..]),
        "self" => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|name| name == "super") {
        here.pop();
        rest = &rest[1..];
    }
    // A path without a beginning of ours must start with a name that its module knows.
    for (i, name) in rest.iter().enumerate() {
        let module = modules.get(&here)?;
        let child = [here.clone(), vec![name.clone()]].concat();
        if modules.contains_key(&child) {
            here = child;
        } else if module.items.contains(name) {
            return Some(module.file.clone());
        } else if let Some(target) = module.imports.get(name) {
            let whole = [target.as_slice(), &rest[i + 1..]].concat();
            let begins_elsewhere = target.first() == Some(name);
            return (!begins_elsewhere).then(|| follow(modules, &here, &whole, depth + 1))?;
        } else {
            let through = |glob: &Names| {
                let whole = [glob.as_slice(), &rest[i..]].concat();
                follow(modules, &here, &whole, depth + 1)
            };
            return module.globs.iter().find_map(through);
        }
    }
    // The path names a module itself.
    let is_ours = here != *from || path.first().is_some_and(|name| name == "crate");
    is_ours.then(|| modules[&here].file.clone())
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single signs of a Rust text; no comments, texts or characters.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is = |at: usize, sign: &str| {
        sign.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if is(at, "//") {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if is(at, "/*") {
            at += 2;
            while at < chars.len() && !is(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if c == '"' {
            at = after_text(&chars, at + 1);
        } else if let Some(marks) = raw_text(&chars[at..]) {
            let end: String = ["\"".to_string(), "#".repeat(marks)].concat();
            at += marks + 2;
            while at < chars.len() && !is(at, &end) {
                at += 1;
            }
            at += end.len();
        } else if c == '\'' {
            // A character, or a lifetime, which is a name to no one.
            let is_character = chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'');
            at += 1;
            if is_character {
                at += if chars[at] == '\\' { 2 } else { 1 };
                at += chars[at..].iter().take_while(|c| **c != '\'').count() + 1;
            } else {
                at += chars[at..].iter().take_while(|c| is_word(**c)).count();
            }
        } else if is_word(c) {
            let length = chars[at..].iter().take_while(|c| is_word(**c)).count();
            found.push(chars[at..at + length].iter().collect());
            at += length;
        } else {
            let sign = if is(at, "::") { "::".to_string() } else { c.to_string() };
            at += sign.len().max(1);
            if !c.is_whitespace() {
                found.push(sign);
            }
        }
    }
    found
}

/// The character after a text whose first is at `at`.
fn after_text(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// How many marks a raw text that begins here has.
fn raw_text(chars: &[char]) -> Option<usize> {
    let rest = chars.strip_prefix(&['r'])?;
    let marks = rest.iter().take_while(|c| **c == '#').count();
    (rest.get(marks) == Some(&'"')).then_some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Uses {
        let mut modules = BTreeMap::new();
        files.iter().for_each(|(name, text)| read(name, text, &mut modules));
        resolve(&modules)
    }

    fn used(files: &[(&str, &str)], by: &str) -> Vec<String> {
        of(files)[by].iter().cloned().collect()
    }

    #[test]
    fn imports_and_paths_are_followed_to_what_they_name() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::deep::{Thing as Renamed, other};"),
            ("a.rs", "use crate::{Renamed, b::{self, Plain}};\nuse std::fmt;"),
            ("b/mod.rs", "pub mod deep; pub struct Plain; fn f() { deep::other(); }"),
            ("b/deep.rs", "pub struct Thing; pub fn other() { super::super::a::x() }"),
        ];
        assert_eq!(used(&files, "a.rs"), ["b/deep.rs", "b/mod.rs"]);
        assert_eq!(used(&files, "b/mod.rs"), ["b/deep.rs"]);
        assert_eq!(used(&files, "lib.rs"), ["b/deep.rs"]);
        assert!(used(&files, "b/deep.rs").is_empty(), "nothing of that name");
    }

    #[test]
    fn globs_and_modules_within_a_file_are_known() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use inner::*; mod inner { use super::super::b::Two; pub struct One; }"),
            ("b.rs", "pub struct Two; fn f(one: crate::a::One) {}"),
        ];
        assert_eq!(used(&files, "a.rs"), ["b.rs"]);
        assert_eq!(used(&files, "b.rs"), ["a.rs"]);
    }

    #[test]
    fn comments_texts_tests_and_other_crates_use_nothing() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "// use crate::b::B;\n/* crate::b::B */ const T: &str = \"crate::b::B\\\"\";\n\
                 const R: &str = r#\"crate::b::\"B\"#; const C: char = '\"'; fn f<'a>(x: &'a u8) {}\n\
                 use b::B; use serde::b;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("b.rs", "pub struct B;"),
            ("b_tests.rs", "use crate::a::T;"),
        ];
        assert!(used(&files, "a.rs").is_empty(), "{:?}", of(&files));
        assert!(!of(&files).contains_key("b_tests.rs"));
    }
}
