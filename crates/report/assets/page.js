// Plots over time. Everything they need is in the page: data elements, the style's colours.
// The plots of one scenario: those under `root`, from `data`, with a time axis and tools of their own.
// `before` is the data of an earlier run, whose lines stay behind the others, pale. `kept` is what a reader had
// chosen in an earlier panel: see `keep` below.
function panel(root, data, before = null, kept = null) {
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => root.querySelectorAll(selector);
  const on = data.groups.map(() => true);
  const state = { panels: "auto", link: 0, zoom: null };
  const page = document.documentElement;
  // A panel may be opened by printing.
  state.printing = page.classList.contains("printing");
  let charts = [];
  // Ends with the panel: what listens to the window.
  const life = new AbortController();
  const { signal } = life;

  // ---- colours -------------------------------------------------------------------------------
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The style writes every colour with six digits.
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const strokeOf = (series) => style(series.hue < 0 ? "--neutral" : "--hue" + (series.hue % PALETTE.length));

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

  const plots = new Map(data.plots.map((one) => [one.key, one]));
  const isOn = (g) => on[g];
  const figureOf = (key, shown = isOn) => timedFigure(data, plots.get(key), state.link, state.panels, shown);

  const earlier = earlierRun({ data, before, state, on, strokeOf });

  // A series as a plot draws it.
  function lineOf(plot, series, many) {
    const { line, g, kind } = series;
    const law = g >= 0 && data.mode !== "flows" ? data.groups[g].name : "";
    const isFull = !law || series.name.startsWith(law);
    const isGoodput = ["throughput", "sampled"].includes(plot.name);
    return {
      g, dt: line.dt, v: [series.first, ...series.values], stroke: strokeOf(series),
      name: seriesLabel(series),
      label: [isFull ? "" : law, seriesLabel(series)].filter(Boolean).join(" "),
      dash: DASHES[series.dash % 4].map((one) => one * 1.6), mark: series.mark, band: kind === "band", steps: kind === "steps",
      // For as long as a moving mean is of: what sends rarely is not silent in between.
      delivered: isGoodput && [line.goodput[0], ...movingMean(line.goodput.slice(1), data.smooth)],
      why: line.why, done: line.done, width: kind === "band" ? 0.6 : many ? 1.2 : 1.7,
    };
  }

  // ---- one plot ------------------------------------------------------------------------------
  const number = (v) => {
    if (v == null) return "–";
    const size = Math.abs(v);
    return size >= 1000 ? Math.round(v).toLocaleString("en-US") : String(+v.toPrecision(size >= 100 ? 4 : 3));
  };
  // Times: as many digits as tell one step from the next, in a unit that fits the run.
  const [unitName, unitSize] = unitOfTime(data.end);
  const clock = (time, step) => {
    const inUnits = step / unitSize;
    let digits = 0;
    while (digits < 9 && Math.abs(inUnits * 10 ** digits - Math.round(inUnits * 10 ** digits)) > 1e-6) digits++;
    const most = { minimumFractionDigits: 0, maximumFractionDigits: digits };
    return (time / unitSize).toLocaleString("en-US", most);
  };
  const instant = (time, step) => clock(time, step) + " " + unitName;
  const label = (line) => line.label;
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

  // The longest title of an axis that fits: what else it would say stands below the plots.
  function fittingLabel(axis, { quantity }, room) {
    const labels = [axisLabel(axis), axisLabel({ ...axis, title: quantity })];
    return labels.find((text) => textWidth(text) * 12 <= room) ?? (axis.unit || labels[1]);
  }
  // A plot without room for the titles of its axes, which stand below the figure.
  const isNarrow = (width) => width < 195;
  function plot(parent, figure, quantity, panel, allBehind, width, height) {
    const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
    const soft = style("--soft");
    const grid = { stroke: style("--grid"), width: 1 };
    const ticks = { stroke: style("--line"), width: 1, size: 4 };
    const titled = { labelFont: font, labelSize: 18, labelGap: 0, stroke: soft, grid, ticks, font, gap: 4 };
    const lines = panel.series.map((one) => lineOf(quantity, one, panel.series.length > 24));
    const behind = earlier.within(allBehind, panel, figure);
    drawnBefore += behind.length;
    const bands = [];
    const series = [{}];
    lines.forEach((line, i) => {
      if (line.band) bands.push({ series: [i + 1, i + 2], fill: fade(line.stroke, 0.16) });
      series.push({
        label: label(line), stroke: line.band ? fade(line.stroke, 0.45) : line.stroke,
        width: line.width, dash: line.dash.length ? line.dash : undefined, spanGaps: false,
        points: { size: 5, show: (u, s) => onlyPoints(u, s) },
        paths: line.steps ? uPlot.paths.stepped({ align: 0 }) : undefined,
      });
    });
    const widest = (values) => Math.max(...values.map((v) => String(v).length));
    const u = new uPlot({
      width, height, series, bands, legend: { show: false }, padding: [8, 16, 0, 0],
      focus: { alpha: 1 },
      cursor: {
        // Its own double-click would zoom to the first and last point, not to the whole run.
        bind: { dblclick: () => () => (resetZoom(), null) },
        sync: { key: sync, scales: ["x", null], setSeries: false },
        drag: { x: true, y: false }, y: false, points: lines.length > 24 ? { show: false } : { size: 6 },
      },
      scales: {
        x: { time: false, range: (u, low, high) => (high > low ? [low, high] : [0, end]) },
        y: { range: () => [figure.y.low, earlier.highOf(figure, quantity, allBehind)] },
      },
      axes: [
        { ...titled, label: isNarrow(width) ? null : axisLabel(figure.x), size: 24, space: isNarrow(width) ? 36 : 60,
          values: (u, splits, axis, space, step) => splits.map((v) => clock(v, step)) },
        { ...titled, label: isNarrow(width) ? null : fittingLabel(figure.y, quantity, height - 60), space: isNarrow(width) ? 24 : 30,
          values: (u, splits) => splits.map(number),
          size: (u, values) => (values ? Math.max(isNarrow(width) ? 22 : 34, 12 + 7.2 * widest(values)) : 34) },
      ],
      hooks: {
        setScale: [zoomed], drawClear: [(u) => quantity.shape.shaded && shadePauses(u, quantity, lines)],
        drawAxes: [markChanges, (u) => earlier.draw(u, behind, lines)],
        draw: [(u) => lines.length > 1 && lines.length <= 24 && drawMarkers(u, lines)],
      },
      plugins: [tooltip(lines, figure.y.unit, parent.closest("figure").querySelector(".why"))],
    }, table(lines), parent);
    const chart = { u, lines, quantity };
    zoomed.busy = true;
    const [min, max] = state.zoom || [0, end];
    u.setScale("x", { min, max });
    zoomed.busy = false;
    charts.push(chart);
  }
  // Behind a queue: when its link was paused by its far end, the darker the longer.
  function shadePauses(u, quantity, lines) {
    const { left, top, width, height } = u.bbox;
    const x = (time) => Math.min(left + width, Math.max(left, u.valToPos(time, "x", true)));
    for (const [, line] of timedLines(data, { ...quantity, draws: [{ key: quantity.shape.shaded }] }, state.link)) {
      const { g, dt, [quantity.shape.shaded]: v } = line;
      const drawn = lines.find((one) => one.g === g);
      if (!drawn) continue;
      const { stroke } = drawn;
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
  // Each figure beside another, or as wide as the page: no place of the grid stays empty.
  function arrange(shown) {
    let open = null;
    shown.forEach(([element, figure], place) => {
      const isWide = place === 0 || (figure && figure.panels.length > 1);
      element.classList.toggle("wide", isWide);
      if (isWide && open) open.classList.add("wide");
      open = isWide || open ? null : element;
    });
    if (open) open.classList.add("wide");
  }
  let drawn = 0;
  let drawnBefore = 0;
  function build() {
    for (const chart of charts) chart.u.destroy();
    charts = [];
    drawnBefore = 0;
    const shown = [...all("figure.chart")].map((element) => [element, figureOf(element.dataset.key)]);
    arrange(shown);
    for (const [element, figure] of shown) {
      const quantity = plots.get(element.dataset.key);
      const [box, below] = [".plot", ".below"].map((part) => element.querySelector(part));
      box.replaceChildren();
      below.replaceChildren();
      const why = element.querySelector(".why");
      if (why) why.hidden = !figure || !figure.panels.some((panel) => panel.series.some((one) => one.line.why));
      element.querySelector(".save").hidden = !figure;
      if (!figure) {
        span(on.some(Boolean) ? quantity.none : "Every law is switched off.", box, "p").className = "none";
        continue;
      }
      if (isFolded(element) && !state.printing) continue;
      const isWide = element.classList.contains("wide");
      const width = state.printing ? (isWide ? 650 : 312) : Math.max(240, box.clientWidth);
      const { panels } = figure;
      const behind = earlier.seriesOf(element.dataset.key);
      if (panels.length > 1) {
        // On a phone two beside each other; on paper so many that all are on one page.
        const least = state.printing ? (panels.length > 12 ? 150 : 200) : width < 560 ? 150 : 290;
        const most = Math.max(1, Math.floor(width / least));
        const rows = Math.ceil(panels.length / Math.min(most, panels.length));
        const columns = Math.ceil(panels.length / rows);
        box.style.setProperty("--columns", columns);
        for (const panel of panels) {
          const cell = span("", box, "div");
          span(panel.title, cell, "h4");
          const wide = Math.floor((width - 10 * (columns - 1)) / columns);
          plot(cell, figure, quantity, panel, behind, wide, isNarrow(wide) ? 120 : columns === 1 ? 180 : 200);
        }
        const [cell] = box.children;
        if (isNarrow(cell.clientWidth)) {
          span(`${axisLabel(figure.y)}; ${axisLabel(figure.x).toLowerCase()}`, below, "p").className = "note";
        }
      } else {
        box.style.setProperty("--columns", 1);
        plot(box, figure, quantity, panels[0], behind, width, isWide ? 310 : 250);
      }
      const entries = legendOf(figure);
      // Laws have their legend above all plots.
      const areLaws = entries.every((one) => one.g >= 0 && one.name === data.groups[one.g].name);
      if (!areLaws && entries.length <= 40) legendBelow(below, entries);
    }
    // Figures that are no plots over time have no data of their own among many scenarios.
    if (!root.matches(".panel")) drawStatic(isOn);
    // For tests: only a script that got this far says how many plots there are.
    page.dataset.plots = +(page.dataset.plots || 0) + charts.length - drawn;
    drawn = charts.length;
    if (before) page.dataset.before = drawnBefore;
  }
  // The figure as it is shown, with the times that are zoomed into.
  function shownFigure(element) {
    const figure = figureOf(element.dataset.key);
    if (!figure || !state.zoom) return figure;
    const [low, high] = state.zoom.map((time) => time / unitSize);
    const within = (series) => {
      const points = series.points.filter(([x]) => x >= low && x <= high);
      return { ...series, points };
    };
    const panels = figure.panels.map((panel) => ({ ...panel, series: panel.series.map(within) }));
    return { ...figure, x: { ...figure.x, low, high }, panels };
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
      title.firstChild.textContent = title.dataset.text + (name ? " of " + name : "");
    }
  }

  for (const box of all("[data-toggle]")) {
    on[box.dataset.toggle] = !kept?.off.includes(data.groups[box.dataset.toggle].name);
    box.checked = on[box.dataset.toggle];
    box.addEventListener("change", () => { on[box.dataset.toggle] = box.checked; filter(); });
  }
  for (const figure of all("figure.chart")) {
    const title = figure.querySelector("h3");
    title.dataset.text = title.firstChild.textContent.trim();
    offerSaving(figure, () => shownFigure(figure));
    const select = figure.querySelector("select");
    if (!select) continue;
    // Offer only what there is; where there is nothing at all, the first says so.
    const first = select.options[0];
    for (const option of [...select.options]) if (!anything(option.value)) option.remove();
    if (!select.options.length) select.add(first);
    if (select.options.length < 2) select.hidden = true;
    const chosen = kept?.shown[title.dataset.text];
    if ([...select.options].some((option) => option.value === chosen)) select.value = chosen;
    figure.dataset.key = select.value;
    select.addEventListener("change", () => { figure.dataset.key = select.value; build(); });
  }
  function anything(key) {
    const plot = plots.get(key);
    if (plot.name === "sampled" && data.smooth === 1) return false;
    const links = plot.of === "link" ? data.links.keys() : [0];
    return [...links].some((link) => timedLines(data, plot, link).length);
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
  if (layout) layout.addEventListener("change", () => { state.panels = layout.value; build(); });
  const law = find("#net-law");
  if (law) law.addEventListener("change", () => {
    for (const path of all(".link[data-u]")) {
      const step = path.dataset.u.split(" ")[law.value];
      path.setAttribute("class", "link u" + step);
    }
  });
  reset.addEventListener("click", resetZoom);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build, { signal });
  // On paper plots have the light colours, and stand two beside each other.
  const print = (now) => {
    state.printing = now;
    build();
  };
  addEventListener("beforeprint", () => print(true), { signal });
  addEventListener("afterprint", () => print(false), { signal });
  let width = innerWidth;
  let timer = 0;
  addEventListener("resize", () => {
    // Phones resize when their address bar hides: only a new width matters.
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(build, 120);
  }, { signal });
  phone.addEventListener("change", build, { signal });
  // What the reader has chosen, for a panel that takes this one's place; ends this one.
  function keep() {
    const shown = [...all("figure.chart")].map((figure) => [figure.querySelector("h3").dataset.text, figure.dataset.key]);
    life.abort();
    clearTimeout(timer);
    for (const chart of charts) chart.u.destroy();
    page.dataset.plots = +page.dataset.plots - drawn;
    const off = data.groups.filter((_, g) => !on[g]).map((group) => group.name);
    return { off, shown: Object.fromEntries(shown), panels: state.panels, zoom: state.zoom, open: unfoldedIn(root), link: data.links[state.link]?.name };
  }
  // Pages of papers have one figure after another, each with few plots.
  if (!root.matches(".panel")) foldIn(root, kept?.open ?? [], build);
  if (kept) {
    state.panels = kept.panels;
    if (layout) layout.value = kept.panels;
    if (kept.zoom && kept.zoom[1] <= end) state.zoom = kept.zoom;
    reset.disabled = !state.zoom;
  }
  const place = Math.max(0, data.links.findIndex((one) => one.name === kept?.link));
  if (link) link.value = place;
  chooseLink(place);
  filter();
  return keep;
}

// Figures that are no plots over time, with the laws that are shown.
function drawStatic(isOn = () => true) {
  for (const script of document.querySelectorAll("script.figure")) {
    const element = script.closest("figure");
    const whole = JSON.parse(script.textContent);
    const panels = whole.panels
      .map((panel) => ({ ...panel, series: panel.series.filter((one) => one.g < 0 || isOn(one.g)) }))
      .filter((panel) => panel.series.length);
    element.figure = panels.length ? { ...whole, panels } : null;
    if (!element.querySelector(".save")) offerSaving(element, () => element.figure);
    element.querySelector(".save").hidden = !element.figure;
    const box = element.querySelector(".plot");
    if (!box) continue;
    if (element.figure) drawOnPage(box, element.figure);
    else box.textContent = "Every law is switched off.";
  }
}

// A page of one scenario is one panel. One of many draws each when it comes near the window.
(() => {
  const read = (node) => JSON.parse(node.textContent);
  const whole = document.getElementById("data");
  if (whole) return panel(document.body, read(whole));
  drawStatic();
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
  for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => drawStatic());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawStatic());
  near();
})();
