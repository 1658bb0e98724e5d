// The lines of an earlier run, which stay behind those of a plot, pale.

// `before` is the data of the earlier run, or null; `data`, `state` and `on` are those of the panel.
function earlierRun({ data, before, state, on, strokeOf }) {
  const plots = new Map((before?.plots ?? []).map((one) => [one.key, one]));
  // Laws that are shown now. Where one law ran, and another one before, their flows are compared.
  const isOn = (g) => {
    if (before.mode === "flows" && data.mode === "flows") return true;
    const now = data.groups.findIndex((group) => group.name === before.groups[g].name);
    return now >= 0 && on[now];
  };
  // The series of a plot, each with the panel that it was in. Without the plot's link in the earlier run there is none.
  function seriesOf(key) {
    const plot = plots.get(key);
    if (!plot) return [];
    const link = before.links.findIndex((one) => one.name === data.links[state.link]?.name);
    if (plot.of === "link" && link < 0) return [];
    const figure = timedFigure(before, plot, link, state.panels, isOn);
    // A band would look like a second line.
    const lines = (series) => series.filter((one) => one.kind !== "band");
    return (figure?.panels ?? []).flatMap(({ title, series }) => lines(series).map((one) => ({ ...one, panel: title })));
  }
  // Those of the series that belong behind a panel of a figure.
  const within = (all, panel, figure) =>
    all.filter((one) => figure.panels.length === 1 || one.panel === panel.title || one.name === panel.title);
  // The top of a plot's axis: as high as its own lines and those behind them need.
  function highOf(figure, quantity, all) {
    const most = all.flatMap((series) => series.values).reduce((m, v) => (v > m ? v : m), 0);
    return quantity.shape.top ?? Math.max(figure.y.high, most * 1.06);
  }
  // Draws series behind `lines`, in the colours of those of the same name.
  function draw(u, all, lines) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.32;
    ctx.lineWidth = 2.2 * devicePixelRatio;
    for (const series of all) {
      const same = lines.find((line) => line.name === seriesLabel(series));
      ctx.strokeStyle = same ? same.stroke : strokeOf(series);
      ctx.beginPath();
      let last = null;
      series.values.forEach((value, k) => {
        if (value == null) return void (last = null);
        const [x, y] = [u.valToPos((series.first + k + 0.5) * series.line.dt, "x", true), u.valToPos(value, "y", true)];
        // As the plot's own steps: up at the point before, and across.
        if (last != null && series.kind === "steps") ctx.lineTo(last, y);
        if (last != null) ctx.lineTo(x, y);
        else ctx.moveTo(x, y);
        last = x;
      });
      ctx.stroke();
    }
    ctx.restore();
  }
  return { seriesOf, within, highOf, draw };
}
