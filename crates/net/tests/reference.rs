//! Holds `docs/reference/disciplines.md` to the registry.

use ratewire_testing::hold_first_cells;

const PAGE: &str = include_str!("../../../docs/reference/disciplines.md");

#[test]
fn the_documentation_lists_every_discipline() {
    let names: Vec<&str> = ratewire_net::queue::list().iter().map(|info| info.name).collect();
    hold_first_cells(
        "docs/reference/disciplines.md",
        PAGE,
        "| discipline | what it does | source |",
        &names,
    );
}
