// Saves figures of the page as files, without a network.

// The width and the letters that saved figures have.
function paperChosen() {
  const [columns, letters] = (document.querySelector(".paper")?.value ?? "1 sans").split(" ");
  return paperStyle(+columns, letters === "serif");
}

function saveAs(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A picture of 600 dots an inch.
function pngOf(svg, style) {
  return new Promise((done, failed) => {
    const picture = new Image();
    picture.onload = () => {
      const scale = 600 / 72;
      const canvas = document.createElement("canvas");
      const height = picture.height / picture.width * style.width;
      [canvas.width, canvas.height] = [style.width, height].map((side) => Math.round(side * scale));
      const pen = canvas.getContext("2d");
      pen.fillStyle = "#ffffff";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      const bytes = Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1]), (c) => c.charCodeAt(0));
      done(new Blob([bytes], { type: "image/png" }));
    };
    picture.onerror = failed;
    picture.src = "data:image/svg+xml," + encodeURIComponent(svg);
  });
}

const SAVED = {
  svg: (figure) => new Blob([drawFigure(figure, paperChosen())], { type: "image/svg+xml" }),
  png: (figure) => pngOf(drawFigure(figure, paperChosen()), paperChosen()),
  csv: (figure) => new Blob([figureCsv(figure)], { type: "text/csv" }),
};

// Gives a figure's element a button for each format. `read` returns the figure as it is shown, or null.
function offerSaving(element, read) {
  const box = document.createElement("span");
  box.className = "save";
  for (const format of Object.keys(SAVED)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = format.toUpperCase();
    button.addEventListener("click", async () => {
      const figure = read();
      if (figure) saveAs(figure.name + "." + format, await SAVED[format](figure));
    });
    button.setAttribute("aria-label", "Save " + (element.querySelector("h3")?.textContent.trim() ?? "the figure") + " as " + format.toUpperCase());
    box.append(button);
  }
  element.querySelector("figcaption").append(box);
}

// A line of a legend with its marker, in the colours of the page.
function swatch(series) {
  const corners = MARKS[series.mark % MARKS.length].map(([x, y]) => at(12 + 4 * x, 5 + 4 * y)).join("L");
  const line = series.kind === "marks" || series.kind === "dots" ? "" : `<path class="dash${series.dash % 4}" d="M0 5H24"/>`;
  const box = document.createElement("span");
  box.className = series.hue < 0 ? "ink" : "hue" + (series.hue % PALETTE.length);
  box.innerHTML = `<svg class="swatch" viewBox="0 0 24 10" aria-hidden="true">${line}<path class="mark" d="M${corners}Z"/></svg>`;
  return box;
}

// The legend of a figure below its plot.
function legendBelow(box, entries) {
  if (!entries.length) return;
  const list = document.createElement("div");
  list.className = "flows";
  for (const series of entries) {
    const item = swatch(series);
    item.append(series.name);
    list.append(item);
  }
  box.append(list);
}

// Width of a box: on paper a figure is as wide as the page, or half as wide beside another.
function widthOf(box) {
  if (!document.documentElement.classList.contains("printing")) return Math.max(260, box.clientWidth);
  return box.clientWidth > 0.6 * document.querySelector("main").clientWidth ? 650 : 312;
}

// Draws a figure that is no plot over time into its box, in the colours of the page.
function drawOnPage(box, figure) {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  box.innerHTML = drawFigure(figure, {
    width: widthOf(box), font: 12, unit: "", ink: read("--ink"), grid: read("--grid"),
    colours: PALETTE.map((_, hue) => read("--hue" + hue)), family: "system-ui, 'Segoe UI', Roboto, Arial, sans-serif",
  });
  const svg = box.firstElementChild;
  svg.setAttribute("aria-hidden", "true");
  svg.querySelector("title").remove();
}
