//! Folders of results.

use std::path::{Path, PathBuf};

use ratewire::folder::{holds_another, own_folder, point_latest};

/// Folder of a command's results.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// Whether the command line names the folder.
    is_given: bool,
}

impl Place {
    /// The folder that `--out` gives, or else one below `out` in which no other experiment has
    /// results. Warns of results that would be replaced.
    pub(crate) fn choose(out: Option<&Path>, name: &Path, pages: [&str; 2], digest: &str) -> Place {
        let Some(out) = out else {
            let folder = own_folder(&Path::new("out").join(name), pages, digest);
            return Place { folder, is_given: false };
        };
        if holds_another(out, pages, digest) {
            print_stderr!(
                "warning: {} has results of another experiment, which the new ones replace\n  \
                 help: --out with another folder keeps both; without --out each experiment has a folder of its own",
                out.display()
            );
        }
        Place { folder: out.to_path_buf(), is_given: true }
    }

    /// Makes `out/latest` lead to the results, unless the command line names their folder.
    pub(crate) fn note_latest(&self) {
        if !self.is_given
            && let Err(failure) = point_latest(&self.folder)
        {
            print_stderr!("warning: {failure}");
        }
    }
}

/// Name of a scenario's results: that of its file.
pub(crate) fn name_of(scenario: &Path) -> &Path {
    scenario.file_stem().map_or(Path::new("scenario"), Path::new)
}
