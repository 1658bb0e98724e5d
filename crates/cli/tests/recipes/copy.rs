//! Files of a tree, and copies of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files by their paths from the root.
#[derive(Clone, Default)]
pub struct Tree(BTreeMap<String, Content>);

#[derive(Clone, PartialEq)]
enum Content {
    File(Vec<u8>),
    /// A symbolic link, and where it leads.
    Link(PathBuf),
}

impl Content {
    fn read(path: &Path) -> Option<Content> {
        match fs::read_link(path) {
            Ok(target) => Some(Content::Link(target)),
            Err(_) => fs::read(path).ok().map(Content::File),
        }
    }

    fn write(&self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of the copy");
        let done = match self {
            Content::File(bytes) => fs::write(path, bytes),
            Content::Link(target) => std::os::unix::fs::symlink(target, path),
        };
        done.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

impl Tree {
    /// The files of a working tree that git knows or would add; without git, all but those that are
    /// built and run.
    pub fn of(root: &Path) -> Tree {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").args(args).current_dir(root).output();
        let Some(listed) = listed.ok().filter(|done| done.status.success()) else {
            let mut all = Tree::of_folder(root);
            let is_made =
                |path: &str| ["target/", "out/", ".git/"].iter().any(|p| path.starts_with(p));
            all.0.retain(|path, _| !is_made(path));
            return all;
        };
        let names = String::from_utf8(listed.stdout).expect("names of files are UTF-8");
        // A file may be removed and known still.
        let read = |name: &str| Some((name.to_string(), Content::read(&root.join(name))?));
        Tree(names.split_terminator('\0').filter_map(read).collect())
    }

    /// All files in a folder; none if it does not exist.
    pub fn of_folder(root: &Path) -> Tree {
        let (mut tree, mut folders) = (Tree::default(), vec![root.to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for path in
                fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
            {
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if let Some(content) = Content::read(&path) {
                    let name = path.strip_prefix(root).unwrap().to_str().expect("UTF-8");
                    tree.0.insert(name.to_string(), content);
                }
            }
        }
        tree
    }

    pub fn files(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub fn text(&self, file: &str) -> String {
        match self.0.get(file) {
            Some(Content::File(bytes)) => String::from_utf8(bytes.clone()).expect("text"),
            _ => panic!("there is no file {file}"),
        }
    }

    pub fn put(&mut self, file: &str, text: String) {
        self.0.insert(file.to_string(), Content::File(text.into_bytes()));
    }

    pub fn add(&mut self, other: &Tree) {
        self.0.extend(other.clone().0);
    }

    /// Files that only one of two trees has, or that differ.
    pub fn differs(&self, other: &Tree) -> BTreeSet<String> {
        let all = self.files().chain(other.files());
        all.filter(|file| self.0.get(*file) != other.0.get(*file)).cloned().collect()
    }

    /// Makes a folder equal to the tree. Files that are equal keep their time, so that what was
    /// built of them need not be built again.
    pub fn write(&self, folder: &Path) {
        for file in self.differs(&Tree::of_folder(folder)) {
            let path = folder.join(&file);
            fs::remove_file(&path).ok();
            if let Some(content) = self.0.get(&file) {
                content.write(&path);
            }
        }
    }
}
