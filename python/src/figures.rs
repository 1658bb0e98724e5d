//! Figures of results, to be drawn.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::units::Time;
use ratewire::{AxisChoice, Choice, Chosen, Columns, Error, Figure, Length, Panels, Style};

use crate::errors::{exception, note};
use crate::quantity::{Quantity, setting};

/// The figures of results.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Figures(pub ratewire::Figures);

/// A length in inches, or text with a unit.
#[derive(FromPyObject)]
enum Side {
    Inches(f64),
    Text(String),
}

impl Side {
    fn length(&self, name: &str) -> Result<Length, Error> {
        match self {
            Side::Inches(inches) => Style::side(&inches.to_string()),
            Side::Text(text) => Style::side(text),
        }
        .map_err(|wrong| setting(name, wrong))
    }
}

/// Size and letters of a figure.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct StyleItems {
    two_columns: bool,
    serif: bool,
    width: Option<Side>,
    height: Option<Side>,
    font_size: f64,
}

impl StyleItems {
    fn style(&self) -> Result<Style, Error> {
        let side = |name, side: &Option<Side>| side.as_ref().map(|s| s.length(name)).transpose();
        let font = Style::letters(&self.font_size.to_string());
        Ok(Style {
            columns: if self.two_columns { Columns::Two } else { Columns::One },
            width: side("width", &self.width)?,
            height: side("height", &self.height)?,
            font: font.map_err(|wrong| setting("font_size", wrong))?,
            serif: self.serif,
        })
    }
}

/// Lines, names, time and axes of a figure.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ChoiceItems {
    panels: String,
    laws: Vec<String>,
    flows: Vec<String>,
    during: Option<(Quantity, Quantity)>,
    names: Vec<(String, String)>,
    x_range: (Option<f64>, Option<f64>),
    y_range: (Option<f64>, Option<f64>),
    x_log: Option<bool>,
    y_log: Option<bool>,
}

impl ChoiceItems {
    fn choice(self) -> Result<Choice, Error> {
        let time = |time: &Quantity| time.time("during").map(|since| Time::ZERO + since);
        let during = match &self.during {
            Some((from, to)) => Some((time(from)?, time(to)?)),
            None => None,
        };
        let panels = match self.panels.as_str() {
            "auto" => Panels::Auto,
            "one" => Panels::One,
            "each" => Panels::Each,
            other => {
                let why = format!("{other:?} is none; allowed: auto, one, each");
                return Err(setting("panels", why));
            }
        };
        let axis = |(low, high), log| AxisChoice { low, high, log };
        Ok(Choice {
            panels,
            laws: self.laws,
            flows: self.flows,
            during,
            names: self.names,
            x: axis(self.x_range, self.x_log),
            y: axis(self.y_range, self.y_log),
        })
    }
}

impl Figures {
    /// The figure as it is chosen, after a warning of what it leaves out.
    fn figure(&self, py: Python<'_>, name: &str, choice: ChoiceItems) -> PyResult<Figure> {
        let chosen = choice.choice().and_then(|choice| self.0.choose(name, &choice));
        let Chosen { figure, notes } = chosen.map_err(|e| exception(py, e))?;
        notes.iter().try_for_each(|text| note(py, text))?;
        Ok(figure)
    }
}

#[pymethods]
impl Figures {
    /// Name, title and unit of each figure.
    fn list(&self) -> Vec<(String, String, String)> {
        let row = |listed: ratewire::Listed| (listed.name, listed.title, listed.unit);
        self.0.list().into_iter().map(row).collect()
    }

    /// What can follow a figure's name and a slash.
    fn parts(&self, name: &str) -> Vec<String> {
        self.0.parts(name)
    }

    /// A figure's axes and series as JSON.
    fn json(&self, py: Python<'_>, name: &str, choice: ChoiceItems) -> PyResult<String> {
        let figure = self.figure(py, name, choice)?;
        // Every key is text, so nothing fails to serialise.
        Ok(serde_json::to_string(&figure).unwrap_or_default())
    }

    /// Writes a figure in the format that the path ends in: svg, pdf, png or csv.
    fn write(
        &self,
        py: Python<'_>,
        name: &str,
        path: PathBuf,
        style: StyleItems,
        choice: ChoiceItems,
    ) -> PyResult<()> {
        let style = style.style().map_err(|e| exception(py, e))?;
        let figure = self.figure(py, name, choice)?;
        py.detach(|| ratewire::Figures::write(&figure, &path, &style)).map_err(|e| exception(py, e))
    }
}
