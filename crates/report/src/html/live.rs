//! A page whose figures its script fetches from a server, and the figures as the script takes them.

use super::data::{self, Choice, Drawing};
use super::groups::Groups;
use super::text::name;
use super::{
    Page, STYLE, cards, charts, completions, end, head_with, overlay, pills, small_enough, tables,
    toolbar, topology,
};
use crate::headline::labels;
use crate::plots::Plot;

/// The parts of a page whose script fetches figures.
#[derive(Clone, Copy, Debug)]
pub struct LivePage<'a> {
    /// Title of the document.
    pub title: &'a str,
    /// Style, beside that of all pages.
    pub style: &'a str,
    /// HTML of the body, without scripts.
    pub body: &'a str,
    /// Script that fetches the figures. It may call what the script of all pages defines.
    pub script: &'a str,
}

/// The figures of runs, to be put into a page that is open.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// HTML: the verdict, places of the plots, the network and the tables.
    pub body: String,
    /// JSON that the script draws plots from.
    pub data: String,
    /// JSON of the earlier runs, in the units of [`Fragment::data`].
    pub before: Option<String>,
}

impl Fragment {
    /// Bytes of all parts.
    fn len(&self) -> usize {
        let Fragment { body, data, before } = self;
        body.len() + data.len() + before.as_ref().map_or(0, String::len)
    }
}

/// A page whose script may fetch from the page's own server, and from nowhere else.
pub fn render_live(page: &LivePage<'_>) -> String {
    let LivePage { title, style, body, script } = page;
    let style = format!("{STYLE}{style}");
    let end = end();
    let (scripts, last) = end.rsplit_once("</body>").unwrap_or((&end, ""));
    head_with(&name(title), &style, "; connect-src 'self'")
        + body
        + &format!("{scripts}<script>\n\"use strict\";\n{script}</script>\n</body>{last}")
}

/// The figures of a page's runs without the page around them. The lines of the runs of `before`
/// can stay behind those of the page.
///
/// The fragment is as large as a page at most, and is made coarser if need be. The result is `None`
/// once `goes_on` is false, which is asked before each attempt.
pub fn render_fragment(
    page: &Page,
    before: Option<&Page>,
    goes_on: impl Fn() -> bool,
) -> Option<Fragment> {
    let others = before.map_or(&[][..], |page| &page.runs);
    let groups = Groups::of(&page.runs);
    let choice = Choice::beside(&page.runs, others);
    let all: Vec<Plot> = Plot::all().collect();
    let fragment = |halvings| {
        if !goes_on() {
            return None;
        }
        let drawing = Drawing { plots: &all, apart: false, halvings };
        let labels: Vec<String> = labels(&page.runs).iter().map(|label| name(label)).collect();
        let runs = &page.runs;
        // Plots come first: they are what a reader of changing figures looks at.
        let body = [
            format!("<div class=\"pills\">{}</div>\n", pills(page, &labels)),
            toolbar(&groups, &choice),
            charts::plots("Over time", runs, &groups, &choice, halvings),
            cards::cards(runs, &groups, &page.left_out),
            completions::completions(runs, &groups),
            cards::expectations(&page.expectations),
            topology::topology(runs),
            overlay::overlay(runs),
            tables::tables(runs, &groups),
        ]
        .concat();
        let data = data::json(&page.runs, &groups, &choice, &drawing);
        let before = before.map(|before| {
            let choice = Choice::beside(&before.runs, &page.runs);
            data::json(&before.runs, &Groups::of(&before.runs), &choice, &drawing)
        });
        Some(Fragment { body, data, before })
    };
    small_enough(fragment, |made| made.as_ref().map_or(0, Fragment::len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::tests::{info, run};

    #[test]
    fn figures_beside_earlier_ones_have_the_same_units() {
        let of = |rate| Page::new(vec![run(info("xcp", 1, 1), 20, rate)]);
        let [slow, fast] = [1e3, 1e9].map(of);
        let unit = |data: &str| {
            let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
            let plots = data["plots"].as_array().expect("plots").clone();
            let throughput = plots.into_iter().find(|plot| plot["name"] == "throughput");
            throughput.expect("the plot")["unit"].clone()
        };
        let alone = render_fragment(&slow, None, || true).expect("figures");
        assert!(alone.before.is_none() && alone.body.contains("class=\"cards\""));
        let beside = render_fragment(&slow, Some(&fast), || true).expect("figures");
        let before = beside.before.expect("the runs before");
        assert_ne!(unit(&alone.data), unit(&beside.data));
        assert_eq!(unit(&beside.data), unit(&before));
        assert!(render_fragment(&slow, None, || false).is_none());
    }

    #[test]
    fn a_live_page_fetches_from_its_server_alone() {
        let page = LivePage { title: "<b>", style: "", body: "<main></main>", script: "run();" };
        let html = render_live(&page);
        assert!(html.contains("img-src data:; connect-src 'self'"));
        assert!(html.contains("<title>&lt;b&gt;</title>") && html.contains("run();</script>"));
        assert_eq!(html.matches("</body>").count(), 1);
    }
}
