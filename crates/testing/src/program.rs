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
    let folders = folders(&metadata(), &format!("{name}-cli"));
    if let Err(why) = check(&program, &folders) {
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

/// The folders of a package of the workspace and of all packages of the workspace that it is built
/// of.
fn folders(metadata: &Value, package: &str) -> BTreeSet<PathBuf> {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |name: &str| packages.iter().find(|package| package["name"] == name);
    let mut found = BTreeSet::new();
    let mut open = vec![package.to_string()];
    while let Some(package) = open.pop().and_then(|name| of(&name)) {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        if !manifest.parent().is_some_and(|folder| found.insert(folder.to_path_buf())) {
            continue;
        }
        let needed = package["dependencies"].as_array().into_iter().flatten();
        let needed = needed.filter(|needed| needed["kind"] != "dev" && !needed["path"].is_null());
        open.extend(needed.filter_map(|needed| needed["name"].as_str()).map(String::from));
    }
    found
}

/// Whether a program is as new as all manifests and sources of the packages in these folders.
fn check(program: &Path, folders: &BTreeSet<PathBuf>) -> Result<(), String> {
    let built = changed(program).ok_or_else(|| format!("there is no {}", program.display()))?;
    let mut open: Vec<PathBuf> = Vec::new();
    for folder in folders {
        open.extend([folder.join("Cargo.toml"), folder.join("src")]);
    }
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(inside.map(|entry| entry.path()));
        } else if changed(&path).is_none_or(|time| time > built) {
            return Err(format!("{} is older than {}", program.display(), path.display()));
        }
    }
    Ok(())
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
        let program = folder.path().join("program");
        let package = folder.path().join("package");
        let [manifest, source] = ["Cargo.toml", "src/part/a.rs"].map(|name| package.join(name));
        fs::create_dir_all(package.join("src/part")).unwrap();
        let set = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(path).unwrap().set_modified(time).unwrap();
        };
        let folders = BTreeSet::from([package]);
        let why = || check(&program, &folders).err().unwrap_or_default();
        assert!(why().starts_with("there is no "), "{}", why());
        set(&program, 10);
        set(&manifest, 9);
        set(&source, 10);
        assert_eq!(why(), "");
        set(&source, 11);
        assert!(why().ends_with("src/part/a.rs") && why().contains(" is older than "), "{}", why());
        set(&source, 9);
        set(&manifest, 11);
        assert!(why().ends_with("Cargo.toml"), "{}", why());
    }

    #[test]
    fn a_program_is_built_of_packages_at_any_depth_but_not_of_those_of_its_tests() {
        let found = folders(&metadata(), "ratewire-groups-cli");
        let has = |name: &str| found.iter().any(|folder| folder.ends_with(name));
        assert!(has("groups-cli") && has("overlay") && has("units"), "{found:?}");
        assert!(!has("testing") && !has("switch"), "{found:?}");
    }
}
