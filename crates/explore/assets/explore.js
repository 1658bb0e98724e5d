// The page of a scenario: a change runs it again, and the run before stays behind the new one.
const start = JSON.parse(document.getElementById("start").textContent);
const token = new URLSearchParams(location.search).get("token");
// Tells this page from others of the same server: each ends only its own runs.
const pageName = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16)).join("-");
const find = (selector) => document.querySelector(".explore " + selector);
const figures = find("> main");
// Values set in place of the scenario's own, and the laws, in the order in which they were ticked.
const values = new Map(start.values);
let laws = [...start.laws];
// The results that are shown: their number, and what ends their panel.
let number = null;
let endPanel = null;
let runs = 0;

find("h1").textContent = start.title;
find(".about").textContent = start.about ?? "";

// ---- what is asked -----------------------------------------------------------------------------
const post = (path, options = {}) => fetch(path + "?token=" + encodeURIComponent(token), { method: "POST", ...options });
let request = null;
let timer = 0;
// What the last request asked for. The same is not asked again: releasing a slider changes nothing.
let asked = null;
// A key that was added, until a run has understood it.
let added = null;
// A slider that moves asks when it rests for a moment.
const MOMENT = 120;

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(ask, MOMENT);
}

async function ask() {
  clearTimeout(timer);
  const now = JSON.stringify([[...values], laws]);
  if (now === asked) return;
  asked = now;
  request?.abort();
  const mine = new AbortController();
  request = mine;
  say("running", 0);
  try {
    const body = JSON.stringify({ page: pageName, values: [...values], laws, before: number });
    const response = await post("/run", { body, signal: mine.signal });
    if (!response.ok) {
      const text = (await response.text()).trim();
      return mine === request && refuse({ text, paths: [] });
    }
    let isTold = false;
    for await (const line of linesOf(response.body)) {
      // Another change has taken this one's place.
      if (mine !== request) return;
      isTold = take(JSON.parse(line)) || isTold;
    }
    if (mine === request && !isTold) {
      asked = null;
      say("the answer broke off: start ratewire explore again", null);
    }
  } catch (error) {
    if (mine === request && error.name !== "AbortError") {
      asked = null;
      say("no answer: start ratewire explore again", null);
      throw error;
    }
  }
}

async function* linesOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}

// ---- what is answered --------------------------------------------------------------------------
// Takes a line of the answer; true if it is the last.
function take({ plan, progress, done, wrong, overtaken }) {
  if (plan) understood(plan);
  if (progress != null) say(`running, ${progress} %`, progress);
  if (wrong) refuse(wrong);
  if (done) draw(done);
  if (overtaken) {
    asked = null;
    say("another page took over, and one run lasts at a time; change a value to run this page again", null);
  }
  return Boolean(wrong || done || overtaken);
}

// What a run is doing; `percent` is null if none is under way.
function say(text, percent) {
  find(".status output").textContent = text;
  find(".status progress").value = percent ?? 0;
  find(".status").classList.toggle("busy", percent != null);
  find(".stop").disabled = percent == null;
}

function refuse({ text, paths }) {
  asked = null;
  // It has no control by which it could be taken back.
  if (added != null) values.delete(added);
  added = null;
  const box = find(".wrong");
  box.textContent = text;
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
  controls.blame(paths);
  say(number == null ? "nothing has run" : "the last figures that could be drawn stay", null);
}

function understood({ controls: { shown, open, entries, left_out: leftOut }, command, toml, warnings, adopted }) {
  // Another kind of topology has other keys.
  if (adopted) {
    values.clear();
    adopted.forEach(([path, value]) => values.set(path, value));
    asked = JSON.stringify([[...values], laws]);
  }
  find(".wrong").hidden = true;
  added = null;
  controls.show(shown, values);
  offer(open);
  find(".left-out").hidden = !leftOut;
  find(".left-out").textContent =
    `Controls and keys are those of the first ${entries} entries of each list; ${leftOut} more can be set by their path and value.`;
  find(".command").textContent = command;
  find(".toml").textContent = toml;
  find(".warnings").hidden = !warnings.length;
  find(".warnings pre").textContent = warnings.join("\n\n");
}

function draw({ number: drawn, failed, body, data, before }) {
  const kept = endPanel?.();
  // The page keeps its place while its content is replaced.
  figures.style.minHeight = figures.offsetHeight + "px";
  figures.innerHTML = body;
  endPanel = panel(figures, data, before, kept);
  figures.style.minHeight = "";
  number = drawn;
  say(before ? "done; the run before is pale" : "done", null);
  if (failed.length) refuse({ text: failed.join("\n"), paths: [] });
  // For tests: how many runs were drawn.
  document.documentElement.dataset.runs = ++runs;
}

// ---- controls ----------------------------------------------------------------------------------
const controls = controlsIn(find(".sections"), (path, value, isMoving) => {
  if (value === null) values.delete(path);
  else values.set(path, value);
  if (isMoving) askSoon();
  else ask();
});

for (const { name, title } of start.known) {
  const label = find(".laws").appendChild(document.createElement("label"));
  label.title = title;
  const box = label.appendChild(document.createElement("input"));
  box.type = "checkbox";
  box.checked = laws.includes(name);
  label.append(name);
  box.addEventListener("change", () => {
    laws = box.checked ? [...laws, name] : laws.filter((law) => law !== name);
    ask();
  });
}

// Keys that the scenario leaves to their defaults.
const adding = find(".add input");
let openKeys = new Map();
function offer(open) {
  openKeys = new Map(open.map((key) => [key.path, key]));
  const options = open.map(({ path, about }) => new Option(about.split(". ")[0], path));
  document.getElementById("open-keys").replaceChildren(...options);
}
adding.addEventListener("input", () => {
  const key = openKeys.get(adding.value.trim());
  find(".meaning").hidden = !key;
  find(".meaning").textContent = key?.about ?? "";
});
adding.addEventListener("change", () => {
  const at = adding.value.indexOf("=");
  const path = (at < 0 ? adding.value : adding.value.slice(0, at)).trim();
  const value = at < 0 ? undefined : adding.value.slice(at + 1).trim();
  const key = openKeys.get(path);
  if (!path) return;
  // A path that is not listed needs its value: bottleneck.rate=10M.
  if (!key && !value) return refuse({ text: `no key ${path} is listed; write ${path}=VALUE to set it all the same`, paths: [] });
  if (!values.has(path)) added = path;
  values.set(path, value ?? key.value);
  adding.value = "";
  find(".meaning").hidden = true;
  ask();
});

find(".stop").addEventListener("click", () => {
  // What a stopped run has not measured can be asked for again.
  asked = null;
  post("/stop", { body: JSON.stringify({ page: pageName }) }).catch(() => say("no answer: start ratewire explore again", null));
});
for (const button of document.querySelectorAll(".copy button")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    // Where the page may not write the clipboard, the text is selected.
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    } catch {
      getSelection().selectAllChildren(code);
    }
  });
}
ask();
