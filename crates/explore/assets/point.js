// The point of a sweep's grid that is looked at, with a slider for each parameter.
(() => {
  const find = (selector) => document.querySelector("#point " + selector);
  const cell = (parent, tag, text) => Object.assign(parent.appendChild(document.createElement(tag)), { textContent: text });
  let point = axes.map(() => 0);
  let before = null;

  function show() {
    const head = document.createElement("tr");
    ["Figure", ...laws].forEach((text, column) => {
      const title = cell(head, "th", text);
      title.scope = "col";
      if (column) title.className = "n";
    });
    find("thead").replaceChildren(head);
    const rows = figures.map(({ title }, figure) => {
      const row = document.createElement("tr");
      cell(row, "th", title).scope = "row";
      laws.forEach((_, law) => {
        const box = cell(row, "td", textAt(law, point, figure));
        box.className = "n";
        if (before) cell(box, "div", textAt(law, before, figure)).className = "before";
      });
      return row;
    });
    find("tbody").replaceChildren(...rows);
    movePoint(point, before);
  }

  axes.forEach((axis, index) => {
    if (axis.values.length < 2) return;
    const label = cell(find(".axes"), "label", axis.key);
    const told = cell(label, "output", axis.values[0].text);
    // Values that are no quantities have no order along a slider.
    const isSlider = axis.values.every((value) => value.number != null);
    const control = label.appendChild(document.createElement(isSlider ? "input" : "select"));
    if (isSlider) Object.assign(control, { type: "range", min: 0, max: axis.values.length - 1, value: 0 });
    else axis.values.forEach((value, at) => control.add(new Option(value.text, at)));
    control.setAttribute("aria-label", axis.key);
    control.addEventListener("input", () => {
      before = point;
      point = point.with(index, +control.value);
      told.textContent = axis.values[point[index]].text;
      control.setAttribute("aria-valuetext", told.textContent);
      show();
    });
  });
  if (figures.length) show();
})();
