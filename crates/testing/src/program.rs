//! Programs of other packages. Cargo builds for a test only the programs of its own package.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;

/// The program `name` of the package `name-cli`, in the folder of the program `own`.
///
/// # Panics
/// With the command that builds it, if it is missing, or older than a file that it is built of.
pub fn program_beside(own: &str, name: &str) -> PathBuf {
    let program = Path::new(own).with_file_name(name);
    if let Err(why) = check(&program, &crates(&metadata(), &format!("{name}-cli"))) {
        panic!(
            "{why}: `cargo build -p {name}-cli` builds it, and so does `cargo test --workspace`"
        );
    }
    program
}

/// What cargo knows of the workspace.
fn metadata() -> Value {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    serde_json::from_slice(&told.stdout).expect("cargo tells of the workspace")
}

/// Names of the libraries and programs of a package of the workspace, and of all packages of the
/// workspace that it is built of, as rustc has them.
fn crates(metadata: &Value, package: &str) -> BTreeSet<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let (mut seen, mut open) = (BTreeSet::new(), vec![package.to_string()]);
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        let package = packages.iter().find(|package| package["name"] == *name);
        let Some(package) = package.filter(|_| seen.insert(name)) else { continue };
        let built = |target: &&Value| is_one_of(&target["kind"]);
        let targets = list(&package["targets"]);
        let names = targets.iter().filter(built).filter_map(|target| target["name"].as_str());
        found.extend(names.map(|name| name.replace('-', "_")));
        let needed = list(&package["dependencies"]);
        let needed = needed.iter().filter(|n| n["kind"] != "dev" && !n["path"].is_null());
        open.extend(needed.filter_map(|needed| needed["name"].as_str()).map(String::from));
    }
    found
}

/// Whether a target is a library or a program.
fn is_one_of(kinds: &Value) -> bool {
    let kinds = kinds.as_array().map_or(&[][..], Vec::as_slice);
    kinds.iter().any(|kind| kind == "lib" || kind == "bin")
}

/// Whether a program is as new as all files that rustc has read for these crates.
fn check(program: &Path, crates: &BTreeSet<String>) -> Result<(), String> {
    let built = changed(program).ok_or_else(|| format!("there is no {}", program.display()))?;
    let lists = fs::read_dir(program.with_file_name("deps"));
    let lists = lists.map_err(|_| format!("nothing is built beside {}", program.display()))?;
    for list in lists.flatten().map(|entry| entry.path()).filter(|path| is_list_of(path, crates)) {
        let text = fs::read_to_string(&list).unwrap_or_default();
        let newer = sources(&text).find(|source| changed(source).is_some_and(|time| time > built));
        if let Some(source) = newer {
            return Err(format!("{} is older than {}", program.display(), source.display()));
        }
    }
    Ok(())
}

/// Whether a file is `CRATE-HASH.d`, the list of what one of the crates was built of.
fn is_list_of(path: &Path, crates: &BTreeSet<String>) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parts = name.strip_suffix(".d").and_then(|name| name.rsplit_once('-'));
    parts.is_some_and(|(name, _)| crates.contains(name))
}

/// The files in a list of rustc that a library or a program was built of: none for the unit tests
/// of a library, some of whose files no program is built of.
fn sources(list: &str) -> impl Iterator<Item = PathBuf> {
    let (_, files) = list.lines().next().and_then(|line| line.split_once(": ")).unwrap_or_default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = files.replace("\\ ", "\0");
    let files: Vec<PathBuf> =
        files.split(' ').map(|file| root.join(file.replace('\0', " "))).collect();
    let is_program = files.iter().any(|file| file.ends_with("src/main.rs"));
    files.into_iter().filter(move |_| is_program || list.contains(".rlib:"))
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_program_that_is_missing_or_stale_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let program = at("program");
        let crates = BTreeSet::from(["ratewire_part".to_string()]);
        let why = || check(&program, &crates).err().unwrap_or_default();
        let set = |name: &str, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(at(name)).unwrap().set_modified(time).unwrap();
        };
        let note = |list: &str, source: &str, of: &str| {
            let source = at(source).display().to_string().replace(' ', "\\ ");
            let text = format!("{list}: {source}\n\n{of}: {source}\n");
            fs::write(at("deps").join(list), text).unwrap();
        };
        assert!(why().starts_with("there is no "), "{}", why());
        set("program", 10);
        assert!(why().starts_with("nothing is built beside "), "{}", why());
        fs::create_dir(at("deps")).unwrap();
        for source in ["a source.rs", "of_tests.rs", "of_another.rs"] {
            set(source, 11);
        }
        note("ratewire_part-1.d", "of_tests.rs", "ratewire_part-1");
        note("ratewire_other-2.d", "of_another.rs", "libratewire_other-2.rlib");
        assert_eq!(why(), "");
        note("ratewire_part-3.d", "a source.rs", "libratewire_part-3.rlib");
        assert!(why().contains(" is older than ") && why().ends_with("a source.rs"), "{}", why());
        set("a source.rs", 10);
        assert_eq!(why(), "");
    }

    #[test]
    fn a_program_is_built_of_crates_at_any_depth_but_not_of_those_of_its_tests() {
        let found = crates(&metadata(), "ratewire-groups-cli");
        let has = |name: &str| found.contains(name);
        assert!(has("ratewire_groups") && has("ratewire_overlay") && has("ratewire_units"));
        assert!(!has("ratewire_testing") && !has("ratewire_switch"), "{found:?}");
    }
}
