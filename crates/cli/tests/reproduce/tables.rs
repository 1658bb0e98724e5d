//! The tables of `papers/README.md`.

use ratewire::papers::{Paper, PaperFigure, read_all};
use ratewire_scenario::Scenario;

use crate::root;

/// The rows of a table of papers/README.md, each as the texts of its cells.
fn rows(readme: &str, heading: &str) -> Vec<Vec<String>> {
    let section = readme.split("\n## ").find(|section| section.starts_with(heading));
    let section = section.unwrap_or_else(|| panic!("papers/README.md has no section {heading}"));
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = |row: &str| row.trim_matches('|').split('|').map(|c| c.trim().into()).collect();
    rows.map(cells).collect()
}

/// Papers whose prototypes ran: the others only check single laws.
const WHOLE: [&str; 5] = [
    "anypoint-xcp",
    "cost-benefit-multicast",
    "explicit-cc-evaluation",
    "linux-xcp-thesis",
    "network-of-queues",
];

/// Whether emulated hosts can have each law of a scenario.
fn able(scenario: &Scenario) -> Vec<bool> {
    let plans =
        scenario.laws().into_iter().map(|law| scenario.plan(Some(&law), None).expect("a plan"));
    plans.map(|plan| ratewire_emulate::check(&plan.setup).is_ok()).collect()
}

/// How many of a figure's runs, each a law of a scenario, emulated hosts can have.
fn emulated(paper: &Paper, figure: &PaperFigure) -> String {
    let able = figure.scenarios.iter().flat_map(|file| {
        let own = Scenario::load(&paper.folder.join(file)).expect("a scenario");
        able(&figure.emulated(file, &own).expect("the values fit"))
    });
    let able: Vec<bool> = able.collect();
    let (n, all) = (able.iter().filter(|able| **able).count(), able.len());
    match n {
        0 => "-".to_string(),
        n if n == all => format!("all {n}"),
        n => format!("{n} of {all}"),
    }
}

#[test]
fn the_table_of_worlds_has_each_figure_with_what_emulated_hosts_can_have() {
    let readme = std::fs::read_to_string(root().join("papers/README.md")).expect("a page");
    let mut right = Vec::new();
    for paper in read_all(&root().join("papers")).expect("papers") {
        for figure in paper.figures.iter().filter(|_| WHOLE.contains(&paper.name.as_str())) {
            right.push(vec![paper.name.clone(), figure.id.clone(), emulated(&paper, figure)]);
        }
    }
    let text = |rows: &[Vec<String>]| -> String {
        rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect()
    };
    let found = rows(&readme, "Figures in real time");
    assert!(found == right, "the rows in papers/README.md must be\n{}", text(&right));
}

/// Whether a cell of the table of mechanisms names something that runs: a scenario, or a test of a
/// program of tests, `live: NAME`.
fn runs(cell: &str) -> bool {
    let name = cell.trim_matches('`');
    if name.ends_with(".toml") {
        return root().join(name).is_file();
    }
    let Some((folder, test)) = name.split_once(": ") else { return name == "-" };
    let mut folders = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let heading = format!("fn {test}(");
    files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(&heading)))
}

#[test]
fn the_table_of_mechanisms_names_what_runs() {
    let readme = std::fs::read_to_string(root().join("papers/README.md")).expect("a page");
    let rows = rows(&readme, "Mechanisms in three worlds");
    assert!(WHOLE.iter().all(|paper| rows.iter().any(|row| row[0] == *paper)));
    for row in &rows {
        assert_eq!(row.len(), 5, "{row:?}");
        for cell in &row[2..] {
            assert!(runs(cell), "{}, {}: nothing is called {cell}", row[0], row[1]);
        }
        let emulated = row[3].trim_matches('`');
        if emulated.ends_with(".toml") {
            let scenario = Scenario::load(&root().join(emulated)).expect("a scenario");
            assert!(able(&scenario).contains(&true), "{emulated} is not emulated");
        }
    }
    assert!(!runs("`crates/cli/tests/live: no_such_test`") && !runs("`papers/none.toml`"));
}

/// Expectations of each basis, each counted once for each of its laws, as `check` counts.
fn bases(paper: &Paper) -> Vec<usize> {
    let mut counts = vec![0; 5];
    for file in paper.figures.iter().flat_map(|figure| &figure.scenarios) {
        let scenario = Scenario::load(&paper.folder.join(file)).expect("a scenario");
        for expectation in &scenario.expectations {
            let is_of =
                |law: &&String| expectation.laws.is_empty() || expectation.laws.contains(law);
            let laws = scenario.laws();
            counts[expectation.basis as usize] += laws.iter().filter(is_of).count();
        }
    }
    counts
}

#[test]
fn the_table_of_bases_counts_the_expectations_of_each_paper() {
    let readme = std::fs::read_to_string(root().join("papers/README.md")).expect("a page");
    let (_, table) = readme.split_once("\nBasis of the bounds").expect("the table");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).take(11).collect();
    let mut all = vec![0; 5];
    let row = |name: &str, counts: &[usize]| {
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        format!("| {name} | {} |", counts.join(" | "))
    };
    for paper in read_all(&root().join("papers")).expect("papers") {
        let counts = bases(&paper);
        all.iter_mut().zip(&counts).for_each(|(all, count)| *all += count);
        let row = row(&paper.name, &counts);
        assert!(rows.contains(&row.as_str()), "papers/README.md must have {row}");
    }
    let row = row("all", &all);
    assert!(rows.contains(&row.as_str()), "papers/README.md must have {row}");
}
