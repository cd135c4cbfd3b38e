"use strict";
// Theme: the reader's system decides until the button is pressed.
(() => {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const changed = () => dispatchEvent(new Event("themechange"));
  document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; changed(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
})();

// Zoomable time series: drag to choose a stretch, wheel or pinch to zoom, arrow keys to move.
const charts = [];
class Chart {
  constructor(figure) {
    this.canvas = figure.querySelector("canvas");
    this.output = figure.querySelector("output");
    Object.assign(this, JSON.parse(figure.querySelector("script").textContent));
    this.first = this.times[0]; this.last = this.times[this.times.length - 1];
    this.from = this.first; this.to = this.last;
    figure.querySelectorAll("[data-zoom]").forEach(b => b.addEventListener("click", () => this.button(b.dataset.zoom)));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    addEventListener("themechange", () => this.draw());
  }
  button(name) {
    if (name === "all") { Chart.show(this.first, this.last); return; }
    this.zoom(name === "in" ? 0.5 : 2, (this.from + this.to) / 2);
  }
  zoom(factor, centre) {
    const width = Math.max((this.to - this.from) * factor, (this.last - this.first) / 400);
    const share = (centre - this.from) / (this.to - this.from);
    this.place(centre - share * width, width);
  }
  place(from, width) {
    const whole = this.last - this.first;
    width = Math.min(width, whole);
    from = Math.min(Math.max(from, this.first), this.last - width);
    Chart.show(from, from + width);
  }
  // All charts show one experiment: they keep the same stretch of time.
  static show(from, to) { for (const c of charts) { c.from = from; c.to = to; c.draw(); } }
  listen() {
    const c = this.canvas, touches = new Map();
    let start = null, gap = 0;
    const at = e => this.time(e.clientX - c.getBoundingClientRect().left);
    c.addEventListener("pointerdown", e => {
      touches.set(e.pointerId, e); c.setPointerCapture(e.pointerId);
      start = touches.size === 1 ? at(e) : null; gap = this.gap(touches);
    });
    c.addEventListener("pointermove", e => {
      if (touches.has(e.pointerId)) touches.set(e.pointerId, e);
      if (touches.size === 2) {
        const now = this.gap(touches);
        if (gap && now) { this.zoom(gap / now, at(e)); gap = now; }
      } else { this.say(at(e)); if (start !== null) this.draw(start, at(e)); }
    });
    c.addEventListener("pointerup", e => {
      touches.delete(e.pointerId);
      const end = at(e);
      if (start !== null && Math.abs(this.place_of(end) - this.place_of(start)) > 12) Chart.show(Math.min(start, end), Math.max(start, end));
      else if (start !== null) this.draw();
      start = null;
    });
    c.addEventListener("pointercancel", e => { touches.delete(e.pointerId); start = null; this.draw(); });
    c.addEventListener("pointerleave", () => { this.output.textContent = ""; });
    c.addEventListener("dblclick", () => Chart.show(this.first, this.last));
    c.addEventListener("wheel", e => { if (e.ctrlKey || e.shiftKey) { e.preventDefault(); this.zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, at(e)); } }, { passive: false });
    c.addEventListener("keydown", e => {
      const width = this.to - this.from, middle = (this.from + this.to) / 2;
      const act = { ArrowLeft: () => this.place(this.from - width / 5, width), ArrowRight: () => this.place(this.from + width / 5, width),
        "+": () => this.zoom(0.5, middle), "-": () => this.zoom(2, middle), Home: () => Chart.show(this.first, this.last) }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
  }
  gap(touches) { const [a, b] = [...touches.values()]; return b ? Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) : 0; }
  place_of(t) { return 44 + (t - this.from) / (this.to - this.from) * (this.width - 54); }
  time(x) { return Math.min(Math.max(this.from + (x - 44) / (this.width - 54) * (this.to - this.from), this.from), this.to); }
  // The last sample at or before t.
  index(t) { let low = 0, high = this.times.length - 1; while (low < high) { const m = (low + high + 1) >> 1; if (this.times[m] <= t) low = m; else high = m - 1; } return low; }
  say(t) {
    const i = this.index(t);
    this.output.textContent = `${this.times[i].toFixed(2)} s: ` + this.lines.filter(l => l.values[i] !== null).map(l => `${l.name} ${+l.values[i].toPrecision(4)}`).join(" · ");
  }
  draw(shadeFrom, shadeTo) {
    const box = this.canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    if (!box.width) return;
    this.width = box.width;
    this.canvas.width = box.width * ratio; this.canvas.height = box.height * ratio;
    const g = this.canvas.getContext("2d"), css = getComputedStyle(document.documentElement), colour = n => css.getPropertyValue(n).trim();
    g.scale(ratio, ratio);
    const top = 8, bottom = box.height - 24, a = Math.max(this.index(this.from) - 1, 0), b = Math.min(this.index(this.to) + 1, this.times.length - 1);
    let peak = 0;
    for (const l of this.lines) for (let i = a; i <= b; i++) if (l.values[i] > peak) peak = l.values[i];
    for (const [v] of this.levels) if (v > peak) peak = v;
    const step = nice((peak || 1) / 4), max = Math.ceil((peak || 1) / step) * step, y = v => bottom - v / max * (bottom - top);
    g.font = `12px ${css.getPropertyValue("--text")}`; g.lineWidth = 1; g.textBaseline = "middle"; g.textAlign = "right";
    for (let v = 0; v <= max + 1e-9; v += step) { g.strokeStyle = colour("--hair"); rule(g, 44, y(v), this.width - 10, y(v)); g.fillStyle = colour("--soft"); g.fillText(+v.toPrecision(3), 38, y(v)); }
    g.textAlign = "center"; g.textBaseline = "alphabetic";
    const tick = nice((this.to - this.from) / Math.max(3, this.width / 110));
    for (let t = Math.ceil(this.from / tick) * tick; t <= this.to + 1e-9; t += tick) g.fillText(`${+t.toFixed(3)} s`, Math.min(Math.max(this.place_of(t), 54), this.width - 22), box.height - 7);
    g.save(); g.beginPath(); g.rect(44, 0, this.width - 54, box.height); g.clip();
    g.setLineDash([5, 4]); g.textAlign = "right";
    for (const [v, name] of this.levels) { g.strokeStyle = g.fillStyle = colour("--soft"); rule(g, 44, y(v), this.width - 10, y(v)); g.fillText(name, this.width - 14, y(v) - 5); }
    g.setLineDash([]); g.lineJoin = "round";
    for (const l of this.lines) {
      g.strokeStyle = colour(`--s${l.style}`); g.lineWidth = l.thin ? 1 : 1.9; g.globalAlpha = l.thin ? 0.55 : 1; g.beginPath();
      let pen = false;
      for (let i = a; i <= b; i++) { const v = l.values[i]; if (v === null) { pen = false; continue; } const x = this.place_of(this.times[i]); if (pen) g.lineTo(x, y(v)); else g.moveTo(x, y(v)); pen = true; }
      g.stroke();
    }
    g.globalAlpha = 0.15; g.fillStyle = colour("--s0");
    if (shadeFrom !== undefined) g.fillRect(this.place_of(shadeFrom), top, this.place_of(shadeTo) - this.place_of(shadeFrom), bottom - top);
    g.restore();
  }
}
function nice(raw) { const p = 10 ** Math.floor(Math.log10(raw)); return p * [1, 2, 5, 10].find(m => m * p >= raw * 0.999); }
function rule(g, x1, y1, x2, y2) { g.beginPath(); g.moveTo(x1, y1); g.lineTo(x2, y2); g.stroke(); }
document.querySelectorAll("[data-chart]").forEach(f => charts.push(new Chart(f)));
