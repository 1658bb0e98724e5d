//! A recipe of CONTRIBUTING.md, and the files that it names.

use std::collections::BTreeSet;

/// Files that a recipe names.
pub struct Recipe {
    heading: String,
    /// Paths from the root; all files in a folder if one ends with `/`, and all that begin so if
    /// one ends with `*`.
    paths: Vec<String>,
}

impl Recipe {
    /// The recipe below a heading, for something called `name`, which is NAME in the text. Its
    /// files are the words in backticks of its numbered steps that are paths.
    pub fn read(contributing: &str, heading: &str, name: &str) -> Recipe {
        let below = contributing.split(&format!("\n### {heading}\n")).nth(1);
        let below = below.unwrap_or_else(|| panic!("CONTRIBUTING.md has no recipe {heading:?}"));
        let is_heading = |line: &&str| line.starts_with("## ") || line.starts_with("### ");
        let lines = below.lines().take_while(|line| !is_heading(line));
        let is_of_step = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit() || c == ' ');
        let steps: Vec<&str> = lines.filter(is_of_step).collect();
        let steps = steps.join(" ");
        let words = steps.split('`').skip(1).step_by(2);
        let paths = words.filter(|word| word.contains('/') && !word.contains(' '));
        let paths = paths.map(|path| path.replace("NAME", name)).collect();
        Recipe { heading: heading.to_string(), paths }
    }

    /// What is touched and not named, and what is named and not touched.
    pub fn differs(&self, touched: &BTreeSet<String>) -> Vec<String> {
        let heading = &self.heading;
        let mut unused: Vec<&String> = self.paths.iter().collect();
        let mut wrong = Vec::new();
        for file in touched {
            let matching = self.paths.iter().filter(|path| has(path, file));
            match matching.max_by_key(|path| path.len()) {
                Some(named) => unused.retain(|path| *path != named),
                None => wrong.push(format!("{heading}: the recipe does not name {file}")),
            }
        }
        wrong.extend(unused.iter().map(|path| format!("{heading}: the toy touches no {path}")));
        wrong
    }
}

fn has(path: &str, file: &str) -> bool {
    match path.strip_suffix('*') {
        Some(start) => file.starts_with(start),
        None if path.ends_with('/') => file.starts_with(path),
        None => file == path,
    }
}

#[test]
fn paths_of_steps_are_held_both_ways() {
    let text = "x\n### A thing\n\nSee `src/old/`.\n\n1. Write `src/NAME/`: `mod.rs`, and a\n   line in \
                `src/lib.rs`.\n2. `A=1 cargo x/y` writes `corpus/NAME_*`.\n\n`src/other.rs`\n### B\n";
    let recipe = Recipe::read(text, "A thing", "toy");
    assert_eq!(recipe.paths, ["src/toy/", "src/lib.rs", "corpus/toy_*"]);
    let differs = |files: &[&str]| {
        recipe.differs(&files.iter().map(ToString::to_string).collect::<BTreeSet<_>>())
    };
    assert!(differs(&["src/toy/mod.rs", "src/toy/a.rs", "src/lib.rs", "corpus/toy_1"]).is_empty());
    let wrong = differs(&["src/toy/mod.rs", "src/old/mod.rs", "corpus/toy_1"]);
    let (unnamed, untouched) = (
        "A thing: the recipe does not name src/old/mod.rs",
        "A thing: the toy touches no src/lib.rs",
    );
    assert_eq!(wrong, [unnamed, untouched]);
}
