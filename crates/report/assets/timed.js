// Figures over time from a page's data, as `ratewire plot` reads them.

// The mean of the points around each, an odd number.
const movingMean = (values, points) => values.map((value, k) => {
  if (value == null) return null;
  const half = points >> 1;
  const known = values.slice(Math.max(0, k - half), k + half + 1).filter((v) => v != null);
  return known.reduce((a, b) => a + b, 0) / known.length;
});

// The flows, links and the like that have what the plot draws, each with its place in its law.
function timedLines(data, plot, link) {
  const all = { flow: data.flows, all: data.totals, overlay: data.overlay, link: data.links[link]?.runs ?? [] }[plot.of];
  const places = new Map();
  const lines = [];
  for (const line of all) {
    const hasAll = plot.draws.every((drawn) => line[drawn.key]);
    // Flows keep their places whether or not a plot has them.
    if (plot.of !== "flow" && !hasAll) continue;
    const place = places.get(line.g) ?? 0;
    places.set(line.g, place + 1);
    if (hasAll) lines.push([place, line]);
  }
  return lines;
}

const unitOfTime = (end) => [["s", 1], ["ms", 1e-3], ["µs", 1e-6]].find(([, size]) => end >= size) ?? ["ns", 1e-9];

// The figure of a plot, of the laws for which `isOn` holds; null without lines. `panels` is auto, one or each.
// A series also has the line that it is of, and its width and values on the line's own grid.
function timedFigure(data, plot, link, panels, isOn) {
  const lines = timedLines(data, plot, link).filter(([, line]) => line.g < 0 || isOn(line.g));
  const laws = new Set(lines.map(([, line]) => line.g).filter((g) => g >= 0));
  const many = lines.length > 3;
  const byLaw = laws.size > 1 && (panels === "auto" ? many || data.apart : panels === "each");
  const byFlow = laws.size <= 1 &&
    (panels === "auto" ? many && lines.length <= 12 && plot.of === "flow" : panels === "each" && lines.length > 1);
  const [unit, size] = unitOfTime(data.end);
  const lawOf = (line) => (data.mode === "flows" ? "" : data.groups[line.g]?.name ?? "");
  // All flows of a law are what the law stands for.
  const ownName = (line) => (plot.of === "all" && lawOf(line) ? "" : line.name ?? "");
  const nameOf = (line) => (lawOf(line) + " " + ownName(line)).trim() ||
    (data.mode === "flows" && data.groups.length ? data.groups[0].name : "all laws");
  // A law keeps its colour and marker in all figures; flows have tones of their own where no line stands for a law.
  const look = (line, nth) => {
    const own = lookOfFlow(nth);
    const group = data.groups[line.g];
    if (plot.of === "overlay" || (plot.of === "flow" && (byLaw || data.mode === "flows"))) return own;
    if (!group) return { hue: -1, dash: 0, mark: 0 };
    return { hue: group.hue, dash: (plot.of === "flow" ? group.dash + nth : group.dash) % 4, mark: group.mark };
  };
  const all = new Map();
  for (const [nth, line] of lines) {
    const title = byLaw ? lawOf(line) : byFlow ? nameOf(line) : "";
    if (!all.has(title)) all.set(title, { title, series: [] });
    for (const drawn of plot.draws) {
      const [first, ...stored] = line[drawn.key];
      const values = drawn.mean ? movingMean(stored, data.smooth) : stored;
      all.get(title).series.push({
        name: byLaw && ownName(line) ? line.name : nameOf(line), part: drawn.name, g: line.g, ...look(line, nth),
        kind: drawn.band ? "band" : plot.shape.steps ? "steps" : "line",
        points: values.map((value, k) => [((first + k + 0.5) * line.dt) / size, value]), margins: [],
        line, first, values,
      });
    }
  }
  if (!all.size) return null;
  const most = [...all.values()].flatMap((panel) => panel.series).flatMap((series) => series.values)
    .reduce((m, v) => (v > m ? v : m), 0);
  const of = plot.of === "link" ? " of " + data.links[link].name : "";
  const isMean = data.smooth > 1 && plot.draws.some((drawn) => drawn.mean);
  return {
    name: plot.name + (plot.of === "link" && link > 0 ? "/" + data.links[link].name : ""),
    title: plot.title + of, detail: plot.detail, scale: null,
    x: { title: "Time", unit, low: 0, high: (data.end > 0 ? data.end : 1) / size, log: false, names: [] },
    y: { title: plot.quantity + (isMean ? ", mean over " + data.smoothed : ""), unit: plot.unit, low: 0, high: plot.shape.top ?? (most > 0 ? most * 1.06 : 1), log: false, names: [] },
    marks: data.changes.map((time) => time / size), apart_by: byLaw ? "law" : byFlow ? "flow" : "",
    panels: [...all.values()],
  };
}

// A marker here and there, by which lines are told apart without their colours.
function drawMarkers(u, lines) {
  const { ctx, bbox } = u;
  const size = 3.2 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  lines.forEach((line, number) => {
    if (line.band) return;
    const [xs, ys] = [u.data[0], u.data[number + 1]];
    const [low, high] = u.series[0].idxs;
    const there = [];
    for (let i = low; i <= high; i++) if (ys[i] != null) there.push(i);
    ctx.fillStyle = line.stroke;
    for (const place of markPlaces(there.length, number, lines.length)) {
      const [x, y] = [u.valToPos(xs[there[place]], "x", true), u.valToPos(ys[there[place]], "y", true)];
      ctx.beginPath();
      for (const [dx, dy] of MARKS[line.mark % MARKS.length]) ctx.lineTo(x + dx * size, y + dy * size);
      ctx.fill();
    }
  });
  ctx.restore();
}
