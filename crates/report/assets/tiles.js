// Heat maps: tiles in the colours of a scale, their values, and the scale above them, as draw/tiles.rs draws them.
// Viridis, whose lightness grows evenly.
const SCALE = [
  [68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 145, 140], [40, 174, 128], [94, 201, 98], [173, 220, 48],
  [253, 231, 37],
];
const SCALE_STEPS = 48;

// The scale of a figure's tiles. Shares and indices have all that is possible: what differs little looks alike.
function scaleOf(title, unit, unitName, values) {
  const [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, 0]);
  const [low, high] = unit === "share" ? [0, Math.max(most, 100)] : unit === "index" ? [0, Math.max(most, 1)]
    : least > 0 && most / least >= 50 ? [least, most] : [0, most > 0 ? most : 1];
  return { title: low > 0 ? title + ", logarithmic" : title, unit: unitName, low, high, log: low > 0, names: [] };
}

const scaleHeight = (figure, font) => (figure.scale ? 4.1 * font : 0);

function scaleColour(along) {
  const place = along * (SCALE.length - 1);
  const below = Math.min(Math.floor(place), SCALE.length - 2);
  return SCALE[below].map((from, i) => Math.floor(from + (SCALE[below + 1][i] - from) * (place - below) + 0.5));
}
const hexOf = (parts) => "#" + parts.map((one) => one.toString(16).padStart(2, "0")).join("");

// Three significant digits.
function threeDigits(value) {
  if (value === 0) return "0";
  const decimals = clamp(2 - Math.floor(Math.log10(Math.abs(value))), 0, 6);
  const step = 10 ** decimals;
  return (Math.floor(value * step + 0.5) / step).toFixed(decimals);
}

// Whether tiles of a size have their values: only where those of all have room.
function haveValues(figure, [wide, tall], font) {
  const values = figure.panels.flatMap((panel) => panel.series).flatMap((series) => series.values).filter((v) => v != null);
  return 1.2 * font < tall && values.every((value) => (textWidth(threeDigits(value)) + 0.5) * font < wide);
}

// `told` is what a page says of the tile.
function drawTile(scale, value, [left, top], [wide, tall], font, hasValue, told) {
  const own = scaleColour(part(scale, value));
  const gap = 0.06 * font;
  const rect = `<rect x="${short(left + gap)}" y="${short(top + gap)}" width="${short(wide - 2 * gap)}" ` +
    `height="${short(tall - 2 * gap)}" fill="${hexOf(own)}"`;
  const out = told ? `${rect}><title>${escapeXml(told)}</title></rect>\n` : rect + "/>\n";
  if (!hasValue) return out;
  const label = threeDigits(value);
  const brightness = 0.299 * own[0] + 0.587 * own[1] + 0.114 * own[2];
  return out + `<text x="${short(left + wide / 2)}" y="${short(top + tall / 2 + 0.35 * font)}" text-anchor="middle" ` +
    `fill="${brightness > 120 ? "#000000" : "#ffffff"}">${label}</text>\n`;
}

function drawScale(scale, [left, right], ink, font) {
  // A long title begins before the scale.
  const title = fittedText(axisLabel(scale), right / font + 0.7);
  const start = Math.max(Math.min(left, right + font - textWidth(title) * font), 0.3 * font);
  let out = `<text x="${short(start)}" y="${short(0.9 * font)}" text-anchor="start">${escapeXml(title)}</text>\n`;
  const wide = right - left;
  const step = wide / SCALE_STEPS;
  for (let i = 0; i < SCALE_STEPS; i++) {
    const more = i + 1 < SCALE_STEPS ? 0.1 * font : 0;
    out += `<rect x="${short(left + i * step)}" y="${short(1.4 * font)}" width="${short(step + more)}" height="${short(0.8 * font)}" ` +
      `fill="${hexOf(scaleColour((i + 0.5) / SCALE_STEPS))}"/>\n`;
  }
  let ticks = "";
  const all = ticksOf(scale, clamp(wide / (5 * font), 2, 6));
  for (const [value, label] of spacedTicks(scale, all, (label) => ((textWidth(label) + 0.5) * font) / wide)) {
    const x = left + part(scale, value) * wide;
    ticks += `M${at(x, 2.2 * font)}V${short(2.5 * font)}`;
    out += `<text x="${short(x)}" y="${short(3.4 * font)}" text-anchor="middle">${escapeXml(label)}</text>\n`;
  }
  return out + `<path d="${ticks}" stroke="${ink}" stroke-width="${short(0.06 * font)}"/>\n`;
}
