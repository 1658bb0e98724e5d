//! Commands that the documentation shows, for tests that they are commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Pages below a folder, at any depth.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
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

/// Command lines of the programs in code, of lines or within them. TOML has none: there `ratewire`
/// is the library.
fn commands(text: &str) -> Vec<Vec<String>> {
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
        let name = words.get(at)?;
        let built = ["target/release/", "target/dist/"].iter().find_map(|at| name.strip_prefix(at));
        let name = built.unwrap_or(name);
        let is_own = name == "ratewire" || name.starts_with("ratewire-");
        is_own.then(|| [&[name.to_string()], &words[at + 1..]].concat())
    });
    own.collect()
}

/// Whether it is a command but for what a reader fills in: names in capitals, and arguments that
/// are left out where the command is only spoken of.
fn check(root: &Command, words: &[String]) -> Result<(), clap::Error> {
    let Err(wrong) = root.clone().try_get_matches_from(words) else { return Ok(()) };
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

/// Commands of a program in the pages below `repository`.
#[derive(Debug)]
pub struct Documented {
    /// Number of commands.
    pub count: usize,
    /// What is wrong with commands, each with its page.
    pub mistakes: Vec<String>,
}

/// Reads all pages of a repository for commands of the program that `root` defines. The command
/// `ratewire NAME` is also one of the program `ratewire-NAME`.
pub fn commands_of(root: &Command, repository: &Path) -> Documented {
    let top = fs::read_dir(repository).into_iter().flatten().flatten().map(|entry| entry.path());
    let top = top.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let below = ["docs", "papers", "scenarios", "data", "fuzz"];
    let below = below.iter().flat_map(|folder| pages(&repository.join(folder)));
    let mut found = Documented { count: 0, mistakes: Vec::new() };
    for page in top.chain(below) {
        let text = fs::read_to_string(&page).unwrap_or_default();
        for words in commands(&text).into_iter().filter_map(|words| of_program(root, words)) {
            found.count += 1;
            let page = page.display();
            if let Err(wrong) = check(root, &words) {
                found.mistakes.push(format!("{page}: {words:?}\n{wrong}"));
            }
            let is_ours = |word: &&String| {
                ["scenarios/", "papers/"].iter().any(|folder| word.starts_with(folder))
                    && !word.contains("NAME")
            };
            let files = words.iter().filter(is_ours);
            let missing = files.filter(|file| !repository.join(file).exists());
            found.mistakes.extend(missing.map(|file| format!("{page}: no {file}")));
        }
    }
    found
}

/// The words of a command as the program that `root` defines takes them; `None` for the command of
/// another program.
fn of_program(root: &Command, words: Vec<String>) -> Option<Vec<String>> {
    let name = root.get_name();
    if words[0] == name {
        return Some(words);
    }
    let own = name.strip_prefix("ratewire-")?;
    let is_own = words[0] == "ratewire" && words.get(1).is_some_and(|word| word == own);
    is_own.then(|| [&[name.to_string()], &words[2..]].concat())
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn root(name: &'static str) -> Command {
        let law = Arg::new("law").long("law").num_args(1);
        let run = Command::new("run").arg(law).arg(Arg::new("file").required(true));
        let explain = Command::new("explain").arg(Arg::new("law").value_parser(["xcp", "rcp"]));
        Command::new(name).subcommands([run, explain])
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let line = "ratewire run a.toml --why 's1->d1@12s' --set \"link.a b.rate=1\" # which?";
        let split =
            ["ratewire", "run", "a.toml", "--why", "s1->d1@12s", "--set", "link.a b.rate=1"];
        assert_eq!(words(line), split);
    }

    #[test]
    fn mistakes_are_found_and_blanks_are_none() {
        let is_right = |line: &str| check(&root("ratewire"), &words(line)).is_ok();
        assert!(is_right("ratewire run a.toml --law xcp") && is_right("ratewire explain LAW"));
        assert!(is_right("ratewire run"), "a command that is spoken of");
        assert!(!is_right("ratewire run a.toml --lw xcp") && !is_right("ratewire rnu a.toml"));
    }

    #[test]
    fn a_command_is_its_programs() {
        let page = "See `ratewire-groups run a` and `ratewire groups run b`.\n\n    \
                    sudo target/release/ratewire-groups run c\n    ratewire run d\n";
        let all = commands(page);
        assert_eq!(all.len(), 4, "{all:?}");
        let of =
            |name| all.iter().filter(|w| of_program(&root(name), w.to_vec()).is_some()).count();
        assert_eq!((of("ratewire-groups"), of("ratewire-switch"), of("ratewire")), (3, 0, 2));
    }
}
