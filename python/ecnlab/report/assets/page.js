"use strict";
// Theme: the reader's system decides until the button is pressed.
const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; recolour(); });
system.addEventListener("change", recolour);

// Plots take their colours from the style sheet, as a template; a trace's `meta` is the number of its colour.
const plots = [...document.querySelectorAll(".plot")], charts = plots.filter(plot => plot.closest(".chart"));
const drawn = plot => "data" in plot;
function template(traces) {
  const style = getComputedStyle(root), css = name => style.getPropertyValue(name).trim();
  const axis = { gridcolor: css("--hair"), zerolinecolor: css("--soft"), zerolinewidth: 1, ticklabelstandoff: 5, title: { font: { size: 12.5 } } };
  const clear = "rgba(0, 0, 0, 0)", soft = { color: css("--soft") };
  return { layout: {
    colorway: traces.map(trace => css(`--s${trace.meta}`)), font: { family: css("--text"), size: 12, ...soft },
    paper_bgcolor: clear, plot_bgcolor: clear, xaxis: axis, yaxis: axis, legend: { font: { color: css("--ink") } },
    hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
    shapedefaults: { line: soft }, annotationdefaults: { bgcolor: css("--card"), opacity: 0.85 }, modebar: { bgcolor: clear, ...soft, activecolor: css("--ink") },
  } };
}
function recolour() { plots.filter(drawn).forEach(plot => Plotly.relayout(plot, { template: template(plot.data) })); }

const BUTTONS = [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
function draw(plot) {
  if (drawn(plot)) return;
  const { data, layout } = JSON.parse(plot.nextElementSibling.textContent), chart = charts.includes(plot);
  // A finger that meets a chart is scrolling the page; the buttons switch to zooming.
  if (chart && matchMedia("(pointer: coarse)").matches) layout.dragmode = false;
  layout.template = template(data);
  Plotly.newPlot(plot, data, layout, { responsive: true, displaylogo: false, displayModeBar: chart, modeBarButtons: BUTTONS });
  if (chart) plot.on("plotly_relayout", () => charts.forEach(other => follow(other, plot)));
}
// All charts show one experiment: they keep the same stretch of time.
function follow(other, plot) {
  const stretch = ({ layout: { xaxis } }) => xaxis.autorange ? { "xaxis.autorange": true } : { "xaxis.range": [...xaxis.range] };
  const wanted = stretch(plot);
  if (JSON.stringify(stretch(other)) !== JSON.stringify(wanted)) Plotly.relayout(other, wanted);
}

// Each plot is drawn when it comes near the screen; charts all at once, since they move together.
const near = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) (charts.includes(target) ? charts : [target]).forEach(draw);
}, { rootMargin: "400px" });
plots.forEach(plot => near.observe(plot));
// The others follow one by one, for whoever searches, prints or keeps a picture of the page.
(function next() {
  const plot = plots.find(plot => !drawn(plot));
  if (plot) setTimeout(() => { draw(plot); next(); }, 150);
})();
addEventListener("beforeprint", () => plots.forEach(draw));
