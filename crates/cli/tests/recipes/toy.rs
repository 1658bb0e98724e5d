//! Toys, in `toys` beside this file: new files in `new`, by their paths from the root, and changes
//! of others in `edits.toml`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use crate::copy::Tree;

/// What a recipe would add.
pub struct Toy {
    new: Tree,
    edits: Edits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edits {
    /// Files that tests write.
    #[serde(default)]
    written: Vec<String>,
    edit: Vec<Edit>,
}

/// A text that stands once in a file, and the text in its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    old: String,
    new: String,
}

impl Toy {
    /// The toy in a folder of `toys`.
    pub fn read(folder: &str) -> Toy {
        let toys = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recipes/toys");
        let folder = Path::new(toys).join(folder);
        let edits = std::fs::read_to_string(folder.join("edits.toml")).expect("edits.toml");
        let edits = toml::from_str(&edits).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        Toy { new: Tree::of_folder(&folder.join("new")), edits }
    }

    /// Files that it adds or changes.
    pub fn touched(&self) -> BTreeSet<String> {
        let edited = self.edits.edit.iter().map(|edit| edit.file.clone());
        self.new.files().cloned().chain(edited).chain(self.edits.written.iter().cloned()).collect()
    }

    /// Adds it to a tree.
    pub fn apply(&self, tree: &mut Tree) {
        tree.add(&self.new);
        for Edit { file, old, new } in &self.edits.edit {
            let text = tree.text(file);
            let count = text.matches(old.as_str()).count();
            assert_eq!(count, 1, "{file} has {old:?} {count} times: mend the toy's edits.toml");
            tree.put(file, text.replace(old.as_str(), new));
        }
    }
}
