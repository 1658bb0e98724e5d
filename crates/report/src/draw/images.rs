//! PDF and PNG of a figure, made of its SVG with a font of our own: they look the same on any
//! machine. A PNG has the same bytes; the order of a PDF's resources varies.

use std::sync::{Arc, OnceLock};

use resvg::{tiny_skia, usvg};
use usvg::fontdb;

use super::{Error, Figure, Style};

const SANS: &[u8] = include_bytes!("../../fonts/LiberationSans-Regular.ttf");
const SERIF: &[u8] = include_bytes!("../../fonts/LiberationSerif-Regular.ttf");
/// Names of the two fonts.
const FAMILIES: [&str; 2] = ["Liberation Sans", "Liberation Serif"];

/// Points in an inch.
const INCH: f32 = 72.0;
/// Dots in an inch of a PNG: what journals ask of line drawings.
const DOTS: f32 = 600.0;

/// Most dots of a PNG: one of 27 by 27 inches, which takes a gigabyte of memory.
const MOST_DOTS: u64 = 1 << 28;

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(SANS)));
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(SERIF)));
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// The drawing, whose unit is a point.
fn tree(figure: &Figure, style: &Style) -> Result<usvg::Tree, Error> {
    let options = usvg::Options {
        font_family: FAMILIES[usize::from(style.serif)].to_string(),
        fontdb: fonts(),
        dpi: INCH,
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(&figure.svg(style), &options);
    tree.map_err(|e| Error::Image(e.to_string()))
}

pub(super) fn pdf(figure: &Figure, style: &Style) -> Result<Vec<u8>, Error> {
    let tree = tree(figure, style)?;
    let page = svg2pdf::PageOptions { dpi: INCH };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
        .map_err(|e| Error::Image(e.to_string()))
}

pub(super) fn png(figure: &Figure, style: &Style) -> Result<Vec<u8>, Error> {
    let tree = tree(figure, style)?;
    let scale = DOTS / INCH;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|side| (side * scale).round() as u32);
    let few = u64::from(width) * u64::from(height) <= MOST_DOTS;
    let pixmap = few.then(|| tiny_skia::Pixmap::new(width, height)).flatten();
    let mut pixmap = pixmap.ok_or_else(|| {
        let why = "a PNG of 600 dots an inch would have too many dots; write an SVG or a PDF, or \
                   choose a smaller size";
        Error::Image(why.into())
    })?;
    pixmap.fill(tiny_skia::Color::WHITE);
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| Error::Image(e.to_string()))
}
