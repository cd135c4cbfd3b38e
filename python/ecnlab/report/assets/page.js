"use strict";
// Theme: the reader's system decides until the button is pressed.
const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; });

// The page is complete without this script, which adds zoom, values under the pointer, and files of figures.
const UNITS = 10000, SVG = "http://www.w3.org/2000/svg";
const written = value => Number(value.toPrecision(4)).toLocaleString("en");
const made = (name, attributes, parent) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
};

// An axis: shares of its length, 0 to 1, and values.
function axis(text) {
  const [low, high, log] = text.split(" "), ends = [+low, +high], [a, b] = log ? ends.map(Math.log10) : ends;
  return {
    value: share => log ? 10 ** (a + share * (b - a)) : a + share * (b - a),
    share: value => ((log ? Math.log10(value) : value) - a) / (b - a),
  };
}

// The points of a curve, from its path.
function points(path) {
  const found = [];
  let x = 0, y = 0;
  const dots = path.classList.contains("dots");
  for (const [, command, first, second] of path.getAttribute("d").matchAll(/([MLHV])(-?\d+)(?: (-?\d+))?/g)) {
    if (command === "V") y = +first; else x = +first;
    if (second !== undefined) y = +second;
    if (command === "V" && found.length && found.at(-1)[0] === x) found.at(-1)[1] = y; else found.push([x, y, command === "M" && !dots]);
  }
  return found;
}

// The last point at or before a place, none in a gap or outside the curve.
function before(curve, at) {
  let low = 0, high = curve.length;
  while (low < high) { const middle = (low + high) >> 1; if (curve[middle][0] <= at) low = middle + 1; else high = middle; }
  return low && low < curve.length + (curve.at(-1)?.[0] === at) && !curve[low]?.[2] ? curve[low - 1] : undefined;
}

const tip = document.body.appendChild(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));

// A chart: the part that is shown is that of its stretched drawing's view box.
class Chart {
  constructor(svg) {
    this.svg = svg;
    this.area = svg.querySelector(".area");
    this.ticks = svg.querySelector(".ticks");
    this.x = axis(svg.dataset.x);
    this.y = axis(svg.dataset.y);
    this.shown = [0, 1];
    this.marks = [...svg.querySelectorAll(".moving use")].map(use => [use, parseFloat(use.getAttribute("x")) / 100]);
    this.cross = made("line", { class: "cross", y1: 0, y2: "100%", visibility: "hidden" }, svg);
    this.curves = undefined;
    svg.addEventListener("pointermove", event => this.point(event));
    svg.addEventListener("pointerleave", () => this.leave());
    svg.addEventListener("pointerdown", event => this.press(event));
    svg.addEventListener("pointerup", event => this.release(event));
    svg.addEventListener("dblclick", () => show(this, [0, 1]));
  }
  place(event) {
    const { left, width } = this.svg.getBoundingClientRect(), [a, b] = this.shown;
    return a + Math.min(Math.max((event.clientX - left) / width, 0), 1) * (b - a);
  }
  set(shown) {
    this.shown = shown;
    const [a, b] = shown;
    this.area.setAttribute("viewBox", `${a * UNITS} 0 ${(b - a) * UNITS} ${UNITS}`);
    for (const [use, at] of this.marks) {
      use.setAttribute("x", `${100 * (at - a) / (b - a)}%`);
      use.setAttribute("visibility", at < a || at > b ? "hidden" : "visible");
    }
    this.label();
  }
  label() {
    const [a, b] = this.shown, low = this.x.value(a), high = this.x.value(b), raw = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    this.ticks.replaceChildren();
    // + 0 turns −0, which would be written as such, into 0.
    for (let n = Math.ceil(low / step - 1e-9) + 0; n * step <= high + 1e-9; n++) {
      const at = 100 * (this.x.share(n * step) - a) / (b - a);
      made("text", { class: "x", x: `${at}%`, y: "100%", dy: 16 }, this.ticks).textContent = (n * step).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    }
  }
  point(event) {
    const at = this.place(event), [a, b] = this.shown, across = `${100 * (at - a) / (b - a)}%`;
    this.curves ??= [...this.area.querySelectorAll("[data-name]")].map(path => [path.dataset.name, points(path)]);
    const lines = this.curves.map(([name, curve]) => [name, before(curve, at * UNITS)]).filter(([name, found]) => name && found).slice(0, 8);
    this.cross.setAttribute("x1", across);
    this.cross.setAttribute("x2", across);
    this.cross.setAttribute("visibility", "visible");
    const head = document.createElement("b");
    head.textContent = `${this.svg.dataset.label || "x"}: ${written(this.x.value(at))}`;
    tip.replaceChildren(head, ...lines.flatMap(([name, [, y]]) => [`${name}: ${written(this.y.value(1 - y / UNITS))}`, document.createElement("br")]));
    tip.hidden = false;
    const right = event.pageX + 16 + tip.offsetWidth > root.clientWidth;
    tip.style.left = `${Math.max(4, right ? event.pageX - 16 - tip.offsetWidth : event.pageX + 16)}px`;
    tip.style.top = `${event.pageY + 12}px`;
  }
  leave() {
    tip.hidden = true;
    this.cross.setAttribute("visibility", "hidden");
  }
  // A finger scrolls the page: only a mouse or a pen selects a part.
  press(event) {
    this.from = event.pointerType === "touch" || event.button ? undefined : this.place(event);
    if (this.from !== undefined) event.preventDefault();
  }
  release(event) {
    const to = this.place(event), from = this.from;
    this.from = undefined;
    if (from !== undefined && Math.abs(to - from) > 0.01 * (this.shown[1] - this.shown[0])) show(this, [Math.min(from, to), Math.max(from, to)]);
  }
  zoom(factor) {
    const [a, b] = this.shown, middle = (a + b) / 2, half = Math.min(0.5, (b - a) / 2 * factor);
    this.move(middle - half, 2 * half);
  }
  pan(share) { this.move(this.shown[0] + share * (this.shown[1] - this.shown[0]), this.shown[1] - this.shown[0]); }
  move(from, length) { const a = Math.min(Math.max(from, 0), 1 - length); show(this, [a, a + length]); }
}

const charts = [...document.querySelectorAll("svg.plot.zoom")].map(svg => new Chart(svg));
// Charts over the same quantity show the same part of it.
function show(chart, shown) {
  const whole = shown[0] <= 0 && shown[1] >= 1, values = shown.map(chart.x.value);
  for (const other of charts.filter(one => one.svg.dataset.label === chart.svg.dataset.label)) {
    const [a, b] = whole ? [0, 1] : values.map(value => Math.min(Math.max(other.x.share(value), 0), 1));
    if (b - a > 1e-6) other.set([a, b]);
  }
}

// A link to a row opens the sections that contain it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  for (const fold of target?.querySelectorAll(":scope > details.fold") ?? []) fold.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// Files: the drawing with its rules and colours, its picture, its numbers.
function saved(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function standalone(svg) {
  const style = getComputedStyle(root), { width, height } = svg.getBoundingClientRect(), margins = [54, 14, 14, 46];
  const rules = document.getElementById("drawing").textContent.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim().replace(/"/g, "'"));
  const whole = document.createElementNS(SVG, "svg"), size = [width + margins[0] + margins[2], height + margins[1] + margins[3]];
  whole.setAttribute("xmlns", SVG);
  whole.setAttribute("viewBox", `${-margins[0]} ${-margins[1]} ${size[0]} ${size[1]}`);
  whole.setAttribute("width", size[0]);
  whole.setAttribute("height", size[1]);
  made("style", {}, whole).textContent = rules;
  made("rect", { x: -margins[0], y: -margins[1], width: size[0], height: size[1], fill: style.getPropertyValue("--card").trim() }, whole);
  whole.appendChild(document.querySelector(".markers defs").cloneNode(true));
  const inner = whole.appendChild(svg.cloneNode(true));
  inner.setAttribute("style", `width: ${width}px; height: ${height}px`);
  inner.setAttribute("width", width);
  inner.setAttribute("height", height);
  return [new XMLSerializer().serializeToString(whole), size];
}
function picture([text, [width, height]], name) {
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => saved(blob, name));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
const numbers = figure => [...figure.querySelectorAll("details tr")].map(row =>
  [...row.cells].map(cell => /[",\n]/.test(cell.textContent) ? `"${cell.textContent.replace(/"/g, '""')}"` : cell.textContent).join(",")).join("\n");

for (const figure of document.querySelectorAll("figure")) {
  const drawings = [...figure.querySelectorAll("svg.plot")], chart = charts.find(one => drawings.includes(one.svg));
  if (!drawings.length) continue;
  const title = figure.querySelector("h3").textContent, name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const tools = figure.appendChild(Object.assign(document.createElement("p"), { className: "tools" }));
  const add = (text, label, act) => {
    const button = tools.appendChild(Object.assign(document.createElement("button"), { type: "button", textContent: text }));
    button.setAttribute("aria-label", `${title}: ${label}`);
    button.addEventListener("click", act);
  };
  if (chart) for (const [text, label, act] of [["+", "zoom in", () => chart.zoom(0.5)], ["−", "zoom out", () => chart.zoom(2)],
    ["◀", "earlier", () => chart.pan(-0.5)], ["▶", "later", () => chart.pan(0.5)], ["all", "show all", () => show(chart, [0, 1])]]) add(text, label, act);
  const each = act => drawings.forEach((svg, i) => act(standalone(svg), drawings.length > 1 ? `${name}-${i + 1}` : name));
  add("SVG", "save as SVG", () => each(([text], file) => saved(new Blob([text], { type: "image/svg+xml" }), `${file}.svg`)));
  add("PNG", "save as PNG", () => each((drawn, file) => picture(drawn, `${file}.png`)));
  if (figure.querySelector("details tr")) add("CSV", "save its numbers as CSV", () => saved(new Blob([numbers(figure)], { type: "text/csv" }), `${name}.csv`));
}
