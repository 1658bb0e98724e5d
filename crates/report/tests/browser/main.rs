//! The page in a real browser: its script runs to the end and draws all plots, whatever ran.
//!
//! Skipped with a message where there is no Chromium. Set `RATEWIRE_REQUIRE_TOOLS=1` to fail
//! instead, `RATEWIRE_CHROMIUM` to choose the program.

mod media;

use std::path::Path;
use std::process::Command;

use ratewire_report::Plot;
use ratewire_report::draw::{Columns, Figures, Panels, Style};
use ratewire_report::html::papers::{self, FigureSection, Panel, PaperSection};
use ratewire_report::{
    Answer, Collector, Comparison, Completion, FlowInfo, FlowRow, LinkInfo, LinkRow, LinkSummary,
    MeasuredRun, NodeInfo, Page, Run, RunInfo, Summary, Sweep, SweepAxis, SweepGatherer,
    SweepValue, Topology, html,
};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

fn run(law: &str, flows: u32, links: u32, ticks: u64, value: f64) -> Run {
    run_of(law, flows, links, ticks, |_| value)
}

fn run_of(law: &str, flows: u32, links: u32, ticks: u64, value: impl Fn(u64) -> f64) -> Run {
    let nodes = ["a", "b"].map(|n| NodeInfo { name: n.into(), ..NodeInfo::default() });
    let link = |i| LinkInfo {
        name: format!("l{i}"),
        to: 1,
        rate: Rate::from_mbps(1),
        ..Default::default()
    };
    let flow = |i| FlowInfo { name: format!("f{i}"), law: law.into(), ..FlowInfo::default() };
    let info = RunInfo {
        law: law.into(),
        duration: Duration::from_millis(10 * ticks),
        topology: Topology { nodes: nodes.into(), links: (0..links).map(link).collect() },
        flows: (0..flows).map(flow).collect(),
        ..RunInfo::default()
    };
    let mut collector = Collector::new(&info);
    for tick in 1..=ticks {
        let (at, interval) =
            (Time::ZERO + Duration::from_millis(10 * tick), Duration::from_millis(10));
        for flow in 0..flows {
            collector.flow(&FlowRow {
                at,
                interval,
                flow,
                goodput: Throughput::new(value(tick)),
                cwnd: Bytes::new(3000),
                srtt: Duration::from_millis(20),
                ..FlowRow::default()
            });
        }
        for flow in 0..flows {
            collector.answer(Answer { flow, sent: at, ..Answer::default() });
        }
        for link in 0..links {
            let utilisation = value(tick);
            collector.link(&LinkRow { at, interval, link, utilisation, ..Default::default() });
        }
    }
    Run { summary: Summary::of(&info), collected: collector.finish(), info }
}

/// A run without listed flows, whose page draws the throughput of all arriving flows together.
fn arriving() -> Run {
    let mut run = run("xcp", 0, 1, 3, 0.5);
    let mut collector = Collector::new(&run.info);
    let interval = Duration::from_millis(10);
    collector.add(Time::ZERO + interval, interval, Throughput::new(1e6));
    run.collected.all_flows = collector.finish().all_flows;
    run
}

fn chromium() -> Option<String> {
    let named = std::env::var("RATEWIRE_CHROMIUM").into_iter();
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(String::from);
    let found = named.chain(usual).find(|program| {
        Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
    });
    let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
    assert!(found.is_some() || !required, "no Chromium, and RATEWIRE_REQUIRE_TOOLS is 1");
    found
}

/// The page as its scripts have left it.
fn dom(chromium: &str, folder: &Path, html: &str) -> String {
    dom_at(chromium, folder, html, 800)
}

/// As [`dom`], in a window of this width.
fn dom_at(chromium: &str, folder: &Path, html: &str, width: u32) -> String {
    let file = folder.join("page.html");
    std::fs::write(&file, html).unwrap();
    let out = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--window-size={width},800"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// How many plots the page's script drew; `None` when it did not run to its end.
fn plots(chromium: &str, folder: &Path, html: &str) -> Option<u32> {
    let dom = dom(chromium, folder, html);
    let (_, rest) = dom.split_once("data-plots=\"")?;
    rest.split_once('"')?.0.parse().ok()
}

#[test]
fn the_script_draws_what_there_is() {
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let laws =
        |n: usize| -> Vec<Run> { (0..n).map(|i| run(&format!("law{i}"), 3, 2, 30, 0.5)).collect() };
    let arriving = arriving();
    let cases: [(&str, Vec<Run>, u32); 8] = [
        // Throughput, window, round-trip time; queue, utilisation; nothing was dropped.
        ("one law", vec![run("xcp", 3, 2, 30, 0.5)], 5),
        // More than three lines: a plot a law of throughput, window and round-trip time.
        ("three laws", laws(3), 11),
        ("more laws than colours", laws(18), 90),
        ("one sample", vec![run("xcp", 1, 1, 1, 0.5)], 5),
        // No throughput of single flows, no utilisation; the total counts NaN as 0.
        ("not a number", vec![run("xcp", 1, 1, 3, f64::NAN)], 4),
        ("no flows", vec![run("xcp", 0, 1, 3, 0.5)], 2),
        ("flows that arrive", vec![arriving], 3),
        ("nothing", vec![run("xcp", 0, 0, 0, 0.5)], 0),
    ];
    for (what, runs, expected) in cases {
        let page = html::render(&Page::new(runs));
        assert_eq!(plots(&chromium, &folder, &page), Some(expected), "{what}");
    }
    // Panels draw when they come near the window: here the first of many.
    let panel = || Panel {
        title: "a scenario".into(),
        runs: laws(2),
        plots: vec![Plot::named("throughput").unwrap(), Plot::named("queue").unwrap()],
        links: vec!["l1".into()],
        apart: true,
    };
    let figure = FigureSection {
        id: "Figure 1".into(),
        title: String::new(),
        caption: String::new(),
        note: None,
        panels: (0..30).map(|_| panel()).collect(),
        sweeps: Vec::new(),
        real_time: Vec::new(),
        claims: Vec::new(),
    };
    let paper = PaperSection {
        title: String::new(),
        authors: String::new(),
        summary: String::new(),
        figures: vec![figure],
    };
    let drawn = plots(&chromium, &folder, &papers::render(&[paper])).expect("the script's end");
    // Two laws apart, two quantities: four a panel, and far fewer than all.
    assert!(drawn > 0 && drawn.is_multiple_of(4) && drawn < 60, "{drawn}");
    let page = Page::new(laws(3));
    let summaries = page.runs.iter().map(|r| (r.info.law.clone(), vec![r.summary.clone()]));
    let comparison = Comparison::of(&summaries.collect::<Vec<_>>(), true);
    let comparison = html::render_comparison(&comparison, &page);
    assert_eq!(plots(&chromium, &folder, &comparison), Some(11), "a comparison");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Where a flow delivers nothing, the answer is from a packet of another time, and says so.
#[test]
fn a_silent_flow_is_distinguished_from_one_that_sends() {
    const LAST_MOMENT: &str = "<script>addEventListener('load', () => setTimeout(() => \
        document.querySelector('[role=slider]').dispatchEvent(new KeyboardEvent('keydown', { key: 'End' })), \
        500))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-silent-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let silent =
        " delivered nothing at 295 ms; its last packet that was followed, sent at 0 ms was";
    let over = " completed at 200 ms and has sent no data since; its packet sent at 0 ms was";
    for (goodput, completion_s, says) in [
        (0.0, None, silent),
        (0.0, Some(0.2), over),
        (0.5, Some(0.31), " at 0 ms is"),
        (0.5, None, " at 0 ms is"),
    ] {
        let mut run = run("xcp", 1, 1, 30, goodput);
        let by = "the application".to_string();
        run.collected.answers = vec![Answer { by, ..Answer::default() }];
        run.summary.flows[0].completion_s = completion_s;
        let page = html::render(&Page::new(vec![run])).replace("</body>", LAST_MOMENT);
        let dom = dom(&chromium, &folder, &page);
        let (_, said) = dom.split_once("<b>f0</b>").expect("the panel");
        let said_first = said.split('<').next().unwrap_or_default();
        assert_eq!(said_first, format!("{says} bound by "));
        assert!(said.contains("bound by <b>the application"), "{said}");
    }
    // A flow that sends in every fifth sample is not silent in between.
    let mut run = run_of("xcp", 1, 1, 602, |tick| if tick % 5 == 0 { 0.5 } else { 0.0 });
    run.collected.answers = vec![Answer::default()];
    let page = html::render(&Page::new(vec![run])).replace("</body>", LAST_MOMENT);
    let dom = dom(&chromium, &folder, &page);
    assert!(dom.contains("<b>f0</b> at 0 s is bound by "), "{dom}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A moving mean is of the nine points around each: a step is at its time, half way up.
#[test]
fn a_moving_mean_is_centred() {
    const READ_ROUND_3_S: &str = "<script>addEventListener('load', () => setTimeout(() => { \
        const keys = ['Home', ...Array(29).fill('PageDown'), ...Array(9).fill('ArrowRight')]; \
        const press = (key) => document.querySelector('[role=slider]').dispatchEvent(new KeyboardEvent('keydown', { key })); \
        const shown = () => document.querySelector('[role=slider]').getAttribute('aria-valuetext'); \
        const read = (keys) => { keys.forEach(press); return shown(); }; \
        document.title = [read(keys), read(['ArrowRight']), read(['PageDown'])].join('; '); \
        }, 500))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-mean-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let late = run_of("xcp", 1, 1, 600, |tick| {
        if tick > 300 {
            900.0 /* B/s */
        } else {
            0.0
        }
    });
    let page = html::render(&Page::new(vec![late])).replace("</body>", READ_ROUND_3_S);
    let dom = dom(&chromium, &folder, &page);
    let (_, title) = dom.split_once("<title>").expect("a title");
    let wanted = "2.995 s, f0, 3.2 kbit/s; 3.005 s, f0, 4 kbit/s; 3.105 s, f0, 7.2 kbit/s</title>";
    assert!(title.starts_with(wanted), "{}", &title[..120]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What the buttons of a page save is what [`draw`] makes of the page, to the byte.
#[test]
fn buttons_save_the_figures_of_the_page() {
    const PRESS: &str = "<script>addEventListener('load', () => setTimeout(async () => { \
        const data = JSON.parse(document.getElementById('data').textContent); \
        const plots = data.plots.filter((plot) => plot.name !== 'sampled' || data.smooth > 1); \
        const figures = plots.map((plot) => timedFigure(data, plot, 0, 'auto', () => true)); \
        for (const script of document.querySelectorAll('script.figure')) figures.push(JSON.parse(script.textContent)); \
        const drawn = figures.filter(Boolean).map((figure) => [figure.name, \
          drawFigure(figure, paperStyle(1, false)), drawFigure(figure, paperStyle(2, true)), figureCsv(figure)]); \
        const files = {}; let count = 0; \
        window.Blob = class { constructor([part], { type }) { Object.assign(this, { part, type }); } }; \
        URL.createObjectURL = (blob) => (files.last = blob.type === 'image/png' ? [...blob.part.slice(0, 4)] : blob.part, '#'); \
        const all = new Promise((done) => { HTMLAnchorElement.prototype.click = function () { \
          files[this.download] = files.last; if (++count === 3) done(); }; }); \
        for (const button of document.querySelector('.save').children) button.click(); \
        await all; \
        const out = document.createElement('pre'); \
        out.id = 'out'; \
        out.textContent = encodeURIComponent(JSON.stringify({ drawn, files })); \
        document.body.append(out); }, 200))</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-save-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let of = |law: &str, flows| {
        let mut run = run_of(law, flows, 2, 90, |tick| 1e5 + tick as f64 * 7.3);
        run.collected.completions = (1..40)
            .map(|i| Completion {
                law: law.into(),
                size: Bytes::new(i * 1700),
                took: Duration::from_millis(i),
                ..Completion::default()
            })
            .collect();
        run.collected.completions_total = 39;
        run
    };
    for runs in [vec![of("xcp", 2)], vec![of("xcp", 3), of("a <&> b", 3)]] {
        let page = html::render(&Page::new(runs));
        let figures = Figures::read(&page).expect("figures");
        let dom = dom(&chromium, &folder, &page.replace("</body>", PRESS));
        let (_, out) = dom.split_once("<pre id=\"out\">").expect("the script's end");
        let text = decoded(out.split('<').next().unwrap());
        let out: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let drawn = out["drawn"].as_array().expect("figures");
        let names: Vec<&str> = drawn.iter().filter_map(|one| one[0].as_str()).collect();
        let listed = figures.list();
        assert!(listed.iter().all(|one| names.contains(&one.name.as_str())), "{names:?}");
        assert!(names.contains(&"completion-size") && names.contains(&"queue"));
        let (one, two) =
            (Style::default(), Style { columns: Columns::Two, serif: true, ..Style::default() });
        for drawn in drawn {
            let figure = figures.figure(drawn[0].as_str().unwrap(), Panels::Auto).expect("it");
            assert_eq!(drawn[1], figure.svg(&one));
            assert_eq!(drawn[2], figure.svg(&two));
            assert_eq!(drawn[3], figure.csv());
        }
        let figure = figures.figure("throughput", Panels::Auto).expect("it");
        let files = &out["files"];
        assert_eq!(files["throughput.svg"], figure.svg(&one));
        assert_eq!(files["throughput.csv"], figure.csv());
        assert_eq!(files["throughput.png"], serde_json::json!([0x89, b'P', b'N', b'G']));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A text that `encodeURIComponent` has written.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// A sweep of two laws over two seeds, three rates and two disciplines.
fn swept() -> Sweep {
    let axis = |key: &str, values: &[(&str, Option<f64>)]| SweepAxis {
        key: key.into(),
        values: values
            .iter()
            .map(|(text, n)| SweepValue { text: text.to_string(), number: *n })
            .collect(),
        ..SweepAxis::default()
    };
    let rates = axis("rate", &[("1M", Some(1e6)), ("10M", Some(1e7)), ("100M", Some(1e8))]);
    let axes = vec![rates, axis("queue", &[("red", None), ("pie", None)])];
    let laws = vec!["xcp".into(), "cubic".into()];
    let mut gatherer = SweepGatherer::new(axes, laws, vec![1, 2]);
    for (rate, queue, law) in (0..12).map(|n| (n / 4, n / 2 % 2, n % 2)) {
        for seed in 1..=2 {
            let utilisation = 0.5 + 0.01 * seed as f64;
            let link = LinkSummary { bottleneck: true, utilisation, ..LinkSummary::default() };
            let summary = Summary { seed, links: vec![link], ..Summary::default() };
            gatherer.add(MeasuredRun { point: vec![rate, queue], law, summary });
        }
    }
    gatherer.finish()
}

/// The page of a sweep draws what is chosen: any figure over any parameter, and both ways up.
#[test]
fn a_sweep_is_drawn_over_the_parameters_that_are_chosen() {
    const CHOOSE: &str = "<script>addEventListener('load', () => { \
        const choose = (box, at, value) => { \
          const select = document.querySelectorAll('#' + box + ' select')[at]; \
          select.value = value; select.dispatchEvent(new Event('change')); }; \
        const drawn = (box) => document.querySelector('#' + box + ' [role=img]').getAttribute('aria-label'); \
        const count = (what) => document.querySelectorAll(what).length; \
        const before = drawn('lines'); \
        choose('lines', 1, 1); choose('map', 1, 1); choose('map', 2, 1); \
        document.title = [before, drawn('lines'), count('#lines .plot path title'), count('#lines .save button'), \
          document.querySelector('#lines .plot path title').textContent, \
          drawn('map'), count('#map rect title')].join('; '); })</script></body>";
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ratewire-sweep-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = html::render_sweep(&swept(), &[], "");
    // A heat map is drawn by the script as by `ratewire plot`, to the byte.
    let figures = Figures::read(&page).expect("figures");
    let map = figures.figure("map/utilisation", Panels::Auto).expect("a map");
    let json = serde_json::to_string(&map).expect("JSON").replace('<', "\\u003c");
    let draw = format!(
        "<script>document.title = encodeURIComponent(drawFigure({json}, paperStyle(1, false)) + '|' + figureCsv({json}))\
         </script></body>"
    );
    let drawn = dom(&chromium, &folder, &page.replace("</body>", &draw));
    let (_, drawn) = drawn.split_once("<title>").expect("a title");
    let drawn = decoded(drawn.split('<').next().unwrap_or_default());
    assert_eq!(drawn, map.svg(&Style::default()) + "|" + &map.csv());
    let dom = dom(&chromium, &folder, &page.replace("</body>", CHOOSE));
    let (_, title) = dom.split_once("<title>").expect("a title");
    let wanted = "Utilisation against rate; Utilisation against queue; 4; 3; \
                  xcp, queue red: 51.5 ± 6.4 %; \
                  Utilisation under cubic by queue and rate; 6</title>";
    assert!(title.starts_with(wanted), "{}", title.split('<').next().unwrap_or_default());
    std::fs::remove_dir_all(&folder).unwrap();
}
