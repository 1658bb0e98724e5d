//! Formats of a figure's file.

use std::path::Path;

use super::{Error, Figure, Style};

/// Format of a figure's file, by the extension of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A drawing of lines, as web pages have it.
    Svg,
    /// A drawing of lines with its font, as papers include it.
    Pdf,
    /// A picture of 600 dots an inch.
    Png,
    /// The points, one a row.
    Csv,
}

impl Format {
    /// All formats with their extensions.
    const ALL: [(Format, &str); 4] =
        [(Format::Svg, "svg"), (Format::Pdf, "pdf"), (Format::Png, "png"), (Format::Csv, "csv")];

    /// The format that the extension of `path` names.
    ///
    /// # Errors
    /// [`Error::Format`] if no format has the extension.
    pub fn of(path: &Path) -> Result<Format, Error> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let known = Format::ALL.into_iter().find(|(_, known)| *known == extension);
        known.map(|(format, _)| format).ok_or(Error::Format(extension))
    }
}

impl Figure {
    /// The figure's file in a format.
    ///
    /// # Errors
    /// [`Error::Size`] if the figure has no room in the style's size, [`Error::Image`] if a PDF or
    /// PNG cannot be made, as in a build without the feature `images`.
    pub fn bytes(&self, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
        if format != Format::Csv {
            self.check_room(style)?;
        }
        match format {
            Format::Svg => Ok(self.svg(style).into_bytes()),
            Format::Csv => Ok(self.csv().into_bytes()),
            #[cfg(feature = "images")]
            Format::Pdf => super::images::pdf(self, style),
            #[cfg(feature = "images")]
            Format::Png => super::images::png(self, style),
            #[cfg(not(feature = "images"))]
            Format::Pdf | Format::Png => {
                Err(Error::Image("this build lacks the feature `images`; write an SVG".into()))
            }
        }
    }
}
