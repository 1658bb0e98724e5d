//! Reads the results of a sweep from its folder.

use std::io;
use std::path::Path;

use ratewire_files::RESULTS;
use ratewire_report::JSON_HEAD;

use crate::Error;
use crate::folder::SWEEP;

/// Reads the figures of a sweep's runs from the folder that the sweep was written to.
///
/// ```
/// # if !cfg!(feature = "parquet") { return Ok(()); }
/// # let text = "duration = '1 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// # let folder = std::env::temp_dir().join(format!("ratewire-read-sweep-{}", std::process::id()));
/// let experiment = ratewire::Experiment::parse("hello.toml", text)?;
/// let sweep = ratewire::Sweep::of(experiment).over("bottleneck.rate", "1M,2M")?.folder(&folder);
/// let results = sweep.run()?;
/// assert_eq!(&ratewire::read_sweep(&folder)?, results.sweep());
/// # std::fs::remove_dir_all(&folder).expect("the folder");
/// # Ok::<(), ratewire::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] if the folder has no results of a sweep, or has those of another version.
pub fn read_sweep(folder: impl AsRef<Path>) -> Result<ratewire_report::Sweep, Error> {
    let path = folder.as_ref().join(SWEEP[1]);
    let wrong = |source| Error::Read { path: path.clone(), source };
    let text = ratewire_files::read(&path, RESULTS).map_err(|error| wrong(error.into()))?;
    if !text.starts_with(JSON_HEAD.as_bytes()) {
        return Err(wrong(io::Error::other("no results of a sweep of this version are there")));
    }
    let sweep: ratewire_report::Sweep =
        serde_json::from_slice(&text).map_err(|e| wrong(io::Error::other(e)))?;
    if !is_sound(&sweep) {
        return Err(wrong(io::Error::other("its runs do not fit its parameters")));
    }
    Ok(sweep)
}

/// Whether every run has a place in the grid, and a value of each figure.
fn is_sound(sweep: &ratewire_report::Sweep) -> bool {
    sweep.runs.iter().all(|run| {
        let is_placed = run.point.len() == sweep.axes.len()
            && run.point.iter().zip(&sweep.axes).all(|(at, axis)| *at < axis.values.len());
        is_placed && run.law < sweep.laws.len() && run.values.len() == sweep.figures.len()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_no_sweep_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let refusal = || read_sweep(folder.path()).expect_err("no results").to_string();
        assert!(refusal().contains("No such file"), "{}", refusal());
        let path = folder.path().join(SWEEP[1]);
        fs::write(&path, "{}").expect("a file of others");
        assert!(refusal().contains("no results of a sweep of this version"), "{}", refusal());
        let law = "\"scenario\":\"\",\"version\":\"\",\"axes\":[],\"seeds\":[1],\"figures\":[],\"missing_runs\":0";
        let run = "{\"point\":[],\"law\":1,\"seed\":1,\"values\":[]}";
        let text = format!("{JSON_HEAD}0\",{law},\"laws\":[\"xcp\"],\"runs\":[{run}]}}");
        fs::write(&path, &text).expect("a damaged file");
        assert!(refusal().contains("do not fit its parameters"), "{}", refusal());
        fs::write(&path, text.replace("\"law\":1", "\"law\":0")).expect("a file");
        assert_eq!(read_sweep(folder.path()).expect("a sweep").runs.len(), 1);
    }
}
