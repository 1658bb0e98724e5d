//! The page in headless Chromium, as a reader uses it.
//!
//! Chromium is `$RATEWIRE_CHROMIUM`, or `chromium` or `chromium-browser` on the path; without one
//! the tests are skipped, unless `RATEWIRE_REQUIRE_TOOLS` is 1.
#![expect(clippy::disallowed_methods, reason = "a thread stands between browser and server")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ratewire::{Experiment, Sweep};
use ratewire_explore::Subject;
use serde_json::{Value, json};

use crate::client::{HELLO, Served};

/// What a reader's script can use.
const TOOLS: &str = "
const until = (holds) => new Promise((done) => { const look = () => (holds() ? done() : setTimeout(look, 20)); look(); });
const find = (selector) => document.querySelector(selector);
const drawn = (count) => until(() => +document.documentElement.dataset.runs === count);
const control = (path) => document.getElementById('c-' + path)?.parentElement;
const act = (element, value, ...events) => {
  element.value = value;
  for (const name of events) element.dispatchEvent(new Event(name, { bubbles: true }));
};
// A form, as a page that fetches nothing may not do so for a test.
const report = (reported) => {
  const form = document.body.appendChild(document.createElement('form'));
  Object.assign(form, { method: 'POST', action: '/reported', enctype: 'text/plain' });
  Object.assign(form.appendChild(document.createElement('input')), { name: JSON.stringify(reported), value: '' });
  form.submit();
};
const read = (steps) => steps().then(report, (error) => report({ error: String(error.stack) }));
addEventListener('error', (event) => report({ error: event.message }));
addEventListener('unhandledrejection', (event) => report({ error: String(event.reason) }));
";

/// Ends a process that the test has started.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn chromium() -> Option<String> {
    let named = std::env::var("RATEWIRE_CHROMIUM").ok();
    let usual = ["chromium", "chromium-browser"].map(String::from);
    let found = named.into_iter().chain(usual).find(|program| {
        Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
    });
    let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
    assert!(found.is_some() || !required, "no Chromium, and RATEWIRE_REQUIRE_TOOLS is 1");
    if found.is_none() {
        println!("skipped: no Chromium found (set RATEWIRE_CHROMIUM to one)");
    }
    found
}

/// What a script in the page has reported, at the end of its `steps`; `None` without a browser.
fn reported(page: &Served, steps: &'static str) -> Option<Value> {
    let chromium = chromium()?;
    let profile = tempfile::tempdir().expect("a folder");
    let (url, reported) = between(page, steps);
    let child = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1280,900"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(url)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _browser = Ends(child.expect("the browser"));
    // A browser that never draws must not hold the tests for ever.
    let text = reported.recv_timeout(Duration::from_secs(120)).expect("what the page reports");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value.get("error"), None, "{value}");
    Some(value)
}

/// The address of a server that hands everything on to the page's, and adds a script to the page.
fn between(page: &Served, steps: &'static str) -> (String, Receiver<String>) {
    let (host, token) = page.parts();
    let (host, (sender, receiver)) = (host.to_string(), channel());
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let own = socket.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in socket.incoming().flatten() {
            let (host, sender) = (host.clone(), sender.clone());
            // A browser opens connections ahead that it never uses.
            std::thread::spawn(move || _ = hand_on(stream, &host, steps, &sender));
        }
    });
    (format!("http://{own}/?token={token}"), receiver)
}

fn hand_on(
    mut browser: TcpStream,
    host: &str,
    steps: &str,
    sender: &Sender<String>,
) -> io::Result<()> {
    let (head, body) = request(&mut browser)?;
    if head.starts_with("POST /reported ") {
        // The form's one field is the name of nothing.
        _ = sender.send(body.trim_end().trim_end_matches('=').to_string());
        return browser.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    }
    let is_host = |line: &&str| line.to_ascii_lowercase().starts_with("host:");
    let lines = head.lines().filter(|line| !is_host(line) && !line.is_empty());
    let head: String = lines.map(|line| format!("{line}\r\n")).collect();
    let mut server = TcpStream::connect(host)?;
    write!(server, "{head}Host: {host}\r\n\r\n{body}")?;
    if head.starts_with("GET /?") {
        let mut answer = String::new();
        server.read_to_string(&mut answer)?;
        let (head, html) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let kept = head.lines().filter(|line| !line.starts_with("content-length"));
        let head: Vec<&str> = kept.collect();
        let (html, end) = html.rsplit_once("</body>").unwrap_or((html, ""));
        let script = format!("<script>{{{TOOLS}read(async () => {{{steps}}});}}</script></body>");
        write!(browser, "{}\r\n\r\n{html}{script}{end}", head.join("\r\n"))?;
    } else {
        io::copy(&mut server, &mut browser)?;
    }
    browser.shutdown(Shutdown::Write)
}

/// The head of a request, and its body.
fn request(stream: &mut TcpStream) -> io::Result<(String, String)> {
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        text.extend_from_slice(&bytes[..count]);
        let said = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = said.split_once("\r\n\r\n") else { continue };
        let named = head.lines().filter_map(|line| line.split_once(':'));
        let mut lengths = named.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = lengths.next().and_then(|(_, length)| length.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Ok((head.to_string(), body.to_string()));
        }
    }
}

/// A slider moves, and the figure changes; an invalid value is reported, and the figure stays.
#[test]
fn a_reader_moves_a_slider_and_sees_the_figure_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hello.toml");
    std::fs::write(&file, HELLO).expect("a scenario");
    let page = Served::scenario(&file);
    let steps = "
        const root = document.documentElement;
        const look = () => find('figure.chart canvas').toDataURL();
        const field = () => document.getElementById('c-bottleneck.rate');
        const slider = () => field().parentElement.querySelector('[type=range]');
        await drawn(1);
        const out = { values: [field().value], plots: +root.dataset.plots, before: [root.dataset.before ?? null] };
        const first = look();
        act(slider(), +slider().value - 5, 'input', 'change');
        await drawn(2);
        const second = look();
        out.values.push(field().value);
        out.before.push(+root.dataset.before > 0);
        out.changed = [first !== second];
        out.command = find('.command').textContent;
        act(field(), 'fast', 'change');
        await until(() => !find('.wrong').hidden);
        out.wrong = find('.wrong').textContent;
        out.invalid = field().getAttribute('aria-invalid');
        out.changed.push(second !== look());
        out.toml = find('.toml').textContent.includes('5.6 Mbit/s');
        field().parentElement.querySelector('button').click();
        await drawn(3);
        out.values.push(field().value);
        out.hidden = find('.wrong').hidden;
        const box = [...document.querySelectorAll('.laws input')].find((box) => box.parentElement.textContent === 'xcp');
        box.click();
        await drawn(4);
        out.cards = [...document.querySelectorAll('.card h3')].map((title) => title.textContent);
        act(find('.add input'), 'transport.packet', 'input', 'change');
        await drawn(5);
        out.added = document.getElementById('c-transport.packet').value;
        return out;";
    let Some(out) = reported(&page, steps) else { return };
    let own = Experiment::load(&file).expect("a scenario").set("bottleneck.rate", "fast");
    assert_eq!(out["values"], json!(["10 Mbit/s", "5.6 Mbit/s", "10 Mbit/s"]));
    assert_eq!(out["before"], json!([null, true]));
    assert_eq!(out["changed"], json!([true, false]), "the last figure stays");
    assert!(
        out["command"]
            .as_str()
            .is_some_and(|line| line.ends_with("--set 'bottleneck.rate=5.6 Mbit/s'"))
    );
    assert_eq!(out["wrong"], own.expect_err("an invalid value").to_string());
    assert_eq!((&out["invalid"], &out["hidden"]), (&json!("true"), &json!(true)));
    assert_eq!(out["toml"], true);
    assert_eq!(out["cards"], json!(["newreno", "xcp"]));
    assert_eq!(out["added"], "1500 B");
    assert!(out["plots"].as_u64().is_some_and(|plots| plots > 2), "{out}");
}

/// The page of the first scenario, and what `steps` say of it.
fn report_of_hello(steps: &'static str) -> Option<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hello.toml");
    std::fs::write(&file, HELLO).expect("a scenario");
    reported(&Served::scenario(&file), steps)
}

#[test]
fn letting_go_of_a_slider_runs_nothing_again() {
    let steps = "
        let asked = 0;
        const own = window.fetch;
        window.fetch = (...request) => ((asked += 1), own(...request));
        await drawn(1);
        const slider = () => control('bottleneck.rate').querySelector('[type=range]');
        const out = [asked];
        act(slider(), +slider().value - 5, 'input');
        await drawn(2);
        out.push(asked);
        // A request begins within the event.
        act(slider(), slider().value, 'change');
        out.push(asked);
        // Letting go before the slider has rested asks at once, and only once.
        act(slider(), +slider().value - 1, 'input', 'change');
        out.push(asked);
        await drawn(3);
        act(control('duration').querySelector('input'), '3 s', 'change');
        await drawn(4);
        out.push(asked);
        return { asked: out };";
    let Some(out) = report_of_hello(steps) else { return };
    assert_eq!(out["asked"], json!([0, 1, 1, 2, 3]));
}

#[test]
fn a_reader_takes_a_value_back_by_a_button_that_appears() {
    let steps = "
        await drawn(1);
        const button = () => control('bottleneck.rate').querySelector('button');
        const seen = () => button().checkVisibility({ visibilityProperty: true });
        const out = { seen: [seen()] };
        act(control('bottleneck.rate').querySelector('input'), '5 Mbit/s', 'change');
        await drawn(2);
        out.seen.push(seen());
        out.reported = button().getAttribute('aria-label');
        const { width, height, right } = button().getBoundingClientRect();
        out.fits = width >= 24 && height >= 24 && right <= find('aside').getBoundingClientRect().right;
        button().click();
        await drawn(3);
        out.seen.push(seen());
        out.value = control('bottleneck.rate').querySelector('input').value;
        return out;";
    let Some(out) = report_of_hello(steps) else { return };
    assert_eq!(out["seen"], json!([false, true, false]));
    assert_eq!(out["reported"], "bottleneck.rate as the scenario has it");
    assert_eq!((&out["fits"], &out["value"]), (&json!(true), &json!("10 Mbit/s")));
}

#[test]
fn a_reader_adds_a_table_and_takes_it_back() {
    let steps = "
        await drawn(1);
        const paths = () => [...document.querySelectorAll('.control label')].map((label) => label.textContent);
        const of = () => paths().filter((path) => path.includes('loss'));
        const out = { paths: [of()] };
        act(find('.add input'), 'topology.bottleneck.loss={ random = 0.5 }', 'input', 'change');
        await drawn(2);
        out.paths.push(of());
        const slider = control('bottleneck.loss.random').querySelector('[type=range]');
        act(slider, slider.max, 'input', 'change');
        await drawn(3);
        out.most = control('bottleneck.loss.random').querySelector('input').value;
        out.command = find('.command').textContent;
        // The value of the table's key goes back to that of the table, and then the table goes.
        control('bottleneck.loss.random').querySelector('button').click();
        await drawn(4);
        out.own = control('bottleneck.loss.random').querySelector('input').value;
        control('topology.bottleneck.loss').querySelector('button').click();
        await drawn(5);
        out.paths.push(of());
        out.wrong = find('.wrong').hidden;
        return out;";
    let Some(out) = report_of_hello(steps) else { return };
    let both = ["topology.bottleneck.loss", "bottleneck.loss.random"];
    assert_eq!(out["paths"], json!([[], both, []]));
    assert_eq!((&out["most"], &out["own"]), (&json!("1"), &json!("0.5")));
    let command = out["command"].as_str().expect("a command");
    assert!(
        command.ends_with(
            "--set 'topology.bottleneck.loss={ random = 0.5 }' --set bottleneck.loss.random=1"
        ),
        "{command}"
    );
    assert_eq!(out["wrong"], true);
}

/// Another kind of topology brings its keys along, and going back leaves nothing of it.
#[test]
fn a_reader_changes_the_kind_of_topology() {
    let steps = "
        await drawn(1);
        const kind = () => document.getElementById('c-kind');
        const paths = () => [...document.querySelectorAll('.control label')].map((label) => label.textContent);
        const out = { wrong: [], rates: [] };
        act(kind(), 'parking-lot', 'change');
        await drawn(2);
        out.wrong.push(find('.wrong').hidden);
        out.paths = paths().filter((path) => /hops|bottleneck|pairs/.test(path));
        out.rates.push(control('topology.link.rate').querySelector('input').value);
        out.command = find('.command').textContent;
        act(kind(), 'dumbbell', 'change');
        await drawn(3);
        out.wrong.push(find('.wrong').hidden);
        out.rates.push(control('bottleneck.rate').querySelector('input').value);
        out.end = find('.command').textContent;
        return out;";
    let Some(out) = report_of_hello(steps) else { return };
    assert_eq!(out["wrong"], json!([true, true]), "{out}");
    assert_eq!(out["rates"], json!(["10 Mbit/s", "10 Mbit/s"]), "{out}");
    assert!(out["command"].as_str().is_some_and(|line| line.contains("kind = \"parking-lot\"")));
    assert!(out["end"].as_str().is_some_and(|line| !line.contains("--set")), "{out}");
    assert!(!out["paths"].to_string().contains("bottleneck"), "{out}");
}

/// The run before has the shape of the plot: drops are steps.
#[test]
fn steps_of_the_run_before_are_steps() {
    let steps = "
        const slopes = new Map();
        // Segments of pale lines, by canvas: those that rise or fall at one time, and slopes.
        const context = CanvasRenderingContext2D.prototype;
        let last = null;
        for (const name of ['moveTo', 'lineTo']) {
          const own = context[name];
          context[name] = function (x, y) {
            if (Math.abs(this.globalAlpha - 0.32) < 0.01 && name === 'lineTo') {
              const [steps, sloped] = slopes.get(this.canvas) ?? [0, 0];
              const isSteep = y !== last[1];
              slopes.set(this.canvas, [steps + (isSteep && x === last[0]), sloped + (isSteep && x !== last[0])]);
            }
            last = [x, y];
            return own.call(this, x, y);
          };
        }
        await drawn(1);
        act(control('bottleneck.rate').querySelector('input'), '5 Mbit/s', 'change');
        await drawn(2);
        const of = (word) => {
          const figures = [...document.querySelectorAll('figure.chart')];
          const figure = figures.find((figure) => figure.textContent.toLowerCase().includes(word));
          return slopes.get(figure.querySelector('canvas'));
        };
        return { drops: of('drops'), throughput: of('throughput') };";
    let Some(out) = report_of_hello(steps) else { return };
    assert!(out["drops"][0].as_u64() > Some(0) && out["drops"][1] == 0, "{out}");
    assert!(out["throughput"][1].as_u64() > Some(0), "{out}");
}

#[test]
fn a_reader_reads_that_another_page_took_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hello.toml");
    std::fs::write(&file, HELLO.replace("4 s", "6 h")).expect("a scenario");
    let page = Served::scenario(&file);
    let steps = "
        await until(() => find('.status progress').value > 0);
        const body = { page: 'another', values: [['duration', '1 s']], laws: ['newreno'] };
        const response = await post('/run', { body: JSON.stringify(body) });
        const other = (await response.text()).includes('\"done\"');
        await until(() => find('.stop').disabled);
        return { other, reported: find('.status output').textContent };";
    let Some(out) = reported(&page, steps) else { return };
    assert_eq!(out["other"], true);
    assert!(
        out["reported"].as_str().is_some_and(|text| text.starts_with("another page took over"))
    );
}

#[test]
fn a_reader_stops_a_long_run_and_sees_its_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hello.toml");
    std::fs::write(&file, HELLO.replace("4 s", "6 h")).expect("a scenario");
    let page = Served::scenario(&file);
    let steps = "
        await until(() => find('.status progress').value > 0);
        const reported = find('.status output').textContent;
        find('.stop').click();
        await until(() => document.documentElement.dataset.runs === '1');
        return { reported, partial: find('.pills').textContent, stop: find('.stop').disabled };";
    let Some(out) = reported(&page, steps) else { return };
    assert!(out["reported"].as_str().is_some_and(|text| text.starts_with("running, ")), "{out}");
    assert!(out["partial"].as_str().is_some_and(|text| text.contains("partial")), "{out}");
    assert_eq!(out["stop"], true);
}

#[test]
fn a_reader_moves_through_a_finished_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hello.toml");
    std::fs::write(&file, HELLO).expect("a scenario");
    let sweep = Sweep::of(Experiment::load(&file).expect("a scenario").laws(["xcp", "newreno"]))
        .over("bottleneck.rate", "1M,5M")
        .and_then(|sweep| sweep.over("bottleneck.queue", "0.5bdp,4bdp"))
        .expect("values");
    let results = sweep.run().expect("results");
    let page = Served::subject(Subject::Sweep(Box::new(results.sweep().clone())));
    let steps = "
        const cell = () => find('#point tbody td:nth-of-type(2)').firstChild.textContent;
        const mean = () => [...document.querySelectorAll('#point tbody tr')].find((row) => /queue/.test(row.firstChild.textContent))
          .querySelectorAll('td')[1];
        const out = { pale: [document.querySelectorAll('#lines g[opacity]').length], reported: [mean().textContent] };
        const queue = find('#point [aria-label=\"bottleneck.queue\"]');
        act(queue, 1, 'input');
        out.pale.push(document.querySelectorAll('#lines g[opacity]').length);
        out.reported.push(mean().firstChild.textContent, mean().querySelector('.before').textContent);
        return out;";
    let Some(out) = reported(&page, steps) else { return };
    assert_eq!(out["pale"], json!([0, 2]), "the lines of both laws at the point before");
    assert_ne!(out["reported"][0], out["reported"][1], "{out}");
    assert_eq!(out["reported"][0], out["reported"][2], "{out}");
}
