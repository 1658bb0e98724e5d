// What a plot tells at a time: a box with the values, and below the plot what bound a flow's rate.
// What makes the tooltip of a plot, for plots of `data` from 0 to `end`.
function tooltips(data, end, { number, instant, label, span }) {
  // Below the throughput: what bound the rate of a flow, as its latest packet that asked has found.
  function tellWhy(line, time, isSilent, panel) {
    const at = (when) => instant(when, line.dt / 2);
    const isOver = line.done != null && line.done <= time;
    const answers = line.why.filter(([sent]) => sent <= time);
    panel.replaceChildren();
    const head = span("", panel, "p");
    const chip = span("", head, "i");
    chip.className = "chip";
    chip.style.borderTopColor = line.stroke;
    span(label(line), head, "b");
    if (!answers.length) return void head.append(": no packet was followed before " + at(time) + ".");
    const [sent, by, equation, figures] = answers[answers.length - 1];
    if (isOver) head.append(" completed at " + at(line.done) + " and has sent no data since; its packet");
    else if (isSilent) head.append(" delivered nothing at " + at(time) + "; its last packet that was followed,");
    if (isOver || isSilent) head.append(" sent at " + at(sent) + " was bound by ");
    else head.append(" at " + at(sent) + " is bound by ");
    span(data.says[by], head, "b");
    span(data.says[equation], panel, "p");
    const body = span("", panel, "p");
    figures.forEach((figure, i) => {
      span(figure + (i + 1 < figures.length ? "," : ""), body);
      body.append(" ");
    });
  }

  function deliveredNothing({ delivered, dt }, time) {
    if (!delivered) return false;
    const [first, ...values] = delivered;
    return values[Math.round(time / dt - 0.5) - first] === 0;
  }

  // Along the time.
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
  // From flow to flow.
  const TURNS = { ArrowUp: -1, ArrowDown: 1 };
  const KEYS = "What bound each flow's rate. Left and right: the time; up and down: the flow.";
  const NO_TIME = "no time chosen";

  function tooltip(lines, unit, panel) {
    let tip = null;
    // The line that the keys are on; the pointer takes the nearest.
    let chosen = null;
    // Whether keys or a tap ask, and not the pointer or another plot.
    let asked = false;
    const hide = () => { if (tip) tip.style.display = "none"; };
    function show(u) {
      const { left, top, idx } = u.cursor;
      // Synced plots show the line only: one box at a time, under the pointer.
      if (idx == null || left < 0 || !(asked || u.over.matches(":hover"))) return hide();
      if (!tip) {
        tip = document.createElement("div");
        tip.className = "tip";
        u.over.append(tip);
      }
      const y = u.posToVal(top, "y");
      const rows = lines
        .map((line, i) => ({ line, i: i + 1, v: u.data[i + 1][idx] }))
        .filter((r) => r.v != null && u.series[r.i].show);
      if (!rows.length) return hide();
      // On a phone more would hide the plot.
      const most = u.over.clientWidth < 400 ? 5 : 10;
      const from = asked && chosen != null ? u.data[chosen + 1][idx] : y;
      const near = rows.slice().sort((a, b) => Math.abs(a.v - from) - Math.abs(b.v - from)).slice(0, most);
      const nearest = asked && chosen != null ? lines[chosen] : near[0].line;
      if (panel && nearest.why) {
        const time = u.data[0][idx];
        tellWhy(nearest, time, deliveredNothing(nearest, time), panel);
      }
      near.sort((a, b) => b.v - a.v);
      tip.replaceChildren();
      span(instant(u.data[0][idx], near[0].line.dt / 2), tip, "b");
      const body = document.createElement("table");
      for (const { line, v } of near) {
        const row = document.createElement("tr");
        if (panel && line === nearest && line.why) row.className = "near";
        const name = document.createElement("td");
        const chip = span("", name, "i");
        chip.className = "chip";
        chip.style.borderTopColor = line.stroke;
        name.append(label(line));
        row.append(name);
        span(number(v) + " " + unit, row, "td");
        body.append(row);
      }
      tip.append(body);
      if (rows.length > near.length) span("nearest " + most + " of " + rows.length, tip, "small");
      tip.style.display = "";
      const flip = left > u.over.clientWidth / 2;
      const room = u.over.clientWidth - tip.offsetWidth;
      const aside = flip ? left - 14 - tip.offsetWidth : left + 14;
      tip.style.left = Math.max(-u.over.offsetLeft, Math.min(aside, room)) + "px";
      tip.style.top = Math.max(0, Math.min(top, u.over.clientHeight - tip.offsetHeight)) + "px";
    }
    function ask(u, left, top) {
      asked = true;
      u.setCursor({ left, top });
      asked = false;
    }
    function move(u, step, turn) {
      const [low, high] = u.series[0].idxs;
      chosen = ((chosen ?? 0) + turn + lines.length) % lines.length;
      const { idx } = u.cursor;
      const back = step < 0;
      const target = idx == null && Number.isFinite(step) ? (back ? high : low) : Math.max(low, Math.min(idx + step, high));
      const values = u.data[chosen + 1];
      const seek = (way) => {
        for (let k = target; k >= low && k <= high; k += way) if (values[k] != null) return k;
        return null;
      };
      // From either end towards the other; else onwards, and where nothing is left, back.
      const way = step === Infinity || (back && step > -Infinity) ? -1 : 1;
      const at = seek(way) ?? seek(-way);
      if (at == null) return;
      const time = u.data[0][at];
      ask(u, u.valToPos(time, "x"), u.valToPos(values[at], "y"));
      const said = [instant(time, lines[chosen].dt / 2), label(lines[chosen]), number(values[at]) + " " + unit];
      u.over.setAttribute("aria-valuenow", time);
      u.over.setAttribute("aria-valuetext", said.join(", "));
    }
    function close(u) {
      chosen = null;
      u.setCursor({ left: -10, top: -10 });
      u.over.setAttribute("aria-valuetext", NO_TIME);
      panel.textContent = panel.dataset.prompt;
    }
    // The same for keys and taps.
    function listen(u) {
      if (!panel || panel.hidden) return;
      panel.dataset.prompt ??= panel.textContent;
      const { over } = u;
      const said = {
        tabindex: 0, role: "slider", "aria-label": KEYS, "aria-valuemin": 0, "aria-valuemax": end,
        "aria-valuenow": 0, "aria-valuetext": NO_TIME,
      };
      for (const [name, value] of Object.entries(said)) over.setAttribute(name, value);
      over.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.key === "Escape") close(u);
        else if (event.key in STEPS) move(u, STEPS[event.key], 0);
        else if (event.key in TURNS) move(u, 0, TURNS[event.key]);
        else return;
        event.preventDefault();
      });
      over.addEventListener("click", (event) => {
        chosen = null;
        ask(u, event.offsetX, event.offsetY);
      });
      over.addEventListener("blur", hide);
    }
    return { hooks: { ready: listen, setCursor: show } };
  }

  return tooltip;
}
