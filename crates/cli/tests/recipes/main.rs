//! The recipes of CONTRIBUTING.md, followed in a copy of the tree.
//!
//! A toy law, discipline, framing, plot and key are added to one copy. Each touches all files that
//! its recipe names, and no others. The copy is then built, and tests that hold documentation and
//! corpora to registries are run in it.
//!
//! The copy is built with the features of the whole workspace and into the same folder, so that
//! crates of others are those that are built already. It takes 42 seconds of a processor, and one
//! where nothing has changed since the last time (measured, EPYC). `make test` leaves it
//! to idle processors.

mod copy;
mod recipe;
mod toy;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use copy::Tree;
use recipe::Recipe;
use toy::Toy;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Heading of the recipe, folder of the toy in `toys`, and what the toy is called.
const RECIPES: [(&str, &str, &str); 5] = [
    ("A law", "law", "window"),
    ("A queue discipline", "discipline", "brief"),
    ("A framing", "framing", "nul"),
    ("A plot", "plot", "sent"),
    ("A key of the scenario language", "key", "author"),
];

#[test]
fn toys_touch_what_the_recipes_name_and_pass_the_tests() {
    let before = Tree::of(Path::new(ROOT));
    let (mut after, mut touched) = (before.clone(), BTreeSet::new());
    let mut wrong = Vec::new();
    for (heading, folder, name) in RECIPES {
        let toy = Toy::read(folder);
        let recipe = Recipe::read(&before.text("CONTRIBUTING.md"), heading, name);
        wrong.extend(recipe.differs(&toy.touched()));
        touched.extend(toy.touched());
        toy.apply(&mut after);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipes");
    after.write(&folder);
    test(&folder);
    let changed = Tree::of_folder(&folder).differs(&before);
    assert_eq!(changed, touched, "files of the copy that changed, and that the toys name");
    let page = std::fs::read_to_string(folder.join("docs/reference/scenario.md")).unwrap();
    assert!(page.contains("| `author` |") && page.contains("| `most` |"), "keys of both toys");
}

/// Runs the tests that hold tables, messages and corpora to registries.
fn test(copy: &Path) {
    const PROGRAMS: [&str; 5] =
        ["reference", "scenario", "shared_files", "any_order", "properties"];
    const TESTS: [&str; 7] = [
        "documentation",
        "corpora",
        "every_discipline_has",
        "every_framing",
        "shared_file",
        "the_corpus_of_laws",
        "mistakes_are_reported_as_of_other_disciplines",
    ];
    let mut cargo = Command::new(env!("CARGO"));
    // The whole workspace, so that crates of others have the features that they were built with.
    cargo.args(["test", "--offline", "--locked", "--workspace", "--quiet", "--no-fail-fast"]);
    if cfg!(feature = "live") {
        cargo.args(["--features", "ratewire-cli/live"]);
    }
    cargo.args(PROGRAMS.iter().flat_map(|program| ["--test", program]));
    // To optimise crates takes longer than these tests run.
    for package in optimised(&copy.join("Cargo.toml")) {
        cargo.args(["--config", &format!("profile.dev.package.{package}.opt-level=0")]);
    }
    cargo.arg("--").args(TESTS);
    cargo.current_dir(copy).env("CARGO_TARGET_DIR", target()).env("CARGO_INCREMENTAL", "0");
    for of_this_build in ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS", "RUSTDOC"] {
        cargo.env_remove(of_this_build);
    }
    let done = cargo.env("RATEWIRE_BLESS", "1").output().expect("cargo");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, complaints) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{said}{complaints}");
    let passed = said.matches("test result: ok. ").count();
    assert!(passed >= PROGRAMS.len(), "{passed} programs of tests: {said}{complaints}");
}

/// Packages of this workspace that a manifest has compiled for speed.
fn optimised(manifest: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(manifest).expect("a manifest");
    let names = text.lines().filter_map(|line| line.strip_prefix("[profile.dev.package."));
    let own = names.filter(|name| name.starts_with("ratewire-"));
    own.filter_map(|name| name.strip_suffix(']')).map(str::to_string).collect()
}

/// The folder into which this test was built.
fn target() -> PathBuf {
    let own = std::env::current_exe().expect("this test's own file");
    // TARGET/debug/deps/PROGRAM
    own.ancestors().nth(3).expect("a folder of builds").to_path_buf()
}
