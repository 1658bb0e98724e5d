//! Commands that the documentation shows must be commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::Cli;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Pages below a folder, at any depth.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => pages(&path),
        false => vec![path],
    });
    found.filter(|path| path.extension().is_some_and(|e| e == "md")).collect()
}

/// The words of a command line as a shell splits them, up to a comment, a pipe or its like.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => (quote, _) = (Some(c), word.get_or_insert_default()),
            (None, '#' | '|' | ';' | '&' | '>') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Command lines of `ratewire` in code, of lines or within them. TOML has none: there `ratewire` is
/// the library.
fn commands(page: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(page).unwrap();
    let mut found = Vec::new();
    let mut block = None;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_none() { Some(language) } else { None };
        } else if block == Some("toml") {
            continue;
        } else if block.is_some() || line.starts_with("    ") {
            found.push(line);
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    let split = found.into_iter().map(|line| words(line.trim()));
    let own = split.filter_map(|words| {
        let at = usize::from(words.first()? == "sudo");
        let is_own = matches!(words.get(at)?.as_str(), "ratewire" | "target/release/ratewire");
        is_own.then(|| words[at..].to_vec())
    });
    own.collect()
}

/// Whether it is a command but for what a reader fills in: names in capitals, and arguments that
/// are left out where the command is only spoken of.
fn is_right(words: &[String]) -> Result<(), clap::Error> {
    let Err(wrong) = Cli::try_parse_from(words) else { return Ok(()) };
    let blank =
        [ContextKind::InvalidValue, ContextKind::InvalidSubcommand].into_iter().any(|kind| {
            let Some(ContextValue::String(value)) = wrong.get(kind) else { return false };
            value.chars().all(|c| c.is_ascii_uppercase())
        });
    match wrong.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::MissingRequiredArgument
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingSubcommand => Ok(()),
        ErrorKind::InvalidValue | ErrorKind::InvalidSubcommand if blank => Ok(()),
        _ => Err(wrong),
    }
}

#[test]
fn commands_in_the_documentation_are_commands() {
    let root = Path::new(ROOT);
    let top = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let top = top.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let below = ["docs", "papers", "scenarios", "data", "fuzz"];
    let below = below.iter().flat_map(|folder| pages(&root.join(folder)));
    let mut count = 0;
    for page in top.chain(below) {
        for words in commands(&page) {
            count += 1;
            if let Err(wrong) = is_right(&words) {
                panic!("{}: {words:?}\n{wrong}", page.display());
            }
            let is_ours = |word: &&String| {
                ["scenarios/", "papers/"].iter().any(|folder| word.starts_with(folder))
                    && !word.contains("NAME")
            };
            for file in words.iter().filter(is_ours) {
                assert!(root.join(file).exists(), "{}: no {file}", page.display());
            }
        }
    }
    assert!(count > 50, "{count} commands found");
}

#[test]
fn words_are_those_of_a_shell() {
    let line = "ratewire run a.toml --why 's1->d1@12s' --set \"link.a b.rate=1\" # which?";
    let split = ["ratewire", "run", "a.toml", "--why", "s1->d1@12s", "--set", "link.a b.rate=1"];
    assert_eq!(words(line), split);
    assert!(is_right(&words("ratewire run a.toml --lw xcp")).is_err());
    assert!(is_right(&words("ratewire rnu a.toml")).is_err());
    assert!(is_right(&words("ratewire explain LAW")).is_ok());
}
