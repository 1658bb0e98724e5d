//! Keeps the results of different experiments in different folders.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ratewire_files::RESULTS;
use ratewire_report::JSON_HEAD;
use serde::Deserialize;

use crate::Error;

/// Link beside results that leads to the last ones.
pub const LATEST: &str = "latest";

/// The part of `summary.json` and the like that says which experiment they are of.
#[derive(Deserialize)]
struct Held {
    experiment: HeldExperiment,
}

#[derive(Deserialize)]
struct HeldExperiment {
    digest: String,
}

/// The folder for results of an experiment: `wanted`, or else one beside it that is called
/// `WANTED-DIGEST`.
///
/// No other experiment has results in the folder, so none is replaced. An experiment that is
/// repeated gets its folder again. `pages` are the pages that the results have, and `digest` is
/// [`Experiment::digest`](crate::Experiment::digest).
pub fn own_folder(wanted: &Path, pages: [&str; 2], digest: &str) -> PathBuf {
    let name = wanted.file_name().unwrap_or_default().to_string_lossy();
    let beside = |digits: usize| wanted.with_file_name(format!("{name}-{}", &digest[..digits]));
    // A link leads to a folder of another name, and `latest` is such a link.
    let is_own = |folder: &PathBuf| {
        !folder.is_symlink() && !folder.ends_with(LATEST) && !holds_another(folder, pages, digest)
    };
    let others = (8..digest.len()).step_by(8).map(beside);
    let mut all = std::iter::once(wanted.to_path_buf()).chain(others);
    all.find(is_own).unwrap_or_else(|| beside(digest.len()))
}

/// Whether a folder has results of another experiment, which new results would replace.
///
/// Results of a version that did not note the experiment count as another's.
pub fn holds_another(folder: &Path, pages: [&str; 2], digest: &str) -> bool {
    let json = pages.into_iter().find(|page| page.ends_with(".json"));
    let Some(Ok(text)) = json.map(|page| ratewire_files::read(&folder.join(page), RESULTS)) else {
        return false;
    };
    let held = serde_json::from_slice::<Held>(&text).map(|held| held.experiment.digest);
    text.starts_with(JSON_HEAD.as_bytes()) && held.map_or(true, |held| held != digest)
}

/// Makes the link [`LATEST`] beside a folder of results lead to it.
///
/// # Errors
/// [`Error::Refused`] if something that is no link has this name, [`Error::Write`] if the link
/// cannot be made. An earlier link is then unchanged.
pub fn point_latest(folder: &Path) -> Result<(), Error> {
    let link = folder.with_file_name(LATEST);
    if link.symlink_metadata().is_ok_and(|about| !about.is_symlink()) {
        let why = "it is no link; move it, so that it can become the link to the last results";
        return Err(Error::refused(&link, why));
    }
    let made = folder.with_file_name(format!(".{LATEST}.{}", std::process::id()));
    let removed = match fs::remove_file(&made) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    };
    let target = folder.file_name().unwrap_or_default();
    let put = removed.and_then(|()| symlink(target, &made)).and_then(|()| fs::rename(&made, &link));
    put.map_err(|e| Error::write(&link, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{COMPARISON, REPORT};

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn write(folder: &Path, page: &str, rest: &str) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join(page), format!("{JSON_HEAD}0\"{rest}}}")).expect("a page");
    }

    fn of(digest: &str) -> String {
        format!(", \"experiment\": {{ \"digest\": \"{digest}\" }}")
    }

    #[test]
    fn an_experiment_keeps_its_folder_and_leaves_those_of_others() {
        let root = tempfile::tempdir().expect("a folder");
        let wanted = root.path().join("three-flows");
        let chosen = || own_folder(&wanted, REPORT, DIGEST);
        assert_eq!(chosen(), wanted, "it is free");
        write(&wanted, "summary.json", &of(DIGEST));
        assert_eq!(chosen(), wanted, "it is its own");
        for other in [of("another"), String::new()] {
            write(&wanted, "summary.json", &other);
            let beside = root.path().join("three-flows-01234567");
            assert_eq!(chosen(), beside);
            write(&beside, "summary.json", &of(DIGEST));
            assert_eq!(chosen(), beside, "it is its own");
            write(&beside, "summary.json", &of("another"));
            assert_eq!(chosen(), root.path().join("three-flows-0123456789abcdef"));
            fs::remove_dir_all(beside).expect("a folder");
        }
        assert_eq!(own_folder(&wanted, COMPARISON, DIGEST), wanted, "no comparison is there");
        // Files of others are not results; writing there is refused later.
        fs::write(wanted.join("summary.json"), "{}").expect("a file");
        assert_eq!(chosen(), wanted);
    }

    #[test]
    fn the_link_leads_to_the_last_results_and_is_never_filled() {
        let root = tempfile::tempdir().expect("a folder");
        let latest = root.path().join(LATEST);
        for name in ["a", "b"] {
            let folder = root.path().join(name);
            write(&folder, "summary.json", &of(name));
            point_latest(&folder).expect("a link");
            assert_eq!(fs::read_link(&latest).expect("a link"), Path::new(name));
        }
        assert_eq!(own_folder(&latest, REPORT, DIGEST), root.path().join("latest-01234567"));
        fs::remove_file(&latest).expect("a link");
        fs::create_dir(&latest).expect("a folder of somebody's own");
        let wrong = point_latest(&root.path().join("a")).expect_err("refused").to_string();
        assert!(wrong.contains("it is no link; move it"), "{wrong}");
        assert!(latest.is_dir());
    }
}
