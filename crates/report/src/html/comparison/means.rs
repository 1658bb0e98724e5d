//! Drawings of metrics: dots with their intervals on a scale.

use ratewire_statistics::Significance;
use ratewire_table::clip;

use super::{capital, long_title, tag};
use crate::compare::{About, Better, FigureUnit, LawMetric, Metric, Standing, shown};
use crate::draw::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind, fitting};
use crate::html::drawn;
use crate::html::groups::Groups;
use crate::html::text::{coordinate, escape, name};

/// Beyond this ratio of the largest to the smallest value a scale is logarithmic.
const WIDE: f64 = 40.0;
/// Most laws whose differences fit half of a printed page.
const FEW: usize = 4;
/// Most seeds of a law whose values are marked.
const SEEDS: usize = 50;

/// One drawing a metric; empty without metrics.
pub(super) fn section<'a>(
    id: &str,
    heading: &str,
    note: &str,
    figures: impl Iterator<Item = &'a Metric>,
    groups: &Groups,
) -> String {
    let cards: String = figures.map(|figure| card(figure, groups)).collect();
    if cards.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{heading}</h2>\n<p class=\"note\">{}</p>\n\
         <div class=\"pair\">\n{cards}</div></section>\n",
        escape(note)
    )
}

/// A metric under every law: a dot and its interval on a common scale. A table of the differences
/// between laws can be opened below.
fn card(figure: &Metric, groups: &Groups) -> String {
    let scale = Scale::of(figure);
    let mut rows = String::new();
    for (i, law) in figure.laws.iter().enumerate() {
        let mark = match law.standing {
            Standing::Best => "<span class=\"pass\">best</span>",
            Standing::WithinNoise => "<span title=\"within noise of the best\">≈</span>",
            Standing::Worse | Standing::Unknown | Standing::Unranked => "",
        };
        rows.push_str(&format!(
            "<tr {}><th scope=\"row\">{}</th><td class=\"track\">{}</td><td class=\"n\"><span>{}</span></td>\
             <td>{mark}</td></tr>\n",
            tag(groups, i),
            name(&law.law),
            scale.draw(law, figure.unit),
            escape(&law.text(figure.unit)).replace(" (", "</span> <span>("),
        ));
    }
    let better = match figure.better {
        Better::More => "more is better",
        Better::Less => "less is better",
        Better::Neither => "not ranked",
    };
    let unit = match figure.unit {
        FigureUnit::Packets => "packets, ",
        FigureUnit::Ratio => "times as long, ",
        FigureUnit::Share
        | FigureUnit::Index
        | FigureUnit::Count
        | FigureUnit::Seconds
        | FigureUnit::Rate
        | FigureUnit::Power => "",
    };
    let title = escape(&clip(&figure.title, 60));
    let title = if matches!(figure.about, About::Chosen | About::Run | About::Flows) {
        capital(&title)
    } else {
        title
    };
    format!(
        "<figure class=\"means{}\"><figcaption><h3>{title}</h3><span>{unit}{better}{}</span></figcaption>\n\
         <table><tbody>\n{rows}{}</tbody></table>\n{}{}</figure>\n",
        if figure.laws.len() > FEW { " many" } else { "" },
        if scale.is_log { ", log scale" } else { "" },
        scale.ends(figure.unit),
        differences(figure),
        drawn::element(&for_paper(figure, &scale, groups))
    )
}

/// The values of a law's seeds, where it has no interval that tells how far they lie apart.
fn seeds(law: &LawMetric) -> Vec<f64> {
    let is_shown = law.range.is_some() || law.mean.is_none();
    law.values.iter().flatten().copied().filter(|_| is_shown).collect()
}

/// A metric as a figure: laws side by side, each with its interval, or its seeds.
fn for_paper(metric: &Metric, scale: &Scale, groups: &Groups) -> Figure {
    let ends = |law: &LawMetric| {
        let around = law.mean.map(|mean| (mean, law.margin.unwrap_or(0.0)));
        let around = around.into_iter().flat_map(|(mean, margin)| [mean - margin, mean + margin]);
        around.chain(seeds(law)).collect::<Vec<f64>>()
    };
    let ends = || metric.laws.iter().flat_map(ends);
    let (unit, size) = fitting(metric.unit, ends().fold(0.0, f64::max));
    let title = long_title(metric).trim_end_matches(" (packets)").to_string();
    let values = ends().map(|value| value / size);
    let y = match scale.is_log {
        true => FigureAxis::around(&title, unit, values),
        false => FigureAxis::from_zero(&title, unit, values),
    };
    let series = metric.laws.iter().enumerate().flat_map(|(i, law)| {
        let group = groups.list.get(i);
        let series = |part: &str, kind, values: Vec<Option<f64>>| FigureSeries {
            name: clip(&law.law, 80),
            part: part.into(),
            g: i as i64,
            hue: group.map_or(-1, |group| group.hue as i64),
            mark: group.map_or(i, |group| group.mark),
            kind,
            points: values
                .iter()
                .map(|value| (i as f64, value.map(|value| value / size)))
                .collect(),
            ..FigureSeries::default()
        };
        let dots = seeds(law).into_iter().map(Some).collect::<Vec<_>>();
        let dots = Some(dots).filter(|dots| !dots.is_empty());
        let dots = dots.map(|dots| series("seeds", SeriesKind::Dots, dots));
        let margins = law.margin.map(|margin| Some(margin / size)).into_iter().collect();
        let mean = FigureSeries { margins, ..series("", SeriesKind::Marks, vec![law.mean]) };
        dots.into_iter().chain([mean])
    });
    let names = metric.laws.iter().map(|law| clip(&law.law, 80)).collect();
    Figure {
        name: format!("laws/{}", metric.name),
        title: format!("{title} by law"),
        detail: String::new(),
        x: FigureAxis::of_names("Law", names),
        y,
        scale: None,
        marks: Vec::new(),
        apart_by: String::new(),
        panels: vec![FigurePanel { title: String::new(), series: series.collect() }],
    }
}

/// Differences between laws; empty if none is known.
fn differences(figure: &Metric) -> String {
    if figure.differences.is_empty() {
        return String::new();
    }
    let head = |law: &LawMetric| format!("<th scope=\"col\" class=\"n\">− {}</th>", name(&law.law));
    // Paper has a table of many laws only if it was open on the screen.
    let class = if figure.laws.len() > FEW { " class=\"asked\"" } else { "" };
    let mut out = format!(
        "<details{class}><summary>Differences</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Differences of {}\"><table><thead><tr><th></th>{}</tr></thead>\n<tbody>\n",
        escape(&clip(&figure.title, 60)),
        figure.laws.iter().map(head).collect::<String>()
    );
    for a in &figure.laws {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", name(&a.law)));
        for b in &figure.laws {
            let cell = figure.difference(&a.law, &b.law).map(|d| match d.significance {
                Significance::Same => "<td class=\"n noise\">0</td>".to_string(),
                Significance::WithinNoise => {
                    format!("<td class=\"n noise\">≈ {}</td>", shown(figure.unit, d.by, d.margin))
                }
                Significance::Differs => {
                    format!("<td class=\"n\">{}</td>", shown(figure.unit, d.by, d.margin))
                }
            });
            out.push_str(&cell.unwrap_or_else(|| "<td class=\"n\"></td>".into()));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div>\n<p class=\"note\">Row less column, paired by seed; ≈ is within noise.\
           </p></details>\n"
}

/// The scale of a drawing, between two ends.
struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    /// The scale around the intervals of all laws: from 0 if 0 is near, logarithmic if values
    /// differ much.
    fn of(figure: &Metric) -> Scale {
        let spans = || figure.laws.iter().filter_map(|law| law.span(figure.unit));
        let values = || figure.laws.iter().flat_map(|law| &law.values).flatten().copied();
        let ends = || spans().flatten().chain(values());
        let low = ends().fold(f64::INFINITY, f64::min);
        let high = ends().fold(f64::NEG_INFINITY, f64::max);
        if low > 0.0 && high / low > WIDE {
            return Scale { low, high, is_log: true };
        }
        let low = if low < 0.4 * high { 0.0 } else { low };
        Scale { low, high, is_log: false }
    }

    /// Position of a value, in percent of the scale; the middle if all values are the same.
    fn percent(&self, value: f64) -> f64 {
        if self.low >= self.high {
            return 50.0;
        }
        let part = if self.is_log {
            libm::log(value.max(self.low) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        100.0 * part.clamp(0.0, 1.0)
    }

    /// The mean, its interval or range, and the values of the seeds if there are several.
    fn draw(&self, law: &LawMetric, unit: FigureUnit) -> String {
        let at = |value| coordinate(self.percent(value), 2);
        let (Some(mean), Some([low, high])) = (law.mean, law.span(unit)) else {
            return String::new();
        };
        let mut out = String::from("<div>");
        if low < high {
            let width = coordinate(self.percent(high) - self.percent(low), 2);
            out += &format!("<i class=\"bar\" style=\"left:{}%;width:{width}%\"></i>", at(low));
            let seeds = law.values.iter().flatten().take(SEEDS);
            seeds.for_each(|value| {
                out += &format!("<i class=\"seed\" style=\"left:{}%\"></i>", at(*value));
            });
        }
        out + &format!("<i class=\"dot\" style=\"left:{}%\"></i></div>", at(mean))
    }

    /// Labels of the ends; empty if all values are the same.
    fn ends(&self, unit: FigureUnit) -> String {
        if self.low >= self.high {
            return String::new();
        }
        format!(
            "<tr class=\"ends\"><td></td><td><div><span>{}</span><span>{}</span></div></td><td></td>\
             <td></td></tr>\n",
            escape(&shown(unit, self.low, None)),
            escape(&shown(unit, self.high, None))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(means: &[(f64, Option<f64>)]) -> Scale {
        let law = |(mean, margin): &(f64, Option<f64>)| LawMetric {
            law: String::new(),
            values: Vec::new(),
            mean: Some(*mean),
            margin: *margin,
            range: None,
            standing: Standing::Unknown,
        };
        Scale::of(&Metric {
            name: String::new(),
            title: String::new(),
            about: About::Run,
            unit: FigureUnit::Packets,
            better: Better::Less,
            laws: means.iter().map(law).collect(),
            differences: Vec::new(),
        })
    }

    #[test]
    fn scales_hold_every_interval() {
        let near = scale(&[(90.0, Some(5.0)), (99.0, None)]);
        assert_eq!(
            (near.percent(85.0), near.percent(92.0), near.percent(99.0)),
            (0.0, 50.0, 100.0)
        );
        // No value is below 0, so an interval ends there.
        let from_zero = scale(&[(10.0, Some(12.0)), (50.0, None)]);
        assert_eq!((from_zero.low, from_zero.percent(25.0)), (0.0, 50.0));
        let wide = scale(&[(0.5, None), (5000.0, None)]);
        assert!(wide.is_log && (wide.percent(50.0) - 50.0).abs() < 1e-9);
        let law = LawMetric {
            law: String::new(),
            values: vec![Some(5.0), Some(500.0)],
            mean: Some(50.0),
            margin: None,
            range: Some([5.0, 500.0]),
            standing: Standing::Unknown,
        };
        assert_eq!(
            wide.draw(&law, FigureUnit::Packets),
            "<div><i class=\"bar\" style=\"left:25%;width:50%\"></i>\
             <i class=\"seed\" style=\"left:25%\"></i><i class=\"seed\" style=\"left:75%\"></i>\
             <i class=\"dot\" style=\"left:50%\"></i></div>"
        );
    }

    #[test]
    fn maxima_are_drawn_with_their_seeds_and_means_with_their_interval() {
        let law = |values: &[Option<f64>], mean, margin, range| LawMetric {
            law: "xcp".into(),
            values: values.to_vec(),
            mean,
            margin,
            range,
            standing: Standing::Unknown,
        };
        let (low, high) = (Some(1e-3), Some(3e-3));
        let metric = Metric {
            name: "rtt_p99_s".into(),
            title: "RTT p99".into(),
            about: About::Flows,
            unit: FigureUnit::Seconds,
            better: Better::Less,
            laws: vec![
                law(&[low, high], Some(2e-3), None, Some([1e-3, 3e-3])),
                law(&[low, high], Some(2e-3), Some(5e-4), None),
                // A mean over the seeds that have a value would flatter the law.
                law(&[high, None], None, None, None),
            ],
            differences: Vec::new(),
        };
        let figure = for_paper(&metric, &Scale::of(&metric), &Groups::of(&[]));
        let read = |series: &FigureSeries| {
            let values: Vec<Option<f64>> = series.points.iter().map(|point| point.1).collect();
            (series.kind, values, series.margins.clone())
        };
        let drawn: Vec<_> = figure.panels[0].series.iter().map(read).collect();
        let expected = [
            (SeriesKind::Dots, vec![Some(1.0), Some(3.0)], vec![]),
            (SeriesKind::Marks, vec![Some(2.0)], vec![]),
            (SeriesKind::Marks, vec![Some(2.0)], vec![Some(0.5)]),
            (SeriesKind::Dots, vec![Some(3.0)], vec![]),
            (SeriesKind::Marks, vec![None], vec![]),
        ];
        assert_eq!(drawn, expected);
        assert!(figure.y.high > 3.0);
    }

    #[test]
    fn equal_values_lie_in_the_middle_of_no_scale() {
        for all in [&[(8.0, None), (8.0, None)][..], &[(0.0, None)], &[]] {
            assert_eq!(
                (scale(all).percent(8.0), scale(all).ends(FigureUnit::Packets)),
                (50.0, "".into())
            );
        }
    }
}
