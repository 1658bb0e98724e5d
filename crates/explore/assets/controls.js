// Controls of a scenario's values. A slider is a list of texts, which the server makes: it knows the units.

// Makes the controls in `box`. `changed(path, value)` is called with null where the scenario's own value returns,
// and with `isMoving` while a slider still moves.
function controlsIn(box, changed) {
  const rows = new Map();
  const sections = new Map();

  function section(title) {
    if (!sections.has(title)) {
      const details = document.createElement("details");
      details.open = title !== "Expectations";
      details.append(Object.assign(document.createElement("summary"), { textContent: title }));
      sections.set(title, details);
    }
    return sections.get(title);
  }

  function row(control) {
    const { path, form, steps } = control;
    const element = document.createElement("div");
    element.className = "control";
    const id = "c-" + path;
    const label = Object.assign(document.createElement("label"), { htmlFor: id, title: control.about });
    // A long path is broken after a dot.
    path.split(/(?<=\.)/).forEach((part, at) => label.append(...(at ? [document.createElement("wbr"), part] : [part])));
    const isChoice = form === "choice";
    const field = document.createElement(isChoice ? "select" : "input");
    if (isChoice) for (const step of steps) field.add(new Option(step));
    else field.type = "text";
    field.id = id;
    field.title = control.about;
    field.spellcheck = false;
    const back = Object.assign(document.createElement("button"), { type: "button", textContent: "↺", title: "As the scenario has it" });
    back.setAttribute("aria-label", path + " as the scenario has it");
    element.append(label, field, back);
    // Path by which the value is set: a reader may have spelt it otherwise.
    let own = path;
    // A value that is refused can be taken back, too.
    const change = (value, isMoving) => {
      element.classList.toggle("changed", value !== null);
      changed(own, value, isMoving);
    };
    let slider = null;
    if (form === "slider") {
      slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: steps.length - 1 });
      slider.setAttribute("aria-label", path);
      element.append(slider);
      const take = (isMoving) => {
        field.value = steps[slider.value];
        slider.setAttribute("aria-valuetext", field.value);
        change(field.value, isMoving);
      };
      slider.addEventListener("input", () => take(true));
      slider.addEventListener("change", () => take(false));
    }
    field.addEventListener("change", () => change(field.value, false));
    back.addEventListener("click", () => change(null, false));
    const set = (value, setBy, isChanged) => {
      own = setBy;
      // What is being typed is not replaced.
      if (field !== document.activeElement || isChoice) field.value = value;
      if (slider) {
        if (slider !== document.activeElement) slider.value = steps.indexOf(value);
        slider.setAttribute("aria-valuetext", value);
      }
      element.classList.toggle("changed", isChanged);
      // A long value has a line of its own.
      element.classList.toggle("long", form === "field" && value.length > 14);
    };
    const fits = (next) => next.form === form && (form === "field" || steps.includes(next.value)) && next.section === control.section;
    const blame = (isWrong) => field.setAttribute("aria-invalid", isWrong);
    return { element, set, fits, blame, isSetBy: (paths) => paths.includes(own) };
  }

  // Shows these controls. Those that are there stay as they are: a slider that is held is not replaced.
  function show(controls, values) {
    const shown = new Set(controls.map((control) => control.path));
    for (const [path, { element }] of rows) {
      if (shown.has(path)) continue;
      element.remove();
      rows.delete(path);
    }
    const lastOf = new Map();
    controls.forEach((control) => {
      const old = rows.get(control.path);
      let now = old;
      if (!old?.fits(control)) {
        now = row(control);
        rows.set(control.path, now);
        if (old) old.element.replaceWith(now.element);
      }
      const parent = section(control.section);
      const before = lastOf.get(parent) ?? parent.firstElementChild;
      if (before.nextElementSibling !== now.element) before.after(now.element);
      lastOf.set(parent, now.element);
      const setBy = control.set ?? control.path;
      now.set(control.value, setBy, values.has(setBy));
      now.blame(false);
    });
    const order = [...new Set(controls.map((control) => control.section))].map((title) => sections.get(title));
    const standing = [...box.children];
    if (order.length !== standing.length || order.some((one, i) => one !== standing[i])) box.replaceChildren(...order);
  }

  return { show, blame: (paths) => rows.forEach((row) => row.blame(row.isSetBy(paths))) };
}
