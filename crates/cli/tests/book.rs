//! The documentation: its links, its scenarios, its tables, the keys that it lists, and the manual
//! pages.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use common::{HELLO, err, folder, out, ratewire, write};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Every page that a reader of the repository may meet, by its path from the root.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["docs", "papers", "scenarios", "data", "fuzz"].map(|name| root.join(name)).into();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    let crates = fs::read_dir(root.join("crates")).unwrap();
    entries.extend(crates.map(|e| e.unwrap().path().join("README.md")));
    while let Some(folder) = folders.pop() {
        entries.extend(fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()));
        let inside = entries.drain(..).partition::<Vec<_>, _>(|path| path.is_dir());
        // The root's own folders are listed above.
        folders.extend(inside.0.into_iter().filter(|path| path.parent() != Some(root)));
        found.extend(
            inside.1.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")),
        );
    }
    found.sort();
    found.iter().map(|path| path.strip_prefix(root).unwrap().to_path_buf()).collect()
}

fn read(page: &Path) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|e| panic!("{page:?}: {e}"))
}

/// Lines of text and fenced blocks with the words after their fence, in turn.
fn parts(text: &str) -> (Vec<&str>, Vec<(&str, String)>) {
    let (mut lines, mut blocks): (Vec<&str>, Vec<(&str, String)>) = (Vec::new(), Vec::new());
    let mut is_inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(_) if is_inside => is_inside = false,
            Some(kind) => (is_inside, _) = (true, blocks.push((kind, String::new()))),
            None if is_inside => {
                let block = &mut blocks.last_mut().unwrap().1;
                block.push_str(line);
                block.push('\n');
            }
            None => lines.push(line),
        }
    }
    (lines, blocks)
}

/// Relative links of a page: the file, from the root, and the heading.
fn links(page: &Path) -> Vec<(PathBuf, Option<String>)> {
    let text = read(page);
    let (lines, _) = parts(&text);
    let text = lines.join("\n");
    let targets = text.match_indices("](").map(|(at, _)| text[at + 2..].split(')').next().unwrap());
    let relative = targets.filter(|target| !target.contains("://"));
    let split = relative.map(|target| {
        let (file, heading) =
            target.split_once('#').map_or((target, None), |(file, h)| (file, Some(h.to_string())));
        let file = match file {
            "" => page.to_path_buf(),
            file => page.parent().unwrap().join(file),
        };
        (plain(&file), heading)
    });
    split.collect()
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
        plain
    })
}

/// What a heading is called in links: mdBook and GitHub agree for the headings that are linked.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = read(page);
    let headings = parts(&text).0.into_iter().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars();
        let kept = kept.filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() > 30, "{pages:?}");
    for page in &pages {
        for (file, heading) in links(page) {
            assert!(Path::new(ROOT).join(&file).exists(), "{page:?} links to {file:?}");
            if let Some(heading) = heading {
                assert!(anchors(&file).contains(&heading), "{page:?}: {file:?} has no #{heading}");
            }
        }
    }
}

/// Folders of the root in which readers look for a file that a page names.
const FOLDERS: [&str; 9] =
    ["bpf/", "crates/", "docs/", "fuzz/", "lint/", "papers/", "python/", "scenarios/", "test/"];
/// Files that a page may name although no clone has them.
const MADE: [&str; 2] = ["fuzz/artifacts", "fuzz/found"];

/// Pages that git knows, by their paths from the root; without git, those of [`pages`].
fn all_pages() -> Vec<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "-z", "*.md"]).current_dir(ROOT).output();
    let Some(listed) = listed.ok().filter(|done| done.status.success()) else { return pages() };
    let names = out(&listed);
    let names = names.split_terminator('\0').map(PathBuf::from);
    // A page may be removed and known still.
    names.filter(|page| Path::new(ROOT).join(page).exists()).collect()
}

/// Whether a word of a page is a path of one file or folder.
fn is_path(word: &str) -> bool {
    let stands_for_others = ["NAME", "*", "...", "{"].iter().any(|part| word.contains(part));
    let is_made = MADE.iter().any(|made| Path::new(word).starts_with(made));
    FOLDERS.iter().any(|folder| word.starts_with(folder)) && !stands_for_others && !is_made
}

/// The path without the line of `path:line` and the heading of `path#heading`.
fn file_of(word: &str) -> &str {
    let file = word.split('#').next().unwrap();
    match file.rsplit_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => file,
    }
}

#[test]
fn every_path_that_a_page_names_exists() {
    let mut wrong = Vec::new();
    // The change log names files of earlier releases.
    for page in all_pages().iter().filter(|page| *page != Path::new("CHANGELOG.md")) {
        let text = read(page);
        let text = parts(&text).0.join("\n");
        // A backtick without a second one ends with its paragraph.
        let quoted = text.split("\n\n").flat_map(|text| text.split('`').skip(1).step_by(2));
        let named = quoted.flat_map(str::split_whitespace).filter(|word| is_path(word));
        let missing = named.filter(|word| !Path::new(ROOT).join(file_of(word)).exists());
        wrong.extend(missing.map(|word| format!("{} names {word}", page.display())));
    }
    assert!(wrong.is_empty(), "there is no such file:\n{}", wrong.join("\n"));
}

/// mdBook would turn a link to another page into one to a page that it does not make.
#[test]
fn the_book_has_every_page_that_its_chapters_link_to() {
    let summary = Path::new("docs/SUMMARY.md");
    let chapters: BTreeSet<PathBuf> = links(summary).into_iter().map(|(file, _)| file).collect();
    for chapter in &chapters {
        let linked = links(chapter).into_iter().map(|(file, _)| file);
        let mut linked = linked.filter(|file| file.extension().is_some_and(|e| e == "md"));
        let missing = linked.find(|file| !chapters.contains(file));
        assert_eq!(missing, None, "{chapter:?} links to it");
    }
    let own = pages().into_iter().filter(|page| page.starts_with("docs") && page != summary);
    let forgotten: Vec<PathBuf> = own.filter(|page| !chapters.contains(page)).collect();
    assert!(forgotten.is_empty(), "not in the summary: {forgotten:?}");
}

#[test]
fn the_first_page_links_to_every_chapter() {
    let first: BTreeSet<PathBuf> =
        links(Path::new("docs/README.md")).into_iter().map(|(file, _)| file).collect();
    let parts =
        ["learn", "how-to", "reference", "explain"].map(|part| Path::new("docs").join(part));
    let chapters = links(Path::new("docs/SUMMARY.md")).into_iter().map(|(file, _)| file);
    let own = chapters.filter(|file| parts.iter().any(|part| file.starts_with(part)));
    let missing: Vec<PathBuf> = own.filter(|file| !first.contains(file)).collect();
    assert!(missing.is_empty(), "docs/README.md does not link to {missing:?}");
}

/// Scenarios are whole, or go on below the scenario before them on the page.
#[test]
fn scenarios_in_the_documentation_are_right() {
    // Its snippets are those of the keys, which tests of the scenario crate read.
    let generated = Path::new("docs/reference/scenario.md");
    let folder = folder("snippets");
    let mut count = 0;
    for page in pages().iter().filter(|page| *page != generated) {
        let text = read(page);
        let (mut scenario, mut groups, mut switch) =
            (HELLO.to_string(), String::new(), String::new());
        for (_, block) in parts(&text).1.into_iter().filter(|(kind, _)| *kind == "toml") {
            // Of a paper, and of the manifest of a program.
            if block.contains("[[figure") || block.contains("[dependencies]") {
                block.parse::<toml::Table>().unwrap_or_else(|e| panic!("{page:?}: {e}"));
                continue;
            }
            // Later blocks of such a page add to the file.
            if block.contains("[[daemon]]") || !groups.is_empty() {
                groups += &block;
                ratewire_groups_interface::config::Config::parse(page, &groups)
                    .unwrap_or_else(|e| panic!("{e}"));
                continue;
            }
            if block.contains("[[member]]") || !switch.is_empty() {
                switch += &block;
                ratewire_switch_interface::config::Config::parse(page, &switch)
                    .unwrap_or_else(|e| panic!("{e}"));
                continue;
            }
            match block.contains("[topology]") {
                true => scenario = block,
                false => scenario += &block,
            }
            let missing = [("duration", "\"9 s\""), ("law", "\"newreno\"")]
                .into_iter()
                .filter(|(key, _)| !scenario.lines().any(|line| line.starts_with(key)))
                .map(|(key, value)| format!("{key} = {value}\n"));
            let whole = missing.collect::<String>() + &scenario;
            let data = format!("\"{ROOT}/data/");
            write(&folder, "snippet.toml", &whole.replace("\"../data/", &data));
            let done = ratewire(&folder, &["check", "--syntax", "snippet.toml"]);
            assert_eq!(done.status.code(), Some(0), "{page:?}:\n{}\n{whole}", err(&done));
            count += 1;
        }
    }
    assert!(count >= 6, "{count} scenarios found");
}

/// Keys of `summary.json`, but those of drops, which are reasons.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                if key != "drops" {
                    keys(value, found);
                }
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| keys(entry, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_summary_is_documented() {
    let folder = folder("summary");
    let mice =
        "[[traffic]]\nname = \"mice\"\nsizes = { fixed = \"9 KB\" }\nload = { fraction = 0.1 }\n";
    write(&folder, "mice.toml", &format!("{HELLO}\n{mice}"));
    let mut found = BTreeSet::new();
    for scenario in ["mice.toml", "grid-bulk-transfer.toml", "market-data.toml"] {
        let own = folder.join(scenario);
        let path =
            if own.exists() { own } else { Path::new(ROOT).join("scenarios").join(scenario) };
        let path = path.to_str().unwrap();
        let asked = ["run", path, "--set", "duration=2s", "--no-files", "--quiet", "--json"];
        let done = ratewire(&folder, &asked);
        assert_eq!(done.status.code(), Some(0), "{scenario}: {}", err(&done));
        keys(&serde_json::from_str(&out(&done)).expect("JSON"), &mut found);
    }
    for part in ["traffic", "pausing", "overlay", "settlings", "by_size", "load_link", "overflowed"]
    {
        assert!(found.contains(part), "no run has {part}");
    }
    let text = read(Path::new("docs/reference/summary-json.md"));
    let documented: BTreeSet<&str> = text.split('`').skip(1).step_by(2).collect();
    let missing: Vec<&String> =
        found.iter().filter(|key| !documented.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder("manual");
    assert_eq!(ratewire(&folder, &["generate", "."]).status.code(), Some(0));
    for other in ["ratewire-groups", "ratewire-switch"] {
        let program = ratewire_testing::program_beside(env!("CARGO_BIN_EXE_ratewire"), other);
        let done = Command::new(program).args(["generate", "."]).current_dir(&folder).status();
        assert!(done.expect("it starts").success(), "{other}");
    }
    let pages = folder.join("man");
    let help = out(&ratewire(&folder, &["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // Lines that go on a command's line are indented further.
    let commands = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = commands
        .filter(|line| !line.starts_with(' '))
        .filter_map(|l| l.split(' ').next())
        .collect();
    assert!(commands.contains(&"run") && commands.contains(&"doctor"), "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(pages.join(format!("ratewire-{command}.1")).exists(), "{command}");
    }
    let root = fs::read_to_string(pages.join("ratewire.1")).unwrap();
    assert!(root.contains("EXIT STATUS") && !root.contains("EXTRA"), "{root}");
    for shell in ["ratewire.bash", "_ratewire", "ratewire-groups.fish"] {
        assert!(folder.join("completions").join(shell).exists(), "{shell}");
    }
    assert!(folder.join("book/command-line-switch.md").exists());
    let laws = fs::read_to_string(folder.join("book/laws.md")).unwrap();
    assert!(laws.contains("## `xcp`") && laws.contains("| `aging` |"), "{laws}");
    let disciplines = fs::read_to_string(folder.join("book/disciplines.md")).unwrap();
    assert!(disciplines.contains("## `pie`") && disciplines.contains("| `target` |"));
    let Ok(version) = Command::new("groff").arg("--version").output() else {
        let is_needed = std::env::var_os("RATEWIRE_REQUIRE_TOOLS").is_some();
        assert!(!is_needed, "groff is not installed");
        println!("skipped: pages are not formatted, for groff is not installed");
        return;
    };
    assert!(version.status.success());
    for page in fs::read_dir(pages).unwrap() {
        let page = page.unwrap().path();
        let done = Command::new("groff").args(["-man", "-ww", "-z", "-Tutf8"]).arg(&page).output();
        let done = done.unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{page:?}: {}", err(&done));
    }
}

/// What the tutorial prints of its own scenario is what the program prints.
#[test]
fn the_tutorial_shows_what_the_program_prints() {
    let text = read(Path::new("docs/learn/tutorial.md"));
    let (_, blocks) = parts(&text);
    let folder = folder("tutorial");
    let mut scenario = String::new();
    let (mut command, mut shown) = (None::<Vec<String>>, 0);
    for (kind, block) in blocks {
        match (kind, command.take()) {
            ("toml", _) => {
                scenario += &block;
                write(&folder, "two-sites.toml", &scenario);
            }
            (_, Some(arguments)) => {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let done = ratewire(&folder, &arguments);
                let printed = out(&done);
                for line in block.lines() {
                    assert!(printed.contains(line.trim_end()), "{arguments:?}: {line}\n{printed}");
                }
                shown += 1;
            }
            _ => {
                let own = block.trim().strip_prefix("ratewire ");
                let own = own.filter(|line| line.contains("two-sites.toml"));
                let own = own.filter(|line| !line.contains("--syntax") && !line.contains("--law"));
                command = own.map(|line| line.split(' ').map(str::to_string).collect());
            }
        }
    }
    assert_eq!(shown, 3);
}
