//! Programs of other packages. Cargo builds for a test only the programs of its own package.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The program `name` in the folder of the program `own`.
///
/// # Panics
/// With the command that builds it, if it is missing, or older than a file that it was built of.
pub fn program_beside(own: &str, name: &str) -> PathBuf {
    let program = Path::new(own).with_file_name(name);
    if let Err(why) = check(&program) {
        panic!(
            "{why}: `cargo build -p {name}-cli` builds it, and so does `cargo test --workspace`"
        );
    }
    program
}

/// Whether a program is as new as what it was built of, by the list that cargo writes beside it.
fn check(program: &Path) -> Result<(), String> {
    let built = changed(program).ok_or_else(|| format!("there is no {}", program.display()))?;
    let list = program.with_extension("d");
    let text = fs::read_to_string(&list).map_err(|_| format!("there is no {}", list.display()))?;
    let newer = sources(&text).find(|source| changed(source).is_none_or(|time| time > built));
    let named =
        |source: PathBuf| format!("{} is older than {}", program.display(), source.display());
    newer.map_or(Ok(()), |source| Err(named(source)))
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// The files behind `PROGRAM:` in a list as make reads them: spaces within names have a backslash.
fn sources(list: &str) -> impl Iterator<Item = PathBuf> {
    let (_, files) = list.split_once(": ").unwrap_or_default();
    let files = files.trim_end().replace("\\ ", "\0");
    let files: Vec<PathBuf> = files.split(' ').map(|file| file.replace('\0', " ").into()).collect();
    files.into_iter().filter(|file| !file.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_program_that_is_missing_or_stale_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [program, source] = ["program", "a source.rs"].map(|name| folder.path().join(name));
        let own = folder.path().join("own").display().to_string();
        assert!(check(&program).unwrap_err().starts_with("there is no "));
        fs::write(&program, "").unwrap();
        fs::write(&source, "").unwrap();
        assert!(check(&program).unwrap_err().ends_with("program.d"));
        let escaped = source.display().to_string().replace(' ', "\\ ");
        fs::write(program.with_extension("d"), format!("{}: {escaped}\n", program.display()))
            .unwrap();
        let set = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        set(&program, 10);
        set(&source, 9);
        assert_eq!(program_beside(&own, "program"), program);
        set(&source, 11);
        assert!(check(&program).unwrap_err().contains(" is older than "));
        fs::remove_file(&source).unwrap();
        assert!(check(&program).is_err());
    }
}
