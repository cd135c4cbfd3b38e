// Charts of series over one axis, with marks as a rug; the same data as SVG.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "./dom";
import { number } from "./quantity";

export interface Line {
  label: string;
  values: ArrayLike<number>;
}

/** Events on the axis, drawn as a rug below the lines. */
export interface Rug {
  label: string;
  times: number[];
}

export interface Data {
  title: string;
  x: ArrayLike<number>;
  xLabel: string;
  yLabel: string;
  lines: Line[];
  rugs?: Rug[];
  /** Upper end of the y axis, for charts that are compared. */
  top?: number;
  stepped?: boolean;
}

const HEIGHT = 190;
/** Most points of a line: what is finer than a pixel is not visible. */
const MOST = 4000;

/** The colour of line `index`: one of eight that are distinguishable in both modes. */
export function colour(index: number): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--line-${index % 8}`).trim();
}

function look(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Every k-th row, so that at most MOST remain. */
export function thin(data: Data): Data {
  const every = Math.ceil(data.x.length / MOST);
  if (every <= 1) return data;
  const some = (values: ArrayLike<number>): number[] => Array.from(values).filter((_, row) => row % every === 0);
  return { ...data, x: some(data.x), lines: data.lines.map((line) => ({ ...line, values: some(line.values) })) };
}

/** The data of charts that are compared, with the same axes. */
export function alike(charts: Data[]): Data[] {
  const highest = charts.flatMap((one) => one.lines).reduce((top, line) => Array.from(line.values).reduce((a, b) => (b > a ? b : a), top), 0);
  const last = (one: Data): number => one.x[one.x.length - 1] ?? 0;
  const end = Math.max(...charts.map(last));
  return charts.map((one) => {
    const padded = (values: ArrayLike<number>, value: number): ArrayLike<number> => (last(one) < end ? [...Array.from(values), value] : values);
    const lines = one.lines.map((line) => ({ ...line, values: padded(line.values, NaN) }));
    return { ...one, x: padded(one.x, end), lines, top: one.top ?? 1.05 * highest };
  });
}

/** What a chart shows, in one sentence for who does not see it. */
function summary(data: Data): string {
  const lines = data.lines.map((line) => {
    const values = Array.from(line.values).filter(Number.isFinite);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return `${line.label}: mean ${number(mean)}, highest ${number(values.reduce((a, b) => Math.max(a, b), -Infinity))}`;
  });
  const rugs = (data.rugs ?? []).map((rug) => `${rug.label}: ${rug.times.length}`);
  return `${data.title}, ${data.yLabel}. ${[...lines, ...rugs].join("; ")}.`;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly caption = h("figcaption", {});
  private readonly body = h("div", { class: "plot", role: "img" });
  private readonly legend = h("ul", { class: "legend" });
  private plot: uPlot | undefined;
  private shape = "";
  private data: Data | undefined;
  private readonly resized = new ResizeObserver(() => this.fit());

  constructor(title: string) {
    this.caption.textContent = title;
    this.element = h("figure", { class: "chart" }, this.caption, this.body, this.legend);
    this.resized.observe(this.body);
  }

  /** Draws `data`; the axes are kept if the lines are the same. */
  draw(given: Data): void {
    const data = thin(given);
    this.data = data;
    this.caption.textContent = data.title;
    this.body.setAttribute("aria-label", summary(data));
    // uPlot breaks a line at null, not at NaN.
    const drawn = data.lines.map((line) => Array.from(line.values, (value) => (Number.isFinite(value) ? value : null)));
    const series: uPlot.AlignedData = [Array.from(data.x), ...drawn];
    const shape = JSON.stringify([data.lines.map((line) => line.label), data.yLabel, data.top, (data.rugs ?? []).length]);
    if (this.plot && shape === this.shape) return this.plot.setData(series);
    this.shape = shape;
    this.plot?.destroy();
    this.plot = new uPlot(this.options(data), series, this.body);
    this.explain(data);
  }

  current(): Data | undefined {
    return this.data;
  }

  destroy(): void {
    this.resized.disconnect();
    this.plot?.destroy();
  }

  private fit(): void {
    const width = this.body.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  private options(data: Data): uPlot.Options {
    const axis = (label: string): uPlot.Axis => ({
      label,
      labelSize: 18,
      labelFont: "12px system-ui",
      font: "11px system-ui",
      stroke: look("--ink"),
      grid: { stroke: look("--grid"), width: 1 },
      ticks: { stroke: look("--grid"), width: 1 },
    });
    const line = (one: Line, index: number): uPlot.Series => ({
      label: one.label,
      stroke: colour(index),
      width: 1.5,
      points: { show: false },
      ...(data.stepped ? { paths: uPlot.paths.stepped!({ align: -1 }) } : {}),
    });
    const top = data.top;
    return {
      width: this.body.clientWidth || 320,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), (top ?? high) || 1] } },
      axes: [axis(data.xLabel), { ...axis(data.yLabel), size: 56 }],
      series: [{}, ...data.lines.map(line)],
      hooks: { draw: [(plot) => this.rugs(plot)] },
    };
  }

  private rugs(plot: uPlot): void {
    const { ctx, bbox } = plot;
    (this.data?.rugs ?? []).forEach((rug, index) => {
      ctx.strokeStyle = colour(RUGS + index);
      ctx.beginPath();
      for (const time of rug.times) {
        const x = plot.valToPos(time, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        const y = bbox.top + 10 * index * devicePixelRatio;
        ctx.moveTo(x, y);
        ctx.lineTo(x, y + 8 * devicePixelRatio);
      }
      ctx.stroke();
    });
  }

  private explain(data: Data): void {
    const item = (label: string, index: number): HTMLElement => {
      const swatch = h("span", { class: `swatch swatch-${index % 8}`, "aria-hidden": "true" });
      return h("li", {}, swatch, label);
    };
    const rugs = (data.rugs ?? []).map((rug, index) => item(`${rug.label} (ticks above)`, RUGS + index));
    this.legend.replaceChildren(...data.lines.map((line, index) => item(line.label, index)), ...rugs);
  }
}

/** The first colour of rugs: lines have those before. */
const RUGS = 6;
