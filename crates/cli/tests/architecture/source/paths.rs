//! Paths in a module's text, and what they name.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::{Module, Modules, Names, are_for_tests};

/// What a path names: an item, or a module itself.
pub struct Place {
    pub module: Names,
    /// The item; `None` for the module.
    pub item: Option<String>,
    /// What the path has after the item, as a variant or a method.
    pub rest: Names,
}

/// Writes the imports and paths of a module down.
pub struct Paths<'a>(pub &'a mut Module);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.read_use(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = names(path);
        // One name alone is of the module itself, or imported.
        if names.len() > 1 {
            self.0.paths.push(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        self.read_tokens(of.tokens.clone());
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !are_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    /// Who may see an item is not a use.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

impl Paths<'_> {
    /// Reads the tree of a `use`, below the path `before`.
    fn read_use(&mut self, tree: &syn::UseTree, before: &mut Names) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.read_use(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.read_use(tree, before));
            }
            syn::UseTree::Glob(_) => self.0.globs.push(before.clone()),
            syn::UseTree::Name(name) => self.import(before, &name.ident, &name.ident),
            syn::UseTree::Rename(of) => self.import(before, &of.ident, &of.rename),
        }
    }

    fn import(&mut self, before: &[String], name: &syn::Ident, known: &syn::Ident) {
        // `self` in braces is the module before them.
        let is_module = name == "self";
        let own = (!is_module).then(|| name.to_string());
        let path: Names = before.iter().cloned().chain(own).collect();
        let known = if known == "self" { path.last().cloned() } else { Some(known.to_string()) };
        self.0.imports.insert(known.unwrap_or_default(), path.clone());
        self.0.paths.push(path);
    }

    /// Reads the paths in a macro's text, which may be any.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Names = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.read_tokens(group.stream());
                }
                _ => self.end(&mut path),
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Names) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.0.paths.push(path);
        }
    }
}

pub fn names(path: &syn::Path) -> Names {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// What `path` names in the module `from`; `None` for other crates' items.
pub fn follow(modules: &Modules, from: &Names, path: &[String]) -> Option<Place> {
    follow_on(modules, from, path, 0)
}

fn follow_on(modules: &Modules, from: &Names, path: &[String], depth: usize) -> Option<Place> {
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
            let item = Some(name.clone());
            return Some(Place { module: here, item, rest: rest[i + 1..].to_vec() });
        } else if let Some(target) = module.imports.get(name) {
            let whole = [target.as_slice(), &rest[i + 1..]].concat();
            let begins_elsewhere = target.first() == Some(name);
            return (!begins_elsewhere)
                .then(|| follow_on(modules, &here, &whole, depth + 1))
                .flatten();
        } else {
            let through = |glob: &Names| {
                let whole = [glob.as_slice(), &rest[i..]].concat();
                follow_on(modules, &here, &whole, depth + 1)
            };
            return module.globs.iter().find_map(through);
        }
    }
    let is_ours = here != *from || path.first().is_some_and(|name| name == "crate");
    is_ours.then(|| Place { module: here, item: None, rest: Vec::new() })
}
