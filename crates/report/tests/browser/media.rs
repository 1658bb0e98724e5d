//! Pages on phones and on paper.

use ratewire_report::html::papers::{self, FigureSection, Line, Panel, PaperSection, SweepPlot};
use ratewire_report::{Comparison, LinkSummary, Page, Plot, Summary, html};

use super::{chromium, decoded, dom_at, run, swept};

/// A comparison of twelve laws over three seeds.
fn comparison_of_many() -> String {
    let laws: Vec<String> = (0..12).map(|i| format!("law{i}")).collect();
    let page = Page::new(laws.iter().map(|law| run(law, 3, 2, 30, 0.5)).collect());
    let summary = |law: usize, seed: usize| {
        let utilisation = 0.5 + 0.02 * law as f64 + 0.01 * (seed * law % 5) as f64;
        let link = LinkSummary { bottleneck: true, utilisation, ..LinkSummary::default() };
        Summary { seed: seed as u64, links: vec![link], ..page.runs[law].summary.clone() }
    };
    let all = laws.iter().enumerate();
    let all = all.map(|(at, law)| (law.clone(), (1..=3).map(|seed| summary(at, seed)).collect()));
    html::render_comparison(&Comparison::of(&all.collect::<Vec<_>>(), true), &page)
}

/// A phone shows a comparison of many laws in a third of what all of it takes, and nothing is cut.
#[test]
fn a_phone_folds_all_but_the_first_of_alike_figures() {
    const LOOK: &str = "<script>addEventListener('load', () => setTimeout(() => { \
        const page = document.documentElement; \
        const heights = () => page.scrollHeight; \
        const out = { beyond: page.scrollWidth - page.clientWidth, plots: [+page.dataset.plots], heights: [heights()] }; \
        const folded = document.querySelectorAll('.folded'); \
        out.folded = folded.length; \
        for (const one of folded) one.querySelector('figcaption, h2').click(); \
        for (const one of document.querySelectorAll('main details')) one.open = true; \
        out.plots.push(+page.dataset.plots); out.heights.push(heights()); \
        document.title = encodeURIComponent(JSON.stringify(out)); }, 500))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-phone-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = comparison_of_many().replace("</body>", LOOK);
    let read = |width| {
        let dom = dom_at(&chromium, &folder, &page, width);
        let (_, title) = dom.split_once("<title>").expect("a title");
        let text = decoded(title.split('<').next().unwrap_or_default());
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let out = read(390);
    assert_eq!(out["beyond"], 0, "nothing is beyond the edge: {out}");
    assert!(out["folded"].as_u64() > Some(6), "{out}");
    let [short, long] = [0, 1].map(|at| out["heights"][at].as_f64().expect("a height"));
    assert!(short < long / 3.0, "{out}");
    // Figures that are folded are drawn when they are asked for.
    assert_eq!(out["plots"], serde_json::json!([12, 60]), "{out}");
    // The same page in a wide window draws all at once.
    assert_eq!(read(1280)["plots"], serde_json::json!([60, 60]));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Paper has nothing folded, light colours, and figures of its own width.
#[test]
fn paper_has_nothing_folded_and_figures_of_its_width() {
    const PRINT: &str = "<script>addEventListener('load', () => setTimeout(() => { \
        const closed = () => document.querySelectorAll('details:not([open], .asked)').length; \
        const tables = [...document.querySelectorAll('details.asked')]; \
        const asked = () => tables.length > 0 && tables.every((one) => !one.open); \
        const light = () => document.documentElement.classList.contains('printing'); \
        const width = () => +(document.querySelector('.plot svg, .drawn svg')?.getAttribute('width') ?? 0); \
        const plots = () => +document.documentElement.dataset.plots; \
        const look = () => [closed() > 0, light(), width(), plots(), asked()]; \
        const out = [look()]; \
        dispatchEvent(new Event('beforeprint')); out.push(look()); \
        dispatchEvent(new Event('afterprint')); out.push(look()); \
        document.title = encodeURIComponent(JSON.stringify(out)); }, 500))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-print-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let look = |page: &str, width| {
        let dom = dom_at(&chromium, &folder, &page.replace("</body>", PRINT), width);
        let (_, title) = dom.split_once("<title>").expect("a title");
        decoded(title.split('<').next().unwrap_or_default())
    };
    let phone: serde_json::Value =
        serde_json::from_str(&look(&comparison_of_many(), 390)).expect("JSON");
    assert_eq!(phone[1][4], true, "tables that take pages stay as they are: {phone}");
    assert_eq!([&phone[0][3], &phone[1][3], &phone[2][3]], [12, 60, 12], "{phone}");
    let sweep: serde_json::Value =
        serde_json::from_str(&look(&html::render_sweep(&swept(), &[], "law = 'xcp'"), 1280))
            .expect("JSON");
    assert_eq!([&sweep[0][0], &sweep[1][0], &sweep[2][0]], [true, false, true], "{sweep}");
    assert_eq!([&sweep[0][1], &sweep[1][1], &sweep[2][1]], [false, true, false], "{sweep}");
    assert_eq!(sweep[1][2], 650, "{sweep}");
    assert!(sweep[0][2].as_f64() > Some(1000.0) && sweep[2][2] == sweep[0][2], "{sweep}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What lies below the window of a page of papers is drawn for paper too, and as wide as that.
#[test]
fn papers_are_printed_with_all_their_figures() {
    const PRINT: &str = "<script>addEventListener('load', () => setTimeout(async () => { \
        const plots = () => +document.documentElement.dataset.plots; \
        const widths = (what) => [...document.querySelectorAll(what)].map((one) => one.clientWidth || +one.getAttribute('width')); \
        const out = { before: plots() }; \
        dispatchEvent(new Event('beforeprint')); \
        /* Plots take their sizes in a microtask. */ \
        await null; \
        Object.assign(out, { after: plots(), canvas: Math.max(...widths('.u-wrap')), svg: widths('.drawn .plot svg') }); \
        document.title = encodeURIComponent(JSON.stringify(out)); }, 500))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-papers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let panel = || Panel {
        title: "a scenario".into(),
        runs: vec![run("xcp", 3, 2, 30, 0.5)],
        plots: vec![Plot::named("queue").unwrap(), Plot::named("utilisation").unwrap()],
        links: vec!["l1".into()],
        apart: false,
    };
    let figure = FigureSection {
        id: "Figure 1".into(),
        title: String::new(),
        caption: String::new(),
        note: None,
        panels: (0..12).map(|_| panel()).collect(),
        sweeps: vec![SweepPlot {
            title: "utilisation".into(),
            over: "capacity".into(),
            logarithmic: false,
            unit: "share",
            lines: vec![Line { law: "xcp".into(), points: vec![(1.0, 0.5), (2.0, 0.7)] }],
            claimed: vec![(1.0, 0.5)],
        }],
        real_time: Vec::new(),
        claims: Vec::new(),
    };
    let paper = PaperSection {
        title: String::new(),
        authors: String::new(),
        summary: String::new(),
        figures: vec![figure],
    };
    let page = papers::render(&[paper]).replace("</body>", PRINT);
    let dom = dom_at(&chromium, &folder, &page, 1280);
    let (_, title) = dom.split_once("<title>").expect("a title");
    let text = decoded(title.split('<').next().unwrap_or_default());
    let out: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(out["before"].as_u64() < Some(24) && out["after"] == 24, "{out}");
    assert!(out["canvas"].as_f64() <= Some(650.0), "{out}");
    let width = out["svg"][0].as_f64();
    assert!(width == Some(312.0) || width == Some(650.0), "{out}");
    std::fs::remove_dir_all(&folder).unwrap();
}
