// On phones all but the first of alike figures are folded until they are asked for, and so is what explains how
// figures were made. On paper nothing is folded.
const phone = matchMedia("screen and (max-width: 560px)");
// At other widths the style shows what is folded.
const isFolded = (element) => phone.matches && element.classList.contains("folded");
const foldTitle = (element) => element.querySelector("h3, h2").firstChild.textContent.trim();

// Folds what is within `root`, but for titles that are open already. `changed` is called when a figure is unfolded.
function foldIn(root, open, changed) {
  const folds = ["figure.chart", "figure.means"].flatMap((kind) => [...root.querySelectorAll(kind)].slice(1));
  for (const element of [...folds, ...root.querySelectorAll("section.about")]) {
    const [title, head] = [element.querySelector("h3, h2"), element.querySelector("figcaption") ?? element.querySelector("h2")];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    button.setAttribute("aria-label", foldTitle(element));
    title.append(button);
    const set = (isOpen) => {
      element.classList.toggle("folded", !isOpen);
      button.setAttribute("aria-expanded", isOpen);
    };
    set(open.includes(foldTitle(element)));
    head.addEventListener("click", (event) => {
      if (!phone.matches || (event.target !== button && event.target.closest("select, button"))) return;
      set(element.classList.contains("folded"));
      changed();
    });
  }
  if (phone.matches) for (const one of root.querySelectorAll("main details[open]")) one.open = false;
}
const unfoldedIn = (root) => [...root.querySelectorAll("[aria-expanded=true].fold")].map((one) => one.getAttribute("aria-label"));

// Paper is white and narrow. This comes before what draws for it.
let openedToPrint = [];
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  openedToPrint = [...document.querySelectorAll("details:not([open], .asked)")];
  for (const one of openedToPrint) one.open = true;
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  for (const one of openedToPrint) one.open = false;
});
