//! What a program's own definition yields in other forms: manual pages, completions, and its help
//! as a page of the book.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// Columns of help in the book.
const WIDTH: usize = 100;

/// A page of the book: the name of its file, and its text in Markdown.
pub type Page = (&'static str, String);

/// Writes the folders `man`, `completions` and `book` of the program that `root` defines, with
/// `pages` beside that of its help.
pub(crate) fn write_all(root: &Command, pages: &[Page], folder: &Path) -> Result<()> {
    let name = root.get_name().to_string();
    let completions = made(folder, "completions")?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut root.clone(), &name, &completions)?;
    }
    let mut root = root.clone().disable_help_subcommand(true).term_width(WIDTH);
    root.build();
    let man = made(folder, "man")?;
    for command in visible(&root) {
        write_page(command, &man)?;
    }
    let page = match name.strip_prefix("ratewire-") {
        Some(own) => format!("command-line-{own}.md"),
        None => "command-line.md".to_string(),
    };
    let book = made(folder, "book")?;
    fs::write(book.join(page), command_line(&root))?;
    pages.iter().try_for_each(|(name, text)| fs::write(book.join(name), text))
}

fn made(folder: &Path, name: &str) -> Result<PathBuf> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The command and its subcommands at any depth, without hidden ones and those that other programs
/// carry out.
fn visible(command: &Command) -> Vec<&Command> {
    let own = |below: &&Command| !below.is_hide_set() && !is_program(below);
    std::iter::once(command)
        .chain(command.get_subcommands().filter(own).flat_map(visible))
        .collect()
}

/// Whether another program, which writes its own pages, carries out a command: it takes any
/// arguments, and knows no help of its own.
fn is_program(command: &Command) -> bool {
    command.is_disable_help_flag_set()
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
