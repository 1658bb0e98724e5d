// Draws the page of a sweep: any figure against any swept parameter, and heat maps of two.
const data = JSON.parse(document.getElementById("data").textContent);
const { axes, laws, looks, figures, cells } = data;
const on = laws.map(() => true);
// The parameters with the most values are the first to draw against.
const order = axes.map((_, i) => i).sort((a, b) => axes[b].values.length - axes[a].values.length || a - b);
const usualAxis = order[0];

// The cell of a law at a point of the grid.
const known = new Map(cells.map(([point, law, seeds, values]) => [law + ":" + point.join(), { seeds, values }]));
const cellAt = (law, point) => known.get(law + ":" + point.join());
const valueAt = (law, point, figure) => cellAt(law, point)?.values[figure] ?? null;

// A value as a reader likes it: figures have the digits of their unit.
function show(value, unit) {
  const digits = (v) => (v === 0 ? "0" : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(4)));
  if (unit === "share") return digits(value * 100) + " %";
  const sizes = {
    seconds: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
    rate: [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
  }[unit];
  if (!sizes) return digits(value);
  if (value === 0) return "0 " + (unit === "rate" ? "bit/s" : "s");
  const [size, name] = sizes.find(([size]) => Math.abs(value) >= size) ?? sizes.at(-1);
  return digits(value / size) + " " + name;
}
const tell = ([mean, margin], unit) => show(mean, unit) + (margin == null ? "" : " ± " + show(margin, unit));

// A labelled choice among names.
function choice(parent, label, names, chosen, changed) {
  const box = parent.appendChild(document.createElement("label"));
  box.append(label + " ");
  const select = box.appendChild(document.createElement("select"));
  names.forEach((name, index) => select.add(new Option(name, index)));
  select.value = chosen;
  select.addEventListener("change", () => changed(Number(select.value)));
  return box;
}

// Units that fit a value, the largest first.
const UNITS = {
  seconds: [["s", 1], ["ms", 1e-3], ["µs", 1e-6]],
  rate: [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
};
const fit = (units, most) => units.find(([, size]) => most >= size) ?? units.at(-1);
const fitting = (unit, most) =>
  unit in UNITS ? fit(UNITS[unit], most) : { share: ["%", 0.01], packets: ["packets", 1], ratio: ["times", 1] }[unit] ?? ["", 1];

const axisOfNames = (title, names) => ({ title, unit: "", low: -0.5, high: names.length - 0.5, log: false, names });
const mostOf = (figure) => Math.max(0, ...cells.map((cell) => cell[3][figure]?.[0] ?? 0));

// A swept axis, and the place of each of its values: numbers on a line, other values side by side.
function axisOf({ key, unit, values }) {
  const numbers = values.map((value) => value.number);
  if (numbers.length < 2 || numbers.some((n) => n == null)) {
    const names = values.map((value) => value.text);
    return [axisOfNames(key, names), values.map((_, i) => i)];
  }
  const sorted = numbers.toSorted((a, b) => a - b);
  const ends = [sorted[0], sorted.at(-1)];
  const [name, size] = unit === "bit/s" ? fit(UNITS.rate, ends[1]) : unit === "s" ? fit(UNITS.seconds, ends[1]) : [unit, 1];
  // Values whose steps grow were chosen by their ratios.
  const gaps = sorted.slice(1).map((n, i) => n - sorted[i]);
  const log = ends[0] > 0 && (Math.max(...gaps) > 2.5 * Math.min(...gaps) || ends[1] / ends[0] >= 20);
  const [low, high] = ends.map((end) => end / size);
  const free = log ? Math.exp(Math.log(high / low) * 0.03) : Math.max((high - low) * 0.03, Number.MIN_VALUE);
  const range = log ? { low: low / free, high: high * free } : { low: low - free, high: high + free };
  return [{ title: key, unit: name, ...range, log, names: [] }, numbers.map((number) => number / size)];
}

// A measured value against a parameter, a line a law, as `ratewire plot` draws it. `before` is a point that was
// looked at earlier: its lines are pale.
function sweptFigure({ figure, x, point, before = null }) {
  const { name, title, unit } = figures[figure];
  const { key, values } = axes[x];
  const [unitName, size] = fitting(unit, mostOf(figure));
  const [across, places] = axisOf(axes[x]);
  const isNamed = across.names.length > 0;
  const order = values.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const linesAt = (point) => laws.map((law, number) => {
    // Laws at one name stand beside each other.
    const shift = isNamed ? ((number - (laws.length - 1) / 2) * 0.6) / laws.length : 0;
    const there = order.map((i) => [i, valueAt(number, point.with(x, i), figure)]).filter(([, value]) => value);
    const told = there.map(([i, value]) => {
      const { seeds } = cellAt(number, point.with(x, i));
      const of = seeds === data.seeds.length ? "" : ` (${seeds} of ${data.seeds.length} seeds)`;
      return `${law}, ${key} ${values[i].text}: ${tell(value, unit)}${of}`;
    });
    const margins = there.map(([, [, margin]]) => (margin == null ? null : margin / size));
    return {
      name: law, part: "", g: number, hue: looks[number][0], dash: looks[number][1], mark: looks[number][2],
      kind: isNamed ? "marks" : "joined", points: there.map(([i, [mean]]) => [places[i] + shift, mean / size]),
      margins: margins.some((margin) => margin != null) ? margins : [], values: [], told,
    };
  });
  const earlier = before ? linesAt(before).map((one) => ({ ...one, pale: true })) : [];
  const series = [...earlier, ...linesAt(point)];
  const most = Math.max(0, ...series.flatMap((one) => one.points.map(([, y], i) => y + (one.margins[i] ?? 0))));
  const held = axes.map((axis, i) => (i === x ? "" : `${axis.key} ${axis.values[point[i]].text}`)).filter(Boolean);
  return {
    name: x === usualAxis ? name : `${name}/${key}`, title: `${capital(title)} against ${key}`, detail: held.join(", "), scale: null,
    x: across, y: { title: capital(title), unit: unitName, low: 0, high: most > 0 ? most * 1.06 : 1, log: false, names: [] },
    marks: before ? [places[point[x]]] : [], apart_by: axes.length > 1 ? axes.filter((_, i) => i !== x).map((axis) => axis.key).join(", ") : "",
    panels: [{ title: held.join(", "), series: series.filter((one) => on[one.g] && one.points.length) }],
  };
}
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The controls of a drawing that hold the other parameters at a value.
function others(parent, state, taken, redraw) {
  axes.forEach((axis, index) => {
    if (taken.includes(index) || axis.values.length < 2) return;
    const names = axis.values.map((value) => value.text);
    choice(parent, axis.key, names, state.point[index], (value) => redraw({ point: state.point.with(index, value) }));
  });
}

let lines = null;
const shownLines = () => lines && drawLines(lines);
function drawLines(state) {
  const redraw = (change) => drawLines({ ...state, ...change });
  const { figure, x } = state;
  lines = state;
  const tools = document.createElement("div");
  tools.className = "tools";
  choice(tools, "Figure", figures.map((f) => f.title), figure, (value) => redraw({ figure: value }));
  if (axes.length > 1) choice(tools, "against", axes.map((a) => a.key), x, (value) => redraw({ x: value }));
  others(tools, state, [x], redraw);
  place("lines", tools, sweptFigure(state));
}

// Draws a figure below its tools, with buttons that save it without what only the page says.
function place(id, tools, figure) {
  const element = document.getElementById(id);
  const [caption, box] = ["figcaption", ".plot"].map((part) => element.querySelector(part));
  caption.replaceChildren(tools);
  box.setAttribute("aria-label", figure.title);
  drawOnPage(box, figure);
  const plain = (series) => ({ ...series, told: undefined });
  const saved = (panel) => ({ ...panel, series: panel.series.filter((one) => !one.pale).map(plain) });
  offerSaving(element, () => ({ ...figure, marks: [], panels: figure.panels.map(saved) }));
}

// A measured value over two parameters under a law, as `ratewire plot` draws it.
function mapFigure({ figure, x, y, law, point }) {
  const { name, title, unit } = figures[figure];
  const [across, up] = [axes[x], axes[y]];
  const [unitName, size] = fitting(unit, mostOf(figure));
  const points = up.values.flatMap((_, j) => across.values.map((_, i) => [i, j]));
  const found = points.map(([i, j]) => valueAt(law, point.with(x, i).with(y, j), figure));
  const told = points.map(([i, j], k) =>
    `${across.key} ${across.values[i].text}, ${up.key} ${up.values[j].text}: ${found[k] ? tell(found[k], unit) : "no value"}`);
  const names = (axis) => axisOfNames(axis.key, axis.values.map((value) => value.text));
  return {
    name: "map/" + name, title: `${capital(title)} under ${laws[law]} by ${across.key} and ${up.key}`, detail: "",
    scale: scaleOf(capital(title), unit, unitName, cells.flatMap((cell) => (cell[3][figure] ? [cell[3][figure][0] / size] : []))),
    x: names(across), y: names(up), marks: [], apart_by: "law",
    panels: [{ title: laws[law], series: [{
      name: laws[law], part: "", g: law, hue: 0, dash: 0, mark: 0, kind: "tiles", points, margins: [],
      values: found.map((value) => (value ? value[0] / size : null)), told,
    }] }],
  };
}

let map = null;
const shownMap = () => map && drawMap(map);
function drawMap(state) {
  const redraw = (change) => drawMap({ ...state, ...change });
  const { figure, x, y, law } = state;
  map = state;
  const tools = document.createElement("div");
  tools.className = "tools";
  const keys = axes.map((a) => a.key);
  choice(tools, "Figure", figures.map((f) => f.title), figure, (value) => redraw({ figure: value }));
  if (laws.length > 1) choice(tools, "under", laws, law, (value) => redraw({ law: value }));
  // A parameter that is chosen for both sides changes places with the other.
  choice(tools, "across", keys, x, (value) => redraw(value === y ? { x: y, y: x } : { x: value }));
  choice(tools, "up", keys, y, (value) => redraw(value === x ? { x: y, y: x } : { y: value }));
  others(tools, state, [x, y], redraw);
  place("map", tools, mapFigure(state));
}

document.querySelectorAll("[data-toggle]").forEach((box) => {
  box.checked = true;
  box.addEventListener("change", () => { on[box.dataset.toggle] = box.checked; shownLines(); });
});
if (figures.length) {
  const point = axes.map(() => 0);
  drawLines({ figure: 0, x: usualAxis, point });
  if (document.getElementById("map")) drawMap({ figure: 0, x: order[0], y: order[1], law: 0, point });
}
const redrawAll = () => { shownLines(); shownMap(); };
// Looks at a point of the grid; drawings hold its values. `before` is the point that was looked at.
function movePoint(point, before) {
  if (lines) drawLines({ ...lines, point, before });
  if (map) drawMap({ ...map, point });
}
addEventListener("resize", redrawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
document.documentElement.dataset.drawn = document.querySelectorAll("svg").length;
