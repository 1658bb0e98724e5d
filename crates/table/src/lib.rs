//! Text in columns, as wide as a terminal.
//!
//! ```
//! use ratewire_table::{Column, Grid, Heading, Style};
//!
//! let mut grid = Grid::new(vec![Column::text("link"), Column::number("queue")]);
//! grid.row(["access", "9"]);
//! grid.row(["core", "120"]);
//! let style = Style { heading: Heading::Plain, ..Style::default() };
//! assert_eq!(grid.render(&style), "link    queue\naccess      9\ncore      120\n");
//! ```

mod clip;
mod grid;
mod style;
mod wrap;

pub use clip::clip;
pub use grid::{Column, Grid};
pub use style::{Heading, Style};
pub use wrap::wrap;
