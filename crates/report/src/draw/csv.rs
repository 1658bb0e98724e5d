//! A figure as CSV: a row a point.

use super::Figure;

/// A number with at most eight significant digits, as the page's script writes it.
fn number(value: f64) -> String {
    let short: f64 = format!("{value:.7e}").parse().unwrap_or(value);
    let size = short.abs();
    if size > 0.0 && !(1e-6..1e21).contains(&size) {
        format!("{short:e}")
    } else {
        short.to_string()
    }
}

/// A cell, in quotes where needed. A spreadsheet takes no cell for a formula.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula { format!("'{text}") } else { text.to_string() };
    let is_plain = !text.contains([',', '"', '\n', '\r']);
    if is_plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

impl Figure {
    /// The points as CSV, one a row: panel, series, both axes with their units, and the half width
    /// of the interval if any point has one. Points beyond a range that was chosen are left out.
    pub fn csv(&self) -> String {
        let all = || self.panels.iter().flat_map(|panel| &panel.series);
        let has_margins = all().any(|series| !series.margins.is_empty());
        let mut head = Vec::new();
        head.extend((!self.apart_by.is_empty()).then(|| cell(&self.apart_by)));
        head.extend(["series".to_string(), cell(&self.x.label()), cell(&self.y.label())]);
        head.extend(has_margins.then(|| cell(&format!("± {}", self.y.label()))));
        head.extend(self.scale.as_ref().map(|scale| cell(&scale.label())));
        let mut out = head.join(",") + "\n";
        for panel in &self.panels {
            for series in &panel.series {
                let shown =
                    series.points.iter().enumerate().filter(|(_, (x, y))| {
                        self.x.shows(*x) && y.is_none_or(|y| self.y.shows(y))
                    });
                for (i, (x, y)) in shown {
                    let mut row = Vec::new();
                    row.extend((!self.apart_by.is_empty()).then(|| cell(&panel.title)));
                    row.push(cell(&series.label()));
                    // Laws at one name of an axis stand beside each other.
                    let named = self.x.names.get(libm::round(*x).max(0.0) as usize);
                    row.push(named.map_or_else(|| number(*x), |name| cell(name)));
                    row.push(match y.map(|y| (y, self.y.names.get(y.max(0.0) as usize))) {
                        Some((_, Some(name))) => cell(name),
                        Some((y, None)) => number(y),
                        None => String::new(),
                    });
                    let margin = series.margins.get(i).copied().flatten();
                    row.extend(has_margins.then(|| margin.map_or_else(String::new, number)));
                    let value = series.values.get(i).copied().flatten();
                    let is_tile = self.scale.is_some();
                    row.extend(is_tile.then(|| value.map_or_else(String::new, number)));
                    out += &(row.join(",") + "\n");
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_numbers_are_safe_and_short() {
        assert_eq!(cell("a,b \"c\""), "\"a,b \"\"c\"\"\"");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(
            [number(0.1 + 0.2), number(1e-7), number(0.0), number(123_456.0)],
            ["0.3", "1e-7", "0", "123456"]
        );
    }
}
