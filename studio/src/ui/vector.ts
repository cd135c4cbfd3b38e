// A chart as an SVG file, for papers and slides.
import { type Data, colour } from "./chart";
import { number } from "./quantity";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 320, 60, 44, 40];

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** At most six round values from 0 to `top`. */
function ticks(low: number, top: number): number[] {
  const rough = (top - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(top / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** `data` as the text of an SVG file. */
export function vector(data: Data): string {
  const values = data.lines.flatMap((line) => Array.from(line.values)).filter(Number.isFinite);
  const top = data.top ?? values.reduce((a, b) => Math.max(a, b), 0) * 1.05;
  const [from, to] = [data.x[0] ?? 0, data.x[data.x.length - 1] ?? 1];
  const x = (value: number): number => LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - 12);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / (top || 1)) * (HEIGHT - BOTTOM - TOP);
  const place = (px: number, py: number): string => `${px.toFixed(1)} ${py.toFixed(1)}`;
  const path = (line: { values: ArrayLike<number> }): string => {
    let pen = "M";
    return Array.from(line.values, (value, row) => {
      if (!Number.isFinite(value)) return (pen = "M"), "";
      const step = `${pen}${place(x(data.x[row]!), y(value))}`;
      pen = "L";
      return step;
    }).join("");
  };
  const text = (px: number, py: number, content: string, more = ""): string =>
    `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" ${more}>${escaped(content)}</text>`;
  const parts = [
    text(LEFT, 16, data.title, 'font-weight="bold"'),
    ...ticks(0, top).map((tick) => `<path d="M${place(LEFT, y(tick))}H${WIDTH - 12}" stroke="#ccc"/>${text(LEFT - 6, y(tick) + 4, number(tick), 'text-anchor="end"')}`),
    ...ticks(from, to).map((tick) => text(x(tick), HEIGHT - BOTTOM + 16, number(tick), 'text-anchor="middle"')),
    text((LEFT + WIDTH) / 2, HEIGHT - 8, data.xLabel, 'text-anchor="middle"'),
    `<text transform="translate(14 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">${escaped(data.yLabel)}</text>`,
    ...data.lines.map((line, index) => `<path d="${path(line)}" fill="none" stroke="${colour(index)}" stroke-width="1.5"/>${text(LEFT + 4 + 150 * index, 32, line.label, `fill="${colour(index)}"`)}`),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">${parts.join("\n")}</svg>\n`;
}
