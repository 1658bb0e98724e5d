//! `ratewire generate` (hidden): what the command's own definition yields in other forms. `make
//! install` takes the manual pages and completions, `make docs` the pages of the book.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use ratewire_laws::OptionSpec;

use crate::exit::Exit;

/// Columns of help in the book.
const WIDTH: usize = 100;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder to write `man`, `completions` and `book` into
    folder: PathBuf,
}

/// Writes manual pages, completions and pages of the book for the command that `root` defines.
pub(crate) fn generate(root: Command, args: &Args) -> Exit {
    match write_all(root, &args.folder) {
        Ok(()) => Exit::Done,
        Err(e) => {
            tell!("ratewire: cannot write into {}: {e}", args.folder.display());
            Exit::File
        }
    }
}

fn write_all(root: Command, folder: &Path) -> Result<()> {
    let name = root.get_name().to_string();
    let completions = made(folder, "completions")?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut root.clone(), &name, &completions)?;
    }
    let mut root = root.disable_help_subcommand(true).term_width(WIDTH);
    root.build();
    let man = made(folder, "man")?;
    for command in visible(&root) {
        write_page(command, &man)?;
    }
    let book = made(folder, "book")?;
    fs::write(book.join("command-line.md"), command_line(&root))?;
    fs::write(book.join("laws.md"), laws())?;
    fs::write(book.join("disciplines.md"), disciplines())
}

fn made(folder: &Path, name: &str) -> Result<PathBuf> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The command and its subcommands at any depth, without hidden ones.
fn visible(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(command).chain(below.flat_map(visible)).collect()
}

/// One manual page. Its section *EXTRA* of clap_mangen holds the exit codes, which manuals call
/// *EXIT STATUS*.
fn write_page(command: &Command, folder: &Path) -> Result<()> {
    let page = Man::new(command.clone())
        .manual("Ratewire")
        .source(concat!("ratewire ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8(text).map_err(Error::other)?;
    let text = text.replace(".SH EXTRA\n", ".SH \"EXIT STATUS\"\n");
    fs::write(folder.join(page.get_filename()), text)
}

/// The help of every command, as a part of a page of the book.
fn command_line(root: &Command) -> String {
    let section = |command: &Command| {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let help = command.clone().render_long_help().to_string();
        format!("## `{name}`\n\n```text\n{}\n```\n", help.trim_end())
    };
    visible(root).into_iter().map(section).collect::<Vec<_>>().join("\n")
}

/// Every law's explanation and options, as a part of a page of the book.
fn laws() -> String {
    let all = ratewire_laws::list().iter();
    all.map(|info| section(info.name, info.explanation, info.options)).collect()
}

/// Every queue discipline's explanation and options, as a part of a page of the book.
fn disciplines() -> String {
    let all = ratewire_net::queue::list().iter();
    all.map(|info| section(info.name, info.explanation, info.options)).collect()
}

/// One entry of a registry. Explanations are Markdown: equations are indented by four columns.
fn section(name: &str, explanation: &str, options: &[OptionSpec]) -> String {
    let mut text = format!("## `{name}`\n\n{}\n\n", explanation.trim_end());
    if options.is_empty() {
        return text + "No options.\n\n";
    }
    text += "| option | allowed | default | what it does |\n|---|---|---|---|\n";
    for option in options {
        let cells = [option.kind.to_string(), option.default.to_string(), option.description()];
        let [kind, default, does] = cells.map(|cell| cell.replace('|', "\\|"));
        text += &format!("| `{}` | {kind} | `{default}` | {does} |\n", option.name);
    }
    text.push('\n');
    text
}
