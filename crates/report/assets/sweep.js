// Draws the page of a sweep: any figure against any swept parameter, and heat maps of two.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const { axes, laws, figures, cells } = data;
const NS = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 380, 96, 16, 12, 50];

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
const told = ([mean, margin], unit) => show(mean, unit) + (margin == null ? "" : " ± " + show(margin, unit));

function element(name, attributes, text, parent) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text != null) made.textContent = text;
  parent?.append(made);
  return made;
}

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

// Places values on an axis: numbers on a line, linear or logarithmic, and other values side by side.
function scale(axis) {
  const numbers = axis.values.map((value) => value.number);
  if (numbers.length < 2 || numbers.some((n) => n == null)) {
    return { at: (index) => (index + 0.5) / axis.values.length, isLine: false };
  }
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low, high] = [sorted[0], sorted.at(-1)];
  // Values whose steps grow were chosen by their ratios.
  const gaps = sorted.slice(1).map((n, i) => n - sorted[i]);
  const grows = Math.max(...gaps) > 2.5 * Math.min(...gaps);
  const isLog = low > 0 && (grows || high / low >= 20);
  const to = isLog ? Math.log : (n) => n;
  const part = (n) => (high === low ? 0.5 : (to(n) - to(low)) / (to(high) - to(low)));
  return { at: (index) => 0.03 + 0.94 * part(numbers[index]), isLine: true };
}

// Steps of 1, 2 or 5 from 0 to at least `high`.
function steps(high) {
  const decade = 10 ** Math.floor(Math.log10(high / 4));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * decade).find((s) => high / s <= 5.5) ?? high;
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

// The controls of a drawing that hold the other parameters at a value.
function others(parent, state, taken, redraw) {
  axes.forEach((axis, index) => {
    if (taken.includes(index) || axis.values.length < 2) return;
    const names = axis.values.map((value) => value.text);
    choice(parent, axis.key, names, state.point[index], (value) => redraw({ point: state.point.with(index, value) }));
  });
}

function frame(box, title) {
  const svg = element("svg", { class: "plane", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, null, box);
  svg.setAttribute("aria-label", title);
  return svg;
}

function drawLines(state) {
  const redraw = (change) => drawLines({ ...state, ...change });
  const { figure, x, point } = state;
  const box = document.getElementById("lines");
  const tools = document.createElement("div");
  tools.className = "tools";
  choice(tools, "Figure", figures.map((f) => f.title), figure, (value) => redraw({ figure: value }));
  if (axes.length > 1) choice(tools, "against", axes.map((a) => a.key), x, (value) => redraw({ x: value }));
  others(tools, state, [x], redraw);
  box.replaceChildren(tools);
  const { title, unit } = figures[figure];
  const axis = axes[x];
  const place = scale(axis);
  const lines = laws.map((_, law) => axis.values.map((_, i) => valueAt(law, point.with(x, i), figure)));
  const most = Math.max(0, ...lines.flat().filter(Boolean).map(([mean, margin]) => mean + (margin ?? 0)));
  const high = (most || 1) * 1.06;
  const px = (i) => LEFT + place.at(i) * (WIDTH - LEFT - RIGHT);
  const py = (v) => HEIGHT - BOTTOM - (Math.min(Math.max(v, 0), high) / high) * (HEIGHT - TOP - BOTTOM);
  const svg = frame(box, `${title} against ${axis.key}`);
  for (const step of steps(high)) {
    element("path", { class: "grid", d: `M${LEFT} ${py(step)}H${WIDTH - RIGHT}` }, null, svg);
    element("text", { x: LEFT - 7, y: py(step), dy: ".33em", "text-anchor": "end" }, show(step, unit), svg);
  }
  let end = -Infinity;
  const order = axis.values.map((_, i) => i).sort((a, b) => px(a) - px(b));
  for (const i of order) {
    element("path", { class: "grid", d: `M${px(i)} ${TOP}V${HEIGHT - BOTTOM}` }, null, svg);
    const half = axis.values[i].text.length * 3.6;
    // Labels that would overlap are left out; each point tells its value.
    if (px(i) - half < end) continue;
    end = px(i) + half + 8;
    element("text", { x: px(i), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, axis.values[i].text, svg);
  }
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  element("text", { class: "title", x: middle, y: HEIGHT - 8, "text-anchor": "middle" }, axis.key, svg);
  lines.forEach((line, law) => {
    const group = element("g", { class: `hue${law % 8} law`, "data-law": law }, null, svg);
    const there = order.filter((i) => line[i] != null);
    if (place.isLine && there.length) {
      const d = "M" + there.map((i) => `${px(i)} ${py(line[i][0])}`).join("L") + "h0";
      element("path", { class: `line dash${Math.min(3, Math.floor(law / 8))}`, d }, null, group);
    }
    for (const i of there) {
      const [mean, margin] = line[i];
      const shift = place.isLine ? 0 : (law - (laws.length - 1) / 2) * 9;
      const at = px(i) + shift;
      if (margin != null) {
        const [from, to] = [py(mean - margin), py(mean + margin)];
        element("path", { class: "interval", d: `M${at} ${from}V${to}M${at - 4} ${from}h8M${at - 4} ${to}h8` }, null, group);
      }
      const dot = element("circle", { cx: at, cy: py(mean), r: 4 }, null, group);
      const { seeds } = cellAt(law, point.with(x, i));
      const of = seeds === data.seeds.length ? "" : ` (${seeds} of ${data.seeds.length} seeds)`;
      element("title", {}, `${laws[law]}, ${axis.key} ${axis.values[i].text}: ${told(line[i], unit)}${of}`, dot);
    }
  });
}

function drawMap(state) {
  const redraw = (change) => drawMap({ ...state, ...change });
  const { figure, x, y, law, point } = state;
  const box = document.getElementById("map");
  const tools = document.createElement("div");
  tools.className = "tools";
  const keys = axes.map((a) => a.key);
  choice(tools, "Figure", figures.map((f) => f.title), figure, (value) => redraw({ figure: value }));
  if (laws.length > 1) choice(tools, "under", laws, law, (value) => redraw({ law: value }));
  // A parameter that is chosen for both sides changes places with the other.
  choice(tools, "across", keys, x, (value) => redraw(value === y ? { x: y, y: x } : { x: value }));
  choice(tools, "up", keys, y, (value) => redraw(value === x ? { x: y, y: x } : { y: value }));
  others(tools, state, [x, y], redraw);
  box.replaceChildren(tools);
  const { title, unit } = figures[figure];
  const [across, up] = [axes[x], axes[y]];
  const at = (i, j) => valueAt(law, point.with(x, i).with(y, j), figure);
  const all = across.values.flatMap((_, i) => up.values.map((_, j) => at(i, j))).filter(Boolean).map(([mean]) => mean);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const [w, h] = [(WIDTH - LEFT - RIGHT) / across.values.length, (HEIGHT - TOP - BOTTOM) / up.values.length];
  const svg = frame(box, `${title} under ${laws[law]}, by ${across.key} and ${up.key}`);
  up.values.forEach((value, j) => {
    const top = HEIGHT - BOTTOM - (j + 1) * h;
    element("text", { x: LEFT - 7, y: top + h / 2, dy: ".33em", "text-anchor": "end" }, value.text, svg);
    across.values.forEach((other, i) => {
      const found = at(i, j);
      const part = found && (high === low ? 0.5 : (found[0] - low) / (high - low));
      const fill = found ? `color-mix(in srgb, var(--hue1) ${Math.round(8 + 84 * part)}%, var(--panel))` : "none";
      const place = { x: LEFT + i * w, y: top, width: w - 1, height: h - 1 };
      const tile = element("rect", { ...place, class: "tile", style: `fill: ${fill}` }, null, svg);
      const text = found ? told(found, unit) : "no value";
      element("title", {}, `${across.key} ${other.text}, ${up.key} ${value.text}: ${text}`, tile);
      const short = found ? show(found[0], unit) : "–";
      const middle = { x: LEFT + (i + 0.5) * w, y: top + h / 2, dy: ".33em", "text-anchor": "middle" };
      if (short.length * 7.2 < w && h > 14) element("text", { ...middle, class: "title" }, short, svg);
    });
  });
  let end = -Infinity;
  across.values.forEach((value, i) => {
    const [middle, half] = [LEFT + (i + 0.5) * w, value.text.length * 3.6];
    if (middle - half < end) return;
    end = middle + half + 8;
    element("text", { x: middle, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, value.text, svg);
  });
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  element("text", { class: "title", x: middle, y: HEIGHT - 8, "text-anchor": "middle" }, across.key, svg);
  const turned = `translate(13 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`;
  element("text", { class: "title", transform: turned, "text-anchor": "middle" }, up.key, svg);
}

document.querySelectorAll("[data-toggle]").forEach((box) => {
  box.addEventListener("change", () => document.body.classList.toggle("without" + box.dataset.toggle, !box.checked));
});
if (figures.length) {
  // The parameters with the most values are the first to draw against.
  const order = axes.map((_, i) => i).sort((a, b) => axes[b].values.length - axes[a].values.length || a - b);
  const point = axes.map(() => 0);
  drawLines({ figure: 0, x: order[0], point });
  if (document.getElementById("map")) drawMap({ figure: 0, x: order[0], y: order[1], law: 0, point });
}
document.documentElement.dataset.drawn = document.querySelectorAll("svg").length;
