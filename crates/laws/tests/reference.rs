//! Holds `docs/reference/laws.md` to the registry.

use ratewire_testing::hold_first_cells;

const PAGE: &str = include_str!("../../../docs/reference/laws.md");

#[test]
fn the_documentation_lists_every_law() {
    let names: Vec<&str> = ratewire_laws::list().iter().map(|info| info.name).collect();
    hold_first_cells(
        "docs/reference/laws.md",
        PAGE,
        "| law | how a sender learns its rate |",
        &names,
    );
}
