// Draws a figure as SVG, and writes it as CSV: what `ratewire plot` does, to the digit.
// Colours of laws, and after them the tones of flows.
const PALETTE = [
  "#0072b2", "#d55e00", "#008a63", "#b8558f", "#9a6a00", "#8c1d3f", "#6a4fc0", "#a838d8",
  "#0090a8", "#5d8a00", "#d81e2c", "#1f3f77", "#1f2a38", "#8a7a63", "#566a84", "#93889a",
  "#4f4236", "#7f9383",
];
// Tone, dash and marker of the flow or group in a place.
const lookOfFlow = (place) => ({ hue: 12 + (place % 6), dash: Math.floor(place / 6) % 4, mark: place % 7 });
const DASHES = [[], [5, 2.5], [1.5, 2], [6, 2, 1.5, 2]];
// Corners of markers around the origin.
const MARKS = [
  [[1, 0], [0.866, 0.5], [0.5, 0.866], [0, 1], [-0.5, 0.866], [-0.866, 0.5], [-1, 0], [-0.866, -0.5], [-0.5, -0.866],
    [0, -1], [0.5, -0.866], [0.866, -0.5]],
  [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
  [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
  [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
  [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4],
    [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
  [[-1.1, -0.6], [-0.6, -1.1], [0, -0.5], [0.6, -1.1], [1.1, -0.6], [0.5, 0], [1.1, 0.6], [0.6, 1.1], [0, 0.5],
    [-0.6, 1.1], [-1.1, 0.6], [-0.5, 0]],
  [[0, -1.4], [0.35, -0.45], [1.3, -0.45], [0.55, 0.15], [0.85, 1.1], [0, 0.55], [-0.85, 1.1], [-0.55, 0.15],
    [-1.3, -0.45], [-0.35, -0.45]],
  [[-1, -1.2], [1, -1.2], [0.25, 0], [1, 1.2], [-1, 1.2], [-0.25, 0]],
  [[-1.2, -1], [0, -0.25], [1.2, -1], [1.2, 1], [0, 0.25], [-1.2, 1]],
  [[0, -1.3], [1.1, -0.2], [0.8, 1], [-0.8, 1], [-1.1, -0.2]],
];

// Distance of lines of text, in heights of letters.
const LINE = 1.2;

const axisLabel = (axis) => (axis.unit ? `${axis.title} (${axis.unit})` : axis.title);
const seriesLabel = (series) => (series.name + " " + series.part).trim();
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// Series that a legend names: each name once.
function legendOf(figure) {
  const named = [];
  for (const panel of figure.panels) {
    for (const series of panel.series) {
      const isNew = !named.some((known) => known.name === series.name);
      // The title of a panel, or a name on the axis, tells what a legend would tell.
      const isTold = series.name === panel.title || figure.x.names.includes(series.name);
      if (series.kind !== "band" && !series.pale && series.name && !isTold && isNew) named.push(series);
    }
  }
  return named.length > 1 ? named : [];
}

// Indices of the points of a line that have a marker.
function markPlaces(points, line, lines) {
  const along = Math.min(7, points);
  const offset = (line + 0.5) / lines;
  return Array.from({ length: along }, (_, k) => Math.floor(((k + offset) / along) * points));
}

// ---- axes ------------------------------------------------------------------------------------
const tenTo = (power) => Number("1e" + power);
const decade = (value) => Math.floor(Math.log10(value) + 1e-9);

function part(axis, value) {
  const along = axis.log
    ? Math.log(Math.max(value, axis.low) / axis.low) / Math.log(axis.high / axis.low)
    : (value - axis.low) / (axis.high - axis.low);
  return clamp(along, 0, 1);
}

function ticksOf(axis, wanted) {
  if (axis.names.length) return axis.names.map((name, i) => [i, name]);
  const ticks = axis.log ? logTicks(axis, wanted) : [];
  // A short logarithmic axis may have few numbers that are as round.
  const isShort = !axis.log || axis.high / axis.low < 10;
  return isShort && ticks.length < 3 ? linearTicks(axis, wanted) : ticks;
}

// The ticks whose labels do not touch; `room` gives the part of the axis that a label takes.
function spacedTicks(axis, all, room) {
  const fit = (ticks) => ticks.every(([value, label], i) => {
    const next = ticks[i + 1];
    return !next || part(axis, next[0]) - part(axis, value) >= (room(label) + room(next[1])) / 2;
  });
  const powers = all.filter(([value]) => Math.abs(tenTo(decade(value)) / value - 1) < 1e-6);
  const ticks = axis.log && powers.length > 1 && !fit(all) ? powers : all;
  for (let step = 1; ; step++) {
    const kept = ticks.filter((_, i) => i % step === 0);
    if (fit(kept)) return kept;
  }
}

function linearTicks({ low, high }, wanted) {
  const rough = (high - low) / wanted;
  if (!(rough > 0 && Number.isFinite(rough))) return [];
  const steps = [1, 2, 5, 10].map((step) => step * tenTo(decade(rough)));
  const step = steps.find((one) => one >= rough * (1 - 1e-9)) ?? steps[3];
  const digits = Math.max(0, -decade(step));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step).map((v) => [v, v.toFixed(digits)]);
}

function logTicks({ low, high }, wanted) {
  const [first, last] = [decade(low), decade(high)];
  const steps = high / low < 200 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((last - first) / wanted));
  const every = (stride) => {
    const ticks = [];
    for (let power = first; power <= last; power++) {
      if (steps.length === 1 && power % stride !== 0) continue;
      for (const step of steps) {
        const value = step * tenTo(power);
        if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
        ticks.push([value, power < -4 || power >= 6 ? step + "e" + power : value.toFixed(Math.max(0, -power))]);
      }
    }
    return ticks;
  };
  const ticks = every(stride);
  // Of one tick nothing is read.
  return ticks.length > 1 ? ticks : every(1);
}

// ---- layout ----------------------------------------------------------------------------------
// Approximate width of a text, in heights of letters.
function textWidth(text) {
  let width = 0;
  for (const c of text) {
    if ("ijlI.,:;|!' ".includes(c)) width += 0.28;
    else if ("ftr-()[]/".includes(c)) width += 0.34;
    else if ("mwMW%@".includes(c)) width += 0.86;
    else if (c === "…") width += 1;
    else if (c >= "A" && c <= "Z") width += 0.68;
    else if (c.codePointAt(0) < 0x80) width += 0.556;
    else width += c.codePointAt(0) < 0x1100 ? 0.6 : 1;
  }
  return width;
}

// The text, or its beginning and end around "…" where it has no room.
function fittedText(text, room) {
  if (textWidth(text) <= room) return text;
  const letters = [...text];
  let [head, tail, left] = [0, 0, room - textWidth("…")];
  while (head + tail < letters.length) {
    left -= textWidth(head <= tail ? letters[head] : letters[letters.length - 1 - tail]);
    if (left < 0) break;
    if (head <= tail) head++;
    else tail++;
  }
  return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - tail).join("");
}

// The lines of a text that is broken at spaces; each has room.
function wrappedText(text, room) {
  const lines = [];
  for (const word of text.split(" ")) {
    const joined = lines.length ? lines[lines.length - 1] + " " + word : "";
    if (joined && textWidth(joined) <= room) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines.map((line) => fittedText(line, room));
}

function layoutOf(figure, width, font) {
  const panels = Math.max(1, figure.panels.length);
  const legend = [];
  let [x, line] = [0, 0];
  for (const series of legendOf(figure)) {
    const name = fittedText(series.name, width / font - 3.6);
    const wide = (3.6 + textWidth(name)) * font;
    if (x > 0 && x + wide > width) [x, line] = [0, line + 1];
    legend.push([series, name, x + 0.3 * font, (line * 1.45 + 0.8) * font]);
    x += wide;
  }
  const top = (legend.length ? (line + 1) * 1.45 * font + 0.3 * font : 0) + scaleHeight(figure, font);
  const rows = Math.ceil(panels / clamp(Math.floor(width / (15 * font)), 1, panels));
  const columns = Math.ceil(panels / rows);
  const apart = panels > 1;
  const high = apart ? clamp(0.6 * (width / columns), 7 * font, 13 * font) : clamp(0.44 * width, 12 * font, 24 * font);
  const wide = (label) => textWidth(label) * font;
  const widest = (ticks) => ticks.reduce((most, tick) => Math.max(most, wide(tick[1])), 0);
  const shortened = (ticks, room) => ticks.map(([value, label]) => [value, fittedText(label, room)]);
  const yTicks = shortened(
    spacedTicks(figure.y, ticksOf(figure.y, clamp(high / (2.6 * font), 2, 7)), () => (1.25 * font) / high),
    (0.35 * width) / font);
  const above = apart ? (LINE + 0.4) * font : 0.6 * font;
  // Below the legend, the title has the height of all planes and of the labels below them.
  const beside = rows * high + above + 3.1 * font;
  const yTitle = wrappedText(axisLabel(figure.y), beside / font);
  // Rings go beyond the plane.
  const isClaimed = figure.panels.some((panel) => panel.series.some((series) => series.kind === "claimed"));
  const besidePlane = isClaimed ? 0.7 * font : 0.4 * font;
  const left = (0.9 + LINE * yTitle.length) * font + widest(yTicks) + 0.2 * font + besidePlane;
  // Labels at the ends of the axis go beyond it.
  const wanted = (wide) => clamp(wide / (4 * font), 2, 9);
  const ticks = figure.x.names.length ? [] : ticksOf(figure.x, wanted(width / columns));
  const ends = [ticks[0], ticks[ticks.length - 1]].map((tick) => wide(tick?.[1] ?? "") / 2);
  const right = Math.max(1.2 * font, ends[1] + 0.2 * font);
  const gap = Math.max(1.6 * font, ends[0] + ends[1] + 0.5 * font);
  const plane = [Math.max((width - left - right - (columns - 1) * gap) / columns, 0.1 * font), high];
  let xTicks = ticksOf(figure.x, wanted(plane[0]));
  const step = plane[0] / Math.max(1, figure.x.names.length);
  const upright = figure.x.names.length > 0 && widest(xTicks) + 0.4 * font > step;
  xTicks = spacedTicks(figure.x, xTicks, (label) =>
    upright ? (1.1 * font) / plane[0] : (wide(label) + 0.4 * font) / plane[0]);
  if (upright) xTicks = shortened(xTicks, 14);
  const labels = upright ? widest(xTicks) + 0.9 * font : 1.7 * font;
  const titles = figure.panels.map((panel) => wrappedText(panel.title, plane[0] / font));
  const title = apart ? (LINE * Math.max(1, ...titles.map((lines) => lines.length)) + 0.4) * font : 0.6 * font;
  const row = title + plane[1] + labels;
  const planes = figure.panels.map((_, panel) => {
    const [column, rowNumber] = [panel % columns, Math.floor(panel / columns)];
    return [left + column * (plane[0] + gap), top + title + rowNumber * (row + 0.4 * font)];
  });
  const xTitle = wrappedText(axisLabel(figure.x), width / font - 0.4);
  const below = (1.4 + LINE * (xTitle.length - 1)) * font;
  const height = top + rows * row + (rows - 1) * 0.4 * font + below;
  // The middles of both titles: those of the planes, unless a title has no room there.
  const half = (lines) => lines.reduce((most, line) => Math.max(most, wide(line)), 0) / 2;
  const [xHalf, yHalf] = [half(xTitle) + 0.2 * font, half(yTitle)];
  const middle = left + ((plane[0] + gap) * columns - gap) / 2;
  const up = Math.max((2 * (top + title) + rows * (row + 0.4 * font) - 0.4 * font - title - labels) / 2, top + yHalf);
  return {
    width, height, legend, planes, plane, columns, xTicks, yTicks, upright, titles, xTitle, yTitle, besidePlane,
    across: Math.max(Math.min(middle, width - xHalf), xHalf), up,
  };
}

// ---- drawing ---------------------------------------------------------------------------------
const escapeXml = (text) => text.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);
const short = (value) => String(Math.floor(value * 100 + 0.5) / 100 || 0);
const at = (x, y) => short(x) + " " + short(y);

// The style of a paper: points, columns of IEEE.
const paperStyle = (columns, serif) => ({
  width: columns === 2 ? 515.5 : 252, font: 8, unit: "pt", ink: "#000000", grid: "#dddddd", colours: PALETTE,
  family: serif ? "'Liberation Serif', 'Times New Roman', Times, serif" : "'Liberation Sans', Helvetica, Arial, sans-serif",
});

function drawFigure(figure, style) {
  const { font, ink, grid, colours } = style;
  const layout = layoutOf(figure, style.width, font);
  const colour = (series) => (series.hue < 0 ? ink : colours[series.hue % colours.length]);
  const text = (x, y, anchor, content) =>
    `<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}">${escapeXml(content)}</text>\n`;
  const upright = (x, y, anchor, content) =>
    `<text transform="translate(${at(x, y)}) rotate(-90)" text-anchor="${anchor}">${escapeXml(content)}</text>\n`;
  const stroke = (series, path) => {
    const width = 0.13 * font;
    const dash = DASHES[series.dash % 4].map((one) => short(one * width)).join(" ");
    return `<path d="${path}" fill="none" stroke="${colour(series)}" stroke-width="${short(width)}" stroke-linejoin="round"` +
      (dash ? ` stroke-dasharray="${dash}"` : "") + "/>\n";
  };
  // `told` is what a page says of the point that the marker stands for.
  const marker = (series, x, y, told) => {
    if (series.kind === "claimed") {
      return `<circle cx="${short(x)}" cy="${short(y)}" r="${short(0.5 * font)}" fill="none" stroke="${colour(series)}" ` +
        `stroke-width="${short(0.12 * font)}"/>\n`;
    }
    const size = 0.26 * font;
    const corners = MARKS[series.mark % MARKS.length].map(([dx, dy]) => at(x + dx * size, y + dy * size));
    const path = `<path d="M${corners.join("L")}Z" fill="${colour(series)}"`;
    return told ? `${path}><title>${escapeXml(told)}</title></path>\n` : path + "/>\n";
  };
  const place = ([left, top], x, y) =>
    [left + part(figure.x, x) * layout.plane[0], top + (1 - part(figure.y, y)) * layout.plane[1]];
  const placesOf = (corner, series) => series.points.map(([x, y]) => (y == null ? null : place(corner, x, y)));
  const path = (points, steps) => {
    let [out, isDown] = ["", false];
    for (const point of points) {
      if (!point) { isDown = false; continue; }
      const [x, y] = point;
      out += !isDown ? "M" + at(x, y) : steps ? `H${short(x)}V${short(y)}` : "L" + at(x, y);
      isDown = true;
    }
    return out;
  };
  const intervals = (corner, series) => {
    const half = 0.3 * font;
    let out = "";
    series.points.forEach(([x, y], i) => {
      const margin = series.margins[i];
      if (y == null || margin == null) return;
      const [px, high] = place(corner, x, y + margin);
      const [, low] = place(corner, x, y - margin);
      for (const edge of [high, low]) out += `M${at(px - half, edge)}H${short(px + half)}`;
      out += `M${at(px, high)}V${short(low)}`;
    });
    return out && `<path d="${out}" fill="none" stroke="${colour(series)}" stroke-width="${short(0.09 * font)}"/>\n`;
  };
  const band = (series, upper, lower) => {
    let [out, there, back] = ["", [], []];
    for (let i = 0; i <= upper.length; i++) {
      if (upper[i] && lower[i]) {
        there.push(at(...upper[i]));
        back.push(at(...lower[i]));
      } else if (there.length) {
        out += `M${there.join("L")}L${back.reverse().join("L")}Z`;
        [there, back] = [[], []];
      }
    }
    return `<path d="${out}" fill="${colour(series)}" fill-opacity="0.2"/>\n`;
  };
  const tiles = (corner, series) => {
    const size = [layout.plane[0] / figure.x.names.length, layout.plane[1] / figure.y.names.length];
    const have = haveValues(figure, size, font);
    return series.points.map(([x, y], i) => (series.values[i] == null ? ""
      : drawTile(figure.scale, series.values[i], place(corner, x - 0.5, y + 0.5), size, font, have, series.told?.[i]))).join("");
  };
  const drawSeries = (corner, all, number) => {
    const series = all[number];
    const points = placesOf(corner, series);
    const there = points.filter(Boolean);
    const markers = (chosen) => chosen.map(([x, y], i) => marker(series, x, y, series.told?.[i])).join("");
    switch (series.kind) {
      case "band": return band(series, points, all[number + 1] ? placesOf(corner, all[number + 1]) : []);
      case "dots":
        return `<path d="${there.map(([x, y]) => `M${at(x, y)}h0`).join("")}" fill="none" stroke="${colour(series)}" ` +
          `stroke-width="${short(0.24 * font)}" stroke-linecap="round" stroke-opacity="0.5"/>\n`;
      case "tiles": return tiles(corner, series);
      case "joined": return stroke(series, path(points, false)) + intervals(corner, series) + markers(there);
      case "marks":
      case "claimed": return intervals(corner, series) + markers(there);
      default:
        return stroke(series, path(points, series.kind === "steps")) +
          markers(markPlaces(there.length, number, all.length).map((i) => there[i]));
    }
  };

  const [width, height] = [short(layout.width), short(layout.height)];
  let out = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}${style.unit}" height="${height}${style.unit}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="${style.family}" font-size="${short(font)}" fill="${ink}">\n` +
    `<title>${escapeXml(figure.title)}</title>\n`;
  for (const [series, name, x, y] of layout.legend) {
    const end = x + 2.4 * font;
    if (!["dots", "marks", "claimed"].includes(series.kind)) out += stroke(series, `M${at(x, y)}H${short(end)}`);
    out += marker(series, (x + end) / 2, y) + text(end + 0.4 * font, y + 0.35 * font, "start", name);
  }
  const thin = short(0.06 * font);
  layout.planes.forEach((corner, number) => {
    const panel = figure.panels[number];
    const [left, top] = corner;
    const [right, bottom] = [left + layout.plane[0], top + layout.plane[1]];
    if (figure.panels.length > 1) {
      const lines = layout.titles[number];
      lines.forEach((line, i) => { out += text(left, top - (LINE * (lines.length - 1 - i) + 0.45) * font, "start", line); });
    }
    let [lines, labels] = ["", ""];
    for (const [value, tick] of layout.xTicks) {
      const [x] = place(corner, value, figure.y.low);
      lines += `M${at(x, top)}V${short(bottom)}`;
      labels += layout.upright
        ? upright(x + 0.35 * font, bottom + 0.4 * font, "end", tick)
        : text(x, bottom + 1.15 * font, "middle", tick);
    }
    for (const [value, tick] of layout.yTicks) {
      const [, y] = place(corner, figure.x.low, value);
      lines += `M${at(left, y)}H${short(right)}`;
      if (number % layout.columns === 0) labels += text(left - layout.besidePlane, y + 0.35 * font, "end", tick);
    }
    // Between tiles there is nothing to read off, and lines would cross their numbers.
    out += (figure.scale ? "" : `<path d="${lines}" stroke="${grid}" stroke-width="${thin}"/>\n`) + labels;
    for (const mark of figure.marks.filter((x) => x > figure.x.low && x < figure.x.high)) {
      const [x] = place(corner, mark, figure.y.low);
      out += `<path d="M${at(x, top)}V${short(bottom)}" stroke="${ink}" stroke-width="${thin}" ` +
        `stroke-dasharray="${short(0.3 * font)} ${short(0.3 * font)}"/>\n`;
    }
    panel.series.forEach(({ pale }, i) => {
      const drawn = drawSeries(corner, panel.series, i);
      out += pale ? `<g opacity="0.3">${drawn}</g>` : drawn;
    });
    out += `<path d="M${at(left, top)}V${short(bottom)}H${short(right)}" fill="none" stroke="${ink}" stroke-width="${thin}"/>\n`;
  });
  if (figure.scale && layout.planes.length) {
    const right = Math.max(...layout.planes.map((plane) => plane[0]));
    out += drawScale(figure.scale, [layout.planes[0][0], right + layout.plane[0]], ink, font);
  }
  layout.xTitle.forEach((line, i) => {
    const base = layout.height - 0.5 * font - LINE * (layout.xTitle.length - 1 - i) * font;
    out += text(layout.across, base, "middle", line);
  });
  layout.yTitle.forEach((line, i) => { out += upright((1 + LINE * i) * font, layout.up, "middle", line); });
  return out + "</svg>\n";
}

// ---- CSV -------------------------------------------------------------------------------------
function csvCell(text) {
  const plain = /^[=+\-@]/.test(text) ? "'" + text : text;
  return /[,"\n\r]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
}

function figureCsv(figure) {
  const number = (value) => (value == null ? "" : String(+value.toPrecision(8)));
  const hasMargins = figure.panels.some((panel) => panel.series.some((series) => series.margins.length));
  const head = ["series", axisLabel(figure.x), axisLabel(figure.y)].map(csvCell);
  if (figure.apart_by) head.unshift(csvCell(figure.apart_by));
  if (hasMargins) head.push(csvCell("± " + axisLabel(figure.y)));
  if (figure.scale) head.push(csvCell(axisLabel(figure.scale)));
  const rows = [head];
  for (const panel of figure.panels) {
    for (const series of panel.series) {
      series.points.forEach(([x, y], i) => {
        // Laws at one name of an axis stand beside each other.
        const name = figure.x.names[Math.max(0, Math.round(x))];
        const other = y == null ? null : figure.y.names[Math.max(0, y)];
        const row = [seriesLabel(series), name ?? number(x), other ?? number(y)].map(csvCell);
        if (figure.apart_by) row.unshift(csvCell(panel.title));
        if (hasMargins) row.push(number(series.margins[i]));
        if (figure.scale) row.push(number(series.values[i]));
        rows.push(row);
      });
    }
  }
  return rows.map((row) => row.join(",") + "\n").join("");
}
