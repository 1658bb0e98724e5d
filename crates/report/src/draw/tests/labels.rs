//! Sizes of figures, and labels that neither touch nor leave the figure.

use super::*;
use crate::draw::text::text_width;

/// Sizes of letters that papers have.
const LETTERS: [f64; 4] = [5.0, 8.0, 11.0, 14.0];

fn style(letters: f64) -> Style {
    Style { font: Length::points(letters), ..Style::default() }
}

/// Name, left, upper, right and lower edge.
type Area = (String, [f64; 4]);

/// The areas of a drawing's texts.
fn texts(svg: &str, font: f64) -> Vec<Area> {
    let xml = roxmltree::Document::parse(svg).expect("XML");
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).map_or(0.0, |value| value.parse().expect("a number"))
    };
    let texts = xml.descendants().filter(|node| node.has_tag_name("text"));
    let area = |node: roxmltree::Node<'_, '_>| {
        let text = node.text().unwrap_or_default().to_string();
        let wide = text_width(&text) * font;
        let before = match node.attribute("text-anchor") {
            Some("middle") => wide / 2.0,
            Some("end") => wide,
            _ => 0.0,
        };
        // Digits and letters without descenders, which most labels have.
        let (above, below) = (0.7 * font, 0.0);
        let edges = match node.attribute("transform") {
            Some(turned) => {
                let at = turned.trim_start_matches("translate(").split(')').next().unwrap();
                let (x, y) = at.split_once(' ').expect("two numbers");
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                [x - above, y + before - wide, x + below, y + before]
            }
            None => {
                let (x, y) = (number(&node, "x"), number(&node, "y"));
                [x - before, y - above, x - before + wide, y + below]
            }
        };
        (text, edges)
    };
    texts.map(area).collect()
}

fn check(figure: &Figure, style: &Style) {
    let font = style.font.in_points();
    let svg = figure.svg(style);
    let xml = roxmltree::Document::parse(&svg).expect("XML");
    let side = |name: &str| -> f64 {
        let side = xml.root_element().attribute(name).expect("a side");
        side.trim_end_matches("pt").parse().expect("points")
    };
    let (width, height) = (side("width"), side("height"));
    let all = texts(&svg, font);
    assert!(all.len() > 3, "{}", figure.name);
    for (i, (text, [left, top, right, bottom])) in all.iter().enumerate() {
        let is_inside = *left > -0.1 && *top > -0.1 && *right < width + 0.1 && *bottom < height;
        assert!(is_inside, "{} at {font}: {text:?} is cut: {:?}", figure.name, all[i].1);
        for (other, [l, t, r, b]) in &all[i + 1..] {
            let touch = *left < *r && *l < *right && *top < *b && *t < *bottom;
            assert!(!touch, "{} at {font}: {text:?} touches {other:?}", figure.name);
        }
    }
}

#[test]
fn labels_neither_touch_nor_leave_a_narrow_figure() {
    let long = ["a-law-with-a-long-name-and-options", "xcp", "another-law-with-a-long-name"];
    let pages = [
        figures(&["xcp"], 1),
        figures(&["xcp", "cubic", "newreno"], 2),
        figures(&long, 5),
        compared(&["xcp", "cubic", "newreno", "bbr3", "dctcp", "hpcc"]),
        compared(&long),
        swept(&long[..2]),
    ];
    let mut drawn = 0;
    for page in &pages {
        for listed in page.list() {
            for panels in [Panels::One, Panels::Each] {
                let figure = page.figure(&listed.name, panels).expect("a figure");
                for letters in LETTERS {
                    for log in [None, Some(true)] {
                        let y = AxisChoice { log, ..AxisChoice::default() };
                        let choice = Choice { panels, y, ..Choice::default() };
                        let Ok(chosen) = page.choose(&listed.name, &choice) else { continue };
                        check(&chosen.figure, &style(letters));
                        drawn += 1;
                    }
                }
                let figure_of = |low, high| Figure {
                    y: FigureAxis { low, high, ..figure.y.clone() },
                    ..figure.clone()
                };
                if figure.y.names.is_empty() && !figure.y.log {
                    check(&figure_of(0.0, 1_234_567.0), &style(14.0));
                    check(&figure_of(0.0, 0.000_012), &style(14.0));
                }
            }
        }
    }
    assert!(drawn > 300, "{drawn}");
}

#[test]
fn rings_at_the_edge_do_not_touch_labels() {
    let mut figure = figures(&["xcp"], 1).figure("queue", Panels::One).expect("a figure");
    let points = vec![(0.0, Some(100.0))];
    let claimed = FigureSeries { kind: SeriesKind::Claimed, points, ..FigureSeries::default() };
    figure.panels[0].series.push(claimed);
    for letters in LETTERS {
        let svg = figure.svg(&style(letters));
        let xml = roxmltree::Document::parse(&svg).expect("XML");
        let number = |name: &str| -> f64 {
            let ring = xml.descendants().find(|node| node.has_tag_name("circle")).expect("a ring");
            ring.attribute(name).expect("a number").parse().expect("a number")
        };
        let (x, y, reach) =
            (number("cx"), number("cy"), number("r") + number("stroke-width") / 2.0);
        let labels = texts(&svg, letters);
        let (_, [_, top, right, bottom]) =
            labels.iter().find(|one| one.0 == "100").expect("a tick");
        assert!(*top < y && y < *bottom, "beside the ring");
        assert!(*right < x - reach, "{letters}: {right} {x}");
    }
}

#[test]
fn axis_titles_stay_below_the_legend() {
    let many: Vec<String> = (0..8).map(|i| format!("law-{i}-of-eight")).collect();
    let figures = figures(&many.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    for letters in LETTERS {
        let figure = figures.figure("throughput", Panels::One).expect("a figure");
        let long = "Throughput of all flows together, mean over 140 ms";
        let y = FigureAxis { title: long.into(), ..figure.y.clone() };
        let figure = Figure { y, ..figure };
        let all = texts(&figure.svg(&style(letters)), letters);
        let lowest = all.iter().filter(|(text, _)| text.starts_with("law-")).map(|one| one.1[3]);
        let lowest = lowest.fold(0.0, f64::max);
        let upright = all.iter().filter(|(_, [left, _, right, _])| right - left < letters);
        let title = upright.filter(|(text, _)| long.contains(text.as_str()) && text.len() > 3);
        let tops: Vec<f64> = title.map(|one| one.1[1]).collect();
        assert!(!tops.is_empty() && tops.iter().all(|top| *top >= lowest), "{tops:?} {lowest}");
    }
}

#[test]
fn a_figure_has_the_size_that_is_chosen() {
    let pages = [figures(&["xcp", "cubic"], 3), swept(&["xcp", "cubic"])];
    for figures in &pages {
        for listed in figures.list() {
            let figure = figures.figure(&listed.name, Panels::Auto).expect("a figure");
            let style = Style {
                width: Some(Length::inches(5.0)),
                height: Some(Length::inches(4.0)),
                font: Length::points(9.5),
                ..Style::default()
            };
            let svg = figure.svg(&style);
            let head = "width=\"360pt\" height=\"288pt\" viewBox=\"0 0 360 288\"";
            assert!(svg.contains(head), "{}: {}", listed.name, &svg[..200]);
            assert!(svg.contains("font-size=\"9.5\""));
            check(&figure, &style);
        }
    }
    let figure = pages[0].figure("queue", Panels::Auto).expect("a figure");
    let wrong = |style: &Style| figure.bytes(Format::Svg, style).expect_err("no room").to_string();
    let low = Style { height: Some(Length::inches(0.7)), ..Style::default() };
    assert_eq!(
        wrong(&low),
        "queue has no room in 50.4 pt of height with letters of 8 pt; allowed: height from 1.1in, or \
         smaller letters"
    );
    let enough = Style { height: Some(Length::inches(1.1)), ..Style::default() };
    assert!(figure.bytes(Format::Svg, &enough).is_ok());
    let narrow = Style { width: Some(Length::inches(0.5)), ..Style::default() };
    assert!(wrong(&narrow).contains("36 pt of width with letters of 8 pt; allowed: width from"));
    let tiny = Style { font: Length::points(1.0), ..Style::default() };
    assert_eq!(wrong(&tiny), "letters cannot be 1 pt high; allowed: 3pt to 72pt");
    assert!(figure.bytes(Format::Csv, &tiny).is_ok(), "a table has no letters");
}

#[cfg(feature = "images")]
#[test]
fn pictures_have_the_size_that_is_chosen() {
    let figure = figures(&["xcp"], 1).figure("queue", Panels::Auto).expect("a figure");
    let sides = |width, height| Style {
        width: Some(Length::inches(width)),
        height: Some(Length::inches(height)),
        ..Style::default()
    };
    let png = figure.bytes(Format::Png, &sides(4.0, 2.0)).expect("a PNG");
    assert!(png[16..20] == 2400_u32.to_be_bytes() && png[20..24] == 1200_u32.to_be_bytes());
    let pdf = figure.bytes(Format::Pdf, &sides(4.0, 2.0)).expect("a PDF");
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.contains("[0 0 288 144]"), "{}", &text[..text.len().min(600)]);
    let large = figure.bytes(Format::Png, &sides(40.0, 40.0)).expect_err("too large").to_string();
    assert!(large.contains("would have too many dots; write an SVG or a PDF"), "{large}");
    assert!(figure.bytes(Format::Pdf, &sides(40.0, 40.0)).is_ok());
}
