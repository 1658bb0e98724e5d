// Plots over time. Everything they need is in the page: data elements, the style's colours.
// The plots of one scenario: those under `root`, from `data`, with a time axis and tools of their own.
function panel(root, data) {
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => root.querySelectorAll(selector);
  const on = data.groups.map(() => true);
  const state = { side: data.apart, link: 0, zoom: null, printing: false };
  const page = document.documentElement;
  let charts = [];

  // ---- colours -------------------------------------------------------------------------------
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The style writes every colour with six digits.
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  // t from -1 (towards the text's colour) to 1 (towards the background's).
  const tint = (hex, t) => {
    const to = rgb(style(t > 0 ? "--panel" : "--ink"));
    const part = Math.abs(t);
    return "rgb(" + rgb(hex).map((c, i) => Math.round(c + (to[i] - c) * part)).join(",") + ")";
  };
  const DASHES = [null, [8, 4], [2, 3], [10, 3, 2, 3]];
  const groupColour = (g) => style(g < 0 ? "--neutral" : "--hue" + data.groups[g].hue);
  const groupDash = (g) => (g < 0 ? null : DASHES[Math.min(data.groups[g].dash, 3)]);

  // Each flow's place among those of its group gives its lightness, or its hue where flows have hues.
  const members = data.groups.map(() => 0);
  for (const flow of data.flows) flow.nth = members[flow.g]++;
  function flowStroke(flow) {
    if (data.mode === "flows" || data.apart) {
      const lap = Math.floor(flow.nth / 8);
      const colour = style("--hue" + (flow.nth % 8));
      return { stroke: lap < 4 ? colour : tint(colour, 0.4), dash: DASHES[lap % 4] };
    }
    const n = members[flow.g];
    const colour = groupColour(flow.g);
    // Not all the way to either end: the lightest must show, the darkest must still have a hue.
    const t = n < 2 ? 0 : -0.42 + (0.76 * flow.nth) / (n - 1);
    return { stroke: tint(colour, t), shade: t, dash: groupDash(flow.g) };
  }

  // ---- data ----------------------------------------------------------------------------------
  // A stored series is [index of its first point, points...]; the times are the middles.
  function table(lines) {
    const grids = new Map();
    lines.forEach((line, i) => {
      if (!grids.has(line.dt)) grids.set(line.dt, []);
      grids.get(line.dt).push(i);
    });
    const order = [];
    const tables = [];
    for (const [dt, members] of grids) {
      const length = Math.max(...members.map((i) => lines[i].v[0] + lines[i].v.length - 1));
      const xs = Array.from({ length }, (_, k) => (k + 0.5) * dt);
      const columns = members.map((i) => {
        const [first, ...values] = lines[i].v;
        const column = new Array(length).fill(null);
        values.forEach((value, k) => (column[first + k] = value));
        return column;
      });
      tables.push([xs, ...columns]);
      order.push(...members);
    }
    const joined = tables.length === 1 ? tables[0] : uPlot.join(tables);
    const out = [joined[0]];
    order.forEach((i, k) => (out[i + 1] = joined[k + 1]));
    return out;
  }

  // Of the points up to each, so that nothing shows before it has happened.
  const movingMean = ([first, ...values]) => [first, ...values.map((value, k) => {
    if (value == null) return null;
    const known = values.slice(Math.max(0, k + 1 - data.smooth), k + 1).filter((v) => v != null);
    return known.reduce((a, b) => a + b) / known.length;
  })];
  for (const one of [...data.flows, ...data.overlay]) {
    if (one.goodput) one.mean = movingMean(one.goodput);
    if (one.sent) one.mean = movingMean(one.sent);
  }
  const flowLines = (key) => data.flows.filter((f) => f[key]).map((f) => ({
    g: f.g, dt: f.dt, v: f[key], name: f.name, why: f.why, done: f.done, ...flowStroke(f),
    // For as long as a moving mean is of: what sends rarely is not silent in between.
    delivered: (key === "mean" || key === "goodput") && f.mean, width: data.flows.length > 30 ? 1 : 1.6,
  }));
  function linkLines(key) {
    const link = data.links[state.link];
    return (link ? link.runs : []).filter((r) => r[key]).map((r) => ({
      g: r.g, dt: r.dt, v: r[key], name: "", stroke: groupColour(r.g), dash: groupDash(r.g), width: 1.8,
    }));
  }

  // Groups and connections of an overlay, each kind with colours of its own.
  function overlayLines(key) {
    const places = data.groups.map(() => 0);
    return data.overlay.filter((o) => o[key]).map((o) => {
      const nth = data.mode === "flows" || o.g < 0 ? places[0]++ : places[o.g]++;
      const stroke = style("--hue" + (nth % 8));
      return { g: o.g, dt: o.dt, v: o[key], name: o.name, stroke, dash: DASHES[Math.floor(nth / 8) % 4], width: 1.6 };
    });
  }

  // What each chart draws, its unit, and what to say when there is nothing.
  const QUANTITIES = {
    // PLOTS
  };

  // ---- one plot ------------------------------------------------------------------------------
  const number = (v) => {
    if (v == null) return "–";
    const size = Math.abs(v);
    return size >= 1000 ? Math.round(v).toLocaleString("en-US") : String(+v.toPrecision(size >= 100 ? 4 : 3));
  };
  // Times: as many digits as tell one step from the next, in a unit that fits the run.
  const [unitName, unitSize] = [["s", 1], ["ms", 1e-3], ["µs", 1e-6]].find(([, size]) => data.end >= size) || ["ns", 1e-9];
  const clock = (time, step) => {
    const inUnits = step / unitSize;
    let digits = 0;
    while (digits < 9 && Math.abs(inUnits * 10 ** digits - Math.round(inUnits * 10 ** digits)) > 1e-6) digits++;
    const most = { minimumFractionDigits: 0, maximumFractionDigits: digits };
    return (time / unitSize).toLocaleString("en-US", most);
  };
  const instant = (time, step) => clock(time, step) + " " + unitName;
  const label = (line) => {
    const law = line.g >= 0 && data.mode !== "flows" ? data.groups[line.g].name : "";
    return [law, line.name].filter(Boolean).join(" ") || "all laws";
  };
  const span = (text, parent, tag) => {
    const node = document.createElement(tag || "span");
    node.textContent = text;
    parent.append(node);
    return node;
  };

  function zoomed(u, key) {
    if (key !== "x" || zoomed.busy) return;
    const { min, max } = u.scales.x;
    if (min == null) return;
    const whole = min <= 1e-12 && max >= data.end * (1 - 1e-9);
    state.zoom = whole ? null : [min, max];
    reset.disabled = whole;
    zoomed.busy = true;
    for (const other of charts) if (other.u !== u) other.u.setScale("x", { min, max });
    zoomed.busy = false;
  }
  const end = data.end > 0 ? data.end : 1;
  const tooltip = tooltips(data, end, { number, instant, label, span });
  const reset = find(".reset");
  const sync = "time of panel " + (panel.count = (panel.count || 0) + 1);
  function resetZoom() {
    state.zoom = null;
    for (const chart of charts) chart.u.setScale("x", { min: 0, max: end });
    reset.disabled = true;
  }

  function plot(parent, quantity, lines, width, height, top) {
    const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
    const soft = style("--soft");
    const grid = { stroke: style("--grid"), width: 1 };
    const ticks = { stroke: style("--line"), width: 1, size: 4 };
    const bands = [];
    const series = [{}];
    lines.forEach((line, i) => {
      if (line.band) bands.push({ series: [i + 1, i + 2], fill: fade(line.stroke, 0.16) });
      series.push({
        label: label(line), stroke: line.faint ? fade(line.stroke, 0.45) : line.stroke,
        width: line.width, dash: line.dash || undefined, spanGaps: false,
        points: { size: 5, show: (u, s) => onlyPoints(u, s) },
        paths: quantity.stepped ? uPlot.paths.stepped({ align: 0 }) : undefined,
      });
    });
    const widest = (values) => Math.max(...values.map((v) => String(v).length));
    const u = new uPlot({
      width, height, series, bands, legend: { show: false }, padding: [8, 28, 0, 0],
      focus: { alpha: 1 },
      cursor: {
        // Its own double-click would zoom to the first and last point, not to the whole run.
        bind: { dblclick: () => () => (resetZoom(), null) },
        sync: { key: sync, scales: ["x", null], setSeries: false },
        drag: { x: true, y: false }, y: false, points: lines.length > 24 ? { show: false } : { size: 6 },
      },
      scales: {
        x: { time: false, range: (u, low, high) => (high > low ? [low, high] : [0, end]) },
        y: { range: (u, low, high) => [0, top || (high > 0 ? high * 1.06 : 1)] },
      },
      axes: [
        { stroke: soft, grid, ticks, font, size: 28, space: 60, gap: 4,
          values: (u, splits, axis, space, step) => splits.map((v, i) => (i < splits.length - 1 ? clock : instant)(v, step)) },
        { stroke: soft, grid, ticks, font, gap: 4, space: 30,
          values: (u, splits) => splits.map(number),
          size: (u, values) => (values ? Math.max(44, 16 + 7.8 * widest(values)) : 44) },
      ],
      hooks: { setScale: [zoomed], drawClear: [(u) => quantity.paused && shadePauses(u, lines)], drawAxes: [markChanges] },
      plugins: [tooltip(lines, quantity.unit, parent.closest("figure").querySelector(".why"))],
    }, table(lines), parent);
    const chart = { u, lines, quantity };
    zoomed.busy = true;
    const [min, max] = state.zoom || [0, end];
    u.setScale("x", { min, max });
    zoomed.busy = false;
    charts.push(chart);
  }
  // Behind a queue: when its link was paused by its far end, the darker the longer.
  function shadePauses(u, lines) {
    const { left, top, width, height } = u.bbox;
    const x = (time) => Math.min(left + width, Math.max(left, u.valToPos(time, "x", true)));
    for (const { g, dt, v, stroke } of linkLines("paused")) {
      if (!lines.some((line) => line.g === g)) continue;
      const [first, ...shares] = v;
      shares.forEach((share, i) => {
        if (!share) return;
        const from = x((first + i) * dt);
        u.ctx.fillStyle = fade(stroke, 0.18 * share);
        u.ctx.fillRect(from, top, x((first + i + 1) * dt) - from, height);
      });
    }
  }
  // Behind the lines: when a link's rate, delay or state changes.
  function markChanges({ ctx, bbox, scales, valToPos }) {
    const { min, max } = scales.x;
    ctx.save();
    ctx.strokeStyle = style("--soft");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4, 4].map((dash) => dash * devicePixelRatio));
    for (const time of data.changes.filter((at) => at >= min && at <= max)) {
      const x = Math.round(valToPos(time, "x", true)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
  function fade(colour, alpha) {
    const parts = colour.startsWith("#") ? rgb(colour) : colour.match(/\d+/g).slice(0, 3);
    return "rgba(" + parts.join(",") + "," + alpha + ")";
  }
  // A point alone between gaps would not show as a line.
  function onlyPoints(u, s) {
    let seen = 0;
    for (const v of u.data[s]) if (v != null && ++seen > 3) return false;
    return true;
  }

  // ---- all plots -----------------------------------------------------------------------------
  let drawn = 0;
  function build() {
    for (const chart of charts) chart.u.destroy();
    charts = [];
    for (const figure of all("figure.chart")) {
      const quantity = QUANTITIES[figure.dataset.key];
      const box = figure.querySelector(".plot");
      figure.querySelector(".unit").textContent = quantity.unit;
      box.replaceChildren();
      const lines = quantity.lines().filter((l) => l.g < 0 || on[l.g]);
      const why = figure.querySelector(".why");
      if (why) why.hidden = !lines.some((l) => l.why);
      if (!lines.length) {
        span(on.some(Boolean) ? quantity.none : "Every law is switched off.", box, "p").className = "none";
        continue;
      }
      const width = state.printing ? 312 : Math.max(240, box.clientWidth);
      const laws = [...new Set(lines.map((l) => l.g))];
      if (state.side && laws.length > 1) {
        // The same scale in every panel, or they could not be compared.
        const values = lines.flatMap((l) => l.v.slice(1));
        const top = quantity.top || values.reduce((m, v) => (v > m ? v : m), 0) * 1.06 || 1;
        for (const g of laws) {
          const cell = span("", box, "div");
          const title = span("", cell, "h4");
          title.className = "hue" + data.groups[g].hue;
          // Where flows have colours of their own, the law's would be taken for one of theirs.
          if (!data.apart) span("", title, "i").className = "chip";
          title.append(data.groups[g].name);
          const each = state.printing ? width : Math.max(240, cell.clientWidth);
          plot(cell, quantity, lines.filter((l) => l.g === g), each, data.apart ? 180 : 132, top);
        }
      } else {
        plot(box, quantity, lines, width, 210, quantity.top);
      }
      if (figure === find("figure.of-flows") || figure.matches(".of-overlay")) chips(box, lines);
    }
    // For tests: only a script that got this far says how many plots there are.
    page.dataset.plots = +(page.dataset.plots || 0) + charts.length - drawn;
    drawn = charts.length;
  }
  // Names of flows where there are few: each has a colour of its own, or a shade of its law's.
  function chips(box, lines) {
    const shades = data.mode === "runs" && !data.apart && lines[0].shade != null;
    if (data.mode === "mixed") return;
    // Laws that are drawn apart have the same flows in the same colours.
    lines = lines.filter((line) => line.g === lines[0].g);
    if (lines.length > (shades ? 8 : 16) || (shades && lines.length < 2) || lines[0].name === "all flows") return;
    const list = document.createElement("div");
    list.className = "flows";
    for (const line of lines) {
      const item = document.createElement("span");
      const chip = span("", item, "i");
      chip.className = "chip";
      chip.style.borderTopColor = shades ? tint(style("--neutral"), line.shade) : line.stroke;
      if (line.dash && !shades) chip.style.borderTopStyle = "dashed";
      item.append(line.name);
      list.append(item);
    }
    box.append(list);
  }

  function filter() {
    for (const node of all("main [data-g]")) {
      node.classList.toggle("off", !on[node.dataset.g]);
    }
    build();
  }
  function chooseLink(index) {
    state.link = index;
    const name = data.links[index] ? data.links[index].name : "";
    for (const title of all("figure.of-link h3")) {
      title.firstChild.textContent = title.dataset.text + (name ? " of " + name + " " : " ");
    }
  }

  for (const box of all("[data-toggle]")) {
    box.checked = true;
    box.addEventListener("change", () => { on[box.dataset.toggle] = box.checked; filter(); });
  }
  for (const figure of all("figure.chart")) {
    const title = figure.querySelector("h3");
    title.dataset.text = title.firstChild.textContent.trim();
    const select = figure.querySelector("select");
    if (!select) continue;
    // Offer only what there is; where there is nothing at all, the first says so.
    const first = select.options[0];
    for (const option of [...select.options]) if (!anything(option.value)) option.remove();
    if (!select.options.length) select.add(first);
    if (select.options.length < 2) select.hidden = true;
    figure.dataset.key = select.value;
    select.addEventListener("change", () => { figure.dataset.key = select.value; build(); });
  }
  function anything(key) {
    if (key === "drops" || key === "marks") return data.links.some((l) => l.runs.some((r) => r[key]));
    if (key === "sampled" && data.smooth === 1) return false;
    return QUANTITIES[key].lines().length > 0;
  }
  const link = find(".choose-link");
  if (link) {
    data.links.forEach((l, i) => link.add(new Option(l.name, i)));
    link.addEventListener("change", () => { chooseLink(+link.value); build(); });
    for (const path of all(".link[data-link]")) {
      const index = data.links.findIndex((l) => l.id === +path.dataset.link);
      if (index < 0) continue;
      path.style.cursor = "pointer";
      path.addEventListener("click", () => { link.value = index; chooseLink(index); build(); });
    }
  }
  const layout = find(".layout");
  if (layout) layout.addEventListener("change", () => { state.side = layout.value === "side"; build(); });
  const law = find("#net-law");
  if (law) law.addEventListener("change", () => {
    for (const path of all(".link[data-u]")) {
      const step = path.dataset.u.split(" ")[law.value];
      path.setAttribute("class", "link u" + step);
    }
  });
  reset.addEventListener("click", resetZoom);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
  // Paper is white and narrow: the light colours, two plots beside each other.
  const print = (now) => {
    state.printing = now;
    page.classList.toggle("printing", now);
    build();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  let width = innerWidth;
  let timer = 0;
  addEventListener("resize", () => {
    // Phones resize when their address bar hides: only a new width matters.
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(build, 120);
  });
  chooseLink(0);
  build();
}

// A page of one scenario is one panel. One of many draws each when it comes near the window.
(() => {
  const read = (node) => JSON.parse(node.textContent);
  const whole = document.getElementById("data");
  if (whole) return panel(document.body, read(whole));
  let waiting = [...document.querySelectorAll(".panel")];
  const open = (wanted) => {
    const opened = waiting.filter(wanted);
    waiting = waiting.filter((root) => !opened.includes(root));
    for (const root of opened) panel(root, read(root.querySelector("script")));
  };
  const near = () => open((root) => {
    const { top, bottom } = root.getBoundingClientRect();
    return top < innerHeight + 600 && bottom > -600;
  });
  addEventListener("scroll", near, { passive: true });
  addEventListener("resize", near);
  addEventListener("beforeprint", () => open(() => true));
  near();
})();
