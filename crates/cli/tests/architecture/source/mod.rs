//! Which file of a crate uses which, read from its text.
//!
//! A file uses what its paths name, followed through imports and re-exports to the file that
//! defines it, and the methods that it calls: a type's methods may stand in several files. The type
//! of what a method is called on is worked out from declarations (`types`); where that fails, the
//! call counts for nothing. Tests are left out: they may use anything.

mod calls;
mod paths;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// A path of names, `crate` first.
type Names = Vec<String>;

/// Files of a crate, each with those it uses. Names are relative to the crate's `src`.
pub type Uses = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate.
type Modules = BTreeMap<Names, Module>;

/// A module as its text has it.
#[derive(Default)]
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
    /// Its items that define types, functions and methods, or call methods.
    code: Vec<syn::Item>,
}

/// The uses between the files below `src`.
pub fn uses(src: &Path) -> Uses {
    let mut modules = BTreeMap::new();
    for file in files(src) {
        let name = file.strip_prefix(src).unwrap().to_string_lossy().into_owned();
        read(&name, &fs::read_to_string(&file).unwrap(), &mut modules);
    }
    used(&modules)
}

fn used(modules: &Modules) -> Uses {
    let types = types::Types::of(modules);
    let mut uses = Uses::new();
    for (name, module) in modules {
        let of = uses.entry(module.file.clone()).or_default();
        let paths = module.paths.iter().chain(&module.globs);
        let named = paths.filter_map(|path| paths::follow(modules, name, path));
        of.extend(named.map(|place| modules[&place.module].file.clone()));
        of.extend(calls::files(modules, &types, name));
        of.remove(&module.file);
    }
    uses
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
fn read(file: &str, text: &str, modules: &mut Modules) {
    if is_of_tests(file) {
        return;
    }
    let parsed = syn::parse_file(text).unwrap_or_else(|problem| panic!("{file}: {problem}"));
    read_items(file, module_of(file), parsed.items, modules);
}

fn read_items(file: &str, name: Names, items: Vec<syn::Item>, modules: &mut Modules) {
    let mut module = Module { file: file.to_string(), ..Module::default() };
    for item in items.into_iter().filter(|item| !is_for_tests(item)) {
        match item {
            syn::Item::Mod(inner) => {
                if let Some((_, items)) = inner.content {
                    let inner = [name.clone(), vec![inner.ident.to_string()]].concat();
                    read_items(file, inner, items, modules);
                }
            }
            item => {
                module.items.extend(defined(&item));
                paths::Paths(&mut module).visit_item(&item);
                module.code.push(item);
            }
        }
    }
    modules.insert(name, module);
}

/// The name that an item defines.
fn defined(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Whether an item has the attribute that leaves it to tests.
fn is_for_tests(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    are_for_tests(attributes)
}

fn are_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let inner = attribute.parse_args::<syn::Path>();
        attribute.path().is_ident("cfg") && inner.is_ok_and(|path| path.is_ident("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Uses {
        let mut modules = BTreeMap::new();
        files.iter().for_each(|(name, text)| read(name, text, &mut modules));
        super::used(&modules)
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
                 use serde::b; use elsewhere::B;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("b.rs", "pub struct B;"),
            ("b_tests.rs", "use crate::a::T;"),
        ];
        assert!(used(&files, "a.rs").is_empty(), "{:?}", of(&files));
        assert!(!of(&files).contains_key("b_tests.rs"));
    }

    #[test]
    fn macros_use_what_their_text_names() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "fn f() { println!(\"{}\", crate::b::B); }"),
            ("b.rs", "pub const B: u8 = 1; list! { one => crate::a::f }"),
        ];
        assert_eq!(used(&files, "a.rs"), ["b.rs"]);
        assert_eq!(used(&files, "b.rs"), ["a.rs"]);
    }

    /// A type whose methods stand in three files, which call each other.
    const HUB: &str = "mod one; mod two; pub struct Hub { link: Link, links: Vec<Link> } \
                       pub struct Link;";

    #[test]
    fn methods_of_a_type_in_several_files_are_followed() {
        let files = [
            ("lib.rs", "mod hub;"),
            ("hub/mod.rs", HUB),
            ("hub/one.rs", "use super::Hub; impl Hub { fn first(&self) { self.second() } }"),
            ("hub/two.rs", "impl super::Hub { pub fn second(&self) {} }"),
        ];
        assert_eq!(used(&files, "hub/one.rs"), ["hub/mod.rs", "hub/two.rs"]);
        assert_eq!(used(&files, "hub/two.rs"), ["hub/mod.rs"]);
    }

    #[test]
    fn the_types_of_fields_arguments_and_variables_are_known() {
        let calls = [
            "self.link.ping()",
            "self.links[0].ping()",
            "for link in &self.links { link.ping() }",
            "if let Some(link) = self.links.first() { link.ping() }",
            "self.links.iter().map(|link| link.ping())",
            "let link = self.own(); link.ping()",
            "let Hub { link, .. } = self; link.ping()",
            "given.ping()",
            "assert!(given.ping())",
            "Link::ping(given)",
            "match self.links.last() { Some(link) => link.ping(), None => {} }",
        ];
        for call in calls {
            let one = format!(
                "use super::{{Hub, Link}}; impl Hub {{ fn own(&self) -> Option<&Link> {{ None }} \
                 fn first(&self, given: &mut Link) {{ {call}; }} }}"
            );
            let files = [
                ("lib.rs", "mod hub;"),
                ("hub/mod.rs", HUB),
                ("hub/one.rs", one.as_str()),
                ("hub/two.rs", "use super::Link; impl Link { pub fn ping(&self) {} }"),
            ];
            assert_eq!(used(&files, "hub/one.rs"), ["hub/mod.rs", "hub/two.rs"], "{call}");
        }
    }

    #[test]
    fn a_method_of_the_same_name_of_another_type_is_not_meant() {
        let files = [
            ("lib.rs", "mod hub;"),
            ("hub/mod.rs", HUB),
            (
                "hub/one.rs",
                "use super::Hub; impl Hub { fn f(&self, other: &str) { other.ping() } }",
            ),
            ("hub/two.rs", "use super::Link; impl Link { pub fn ping(&self) {} }"),
        ];
        assert_eq!(used(&files, "hub/one.rs"), ["hub/mod.rs"]);
    }
}
