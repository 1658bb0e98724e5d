//! The verdict on each law, and the claims of the scenario.

use ratewire_table::clip;

use super::groups::{Groups, Mode};
use super::text::{capital, escape, name};
use crate::figure::{NONE, count, held, percent};
use crate::figures::{FIGURES, Reading};
use crate::headline::{bottleneck_label_of, over_classes, over_several};
use crate::table::bound_of;
use crate::{CheckedExpectation, Headline, LeftOut, Run};

/// Claims shown on the page.
const CLAIMS: usize = 300;

/// One card a law, and the laws that could not run.
pub(super) fn cards(runs: &[Run], groups: &Groups, left_out: &[LeftOut]) -> String {
    let mut out = String::from("<section aria-labelledby=\"h-verdict\">");
    out.push_str("<h2 id=\"h-verdict\">Verdict</h2>\n<div class=\"cards\">\n");
    for (run, headline) in Headline::of_all(runs).iter().enumerate() {
        let (class, group) = match groups.of_run(run) {
            Some(g) => (format!("card hue{}", groups.list[g].hue), format!(" data-g=\"{g}\"")),
            None => ("card".into(), String::new()),
        };
        let law = match groups.mode {
            Mode::Mixed => groups.laws().collect::<Vec<_>>().join(", "),
            _ => headline.law.clone(),
        };
        let reading = Reading { summary: &runs[run].summary, headline };
        out.push_str(&card(reading, &law, &class, &group));
    }
    out.push_str("</div>\n");
    for left in left_out {
        let (law, world, why) = (name(&left.law), left.world, escape(&left.why));
        out.push_str(&format!(
            "<p class=\"note\">{law} could not run in the world {world}: {why}</p>\n"
        ));
    }
    let several = over_several(runs);
    let over = match runs.first().and_then(|run| run.summary.measured_from_s) {
        Some(_) => "the measured part of the run",
        None => "the whole run",
    };
    let classes = match over_classes(runs) {
        "" => String::new(),
        about => format!(" {}.", capital(about)),
    };
    out.push_str(&format!(
        "<p class=\"note\">Utilisation and queue are those of <b>{}</b>, over {over}{several}. \
         Fairness is Jain’s index of the rates at which the long flows’ data arrived, over their max-min \
         fair rates: 1 means fair shares. \
         Drops count every link.{classes}</p></section>\n",
        escape(&clip(&bottleneck_label_of(runs), 300))
    ));
    out
}

fn card(reading: Reading<'_>, law: &str, class: &str, group: &str) -> String {
    let h = reading.headline;
    let part = h.utilisation.filter(|u| u.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
    let shown = FIGURES.iter().filter(|figure| (figure.is_shown)(h));
    let rows = shown.filter_map(|figure| Some((figure.card?, (figure.text)(reading)))).map(
        |((label, unit), text)| {
            let unit = if text == NONE { "" } else { unit };
            format!("<div><dt>{label}</dt><dd>{text} <small>{unit}</small></dd></div>")
        },
    );
    let rows: String = rows.collect();
    format!(
        "<article class=\"{class}\"{group}><h3>{}</h3>\
         <p class=\"big\">{} <small>utilisation</small></p>\
         <div class=\"bar\" aria-hidden=\"true\"><i style=\"width:{:.1}%\"></i></div>\
         <dl>{rows}</dl></article>\n",
        name(law),
        percent(h.utilisation.unwrap_or(f64::NAN)),
        part * 100.0,
    )
}

/// The claims of the scenario beside measured values; empty without claims.
pub(super) fn expectations(list: &[CheckedExpectation]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let passed = list.iter().filter(|e| e.passed).count();
    let mut out = format!(
        "<section aria-labelledby=\"h-claims\"><h2 id=\"h-claims\">Expected and measured</h2>\n\
         <p class=\"note\">{}.</p>\n<div class=\"scroll\"><table>\n\
         <thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\">Law</th>\
         <th scope=\"col\">Claim</th><th scope=\"col\">Measured</th><th scope=\"col\">Bound</th>\
         <th scope=\"col\">Source</th></tr></thead>\n<tbody>\n",
        held(passed, list.len())
    );
    // Failures first: readers look for them.
    let failed = list.iter().filter(|e| !e.passed);
    for e in failed.chain(list.iter().filter(|e| e.passed)).take(CLAIMS) {
        let verdict = if e.passed {
            "<span class=\"pass\">✓ pass</span>"
        } else {
            "<span class=\"fail\">✗ fail</span>"
        };
        let long = |text: &str| escape(&ratewire_table::clip(text, 300));
        out.push_str(&format!(
            "<tr><td>{verdict}</td><td>{}</td><td class=\"wrap\">{}</td><td>{}</td><td>{}</td>\
             <td class=\"wrap\">{}</td></tr>\n",
            name(&e.run(list)),
            long(&e.claim),
            name(&e.measured),
            name(&bound_of(e)),
            long(e.source.as_deref().unwrap_or(""))
        ));
    }
    out.push_str("</tbody></table></div>\n");
    if list.len() > CLAIMS {
        let rest = count((list.len() - CLAIMS) as u64);
        out.push_str(&format!("<p class=\"note\">… and {rest} more.</p>\n"));
    }
    out + "</section>\n"
}
