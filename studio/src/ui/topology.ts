// The topology as a picture: nodes in layers along the path of the data, links with their rate and delay.
import type { Resolved, Table } from "../lab/protocol";
import { svg } from "./dom";

const [COLUMN, ROW, MARGIN] = [190, 64, 46];

export interface Place {
  x: number;
  y: number;
}

/** The layer of each node: the longest way to it along the links, in the direction of their data. */
function layers(links: Table[]): Map<string, number> {
  const layer = new Map<string, number>();
  for (const link of links) for (const end of [link["from"], link["to"]]) layer.set(String(end), 0);
  for (let round = 0; round < layer.size; round++)
    for (const link of links) {
      const next = layer.get(String(link["from"]))! + 1;
      if (next > layer.get(String(link["to"]))! && next < layer.size) layer.set(String(link["to"]), next);
    }
  return layer;
}

function places(layer: Map<string, number>): Map<string, Place> {
  const tall = Math.max(...[...layer.values()].map((one) => [...layer.values()].filter((other) => other === one).length));
  const filled = new Map<number, number>();
  return new Map(
    [...layer].map(([node, column]) => {
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      const members = [...layer.values()].filter((other) => other === column).length;
      return [node, { x: MARGIN + column * COLUMN, y: 38 + ((tall - members) / 2 + row) * ROW }];
    }),
  );
}

function label(table: Table): string {
  const shown = (value: unknown): string => (typeof value === "string" ? value : "varies");
  return `${shown(table["rate"])}, ${shown(table["delay"])}`;
}

/** Where the nodes of `scenario` are, in a picture of `width` by `height`, and its links by name. */
export function layout(scenario: Resolved): { at: Map<string, Place>; width: number; height: number; links: [string, Table][] } {
  const links = Object.entries(scenario.link);
  const at = places(layers(links.map(([, link]) => link)));
  const width = Math.max(...[...at.values()].map((place) => place.x)) + MARGIN;
  const height = Math.max(...[...at.values()].map((place) => place.y)) + 34;
  return { at, width, height, links };
}

/** Draws `scenario`; `choose` is called with the name of a link that is chosen, `chosen` is the present one. */
export function topology(scenario: Resolved, chosen: string, choose: (link: string) => void): SVGElement {
  const { at, width, height, links } = layout(scenario);
  const edges = links.map(([name, link]) => {
    const [a, b] = [at.get(String(link["from"]))!, at.get(String(link["to"]))!];
    const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    const act = (): void => choose(name);
    return svg(
      "g",
      {
        class: name === chosen ? "edge chosen" : "edge",
        tabindex: "0",
        role: "button",
        "aria-pressed": String(name === chosen),
        "aria-label": `link ${name}, ${label(link)}`,
        onclick: act,
        onkeydown: (event: KeyboardEvent) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), act()),
      },
      svg("path", { class: "hit", d: `M${a.x} ${a.y}L${b.x} ${b.y}` }),
      svg("path", { class: "wire", d: `M${a.x} ${a.y}L${b.x} ${b.y}` }),
      svg("text", { x, y: y - 10, "text-anchor": "middle" }, name),
      svg("text", { class: "small", x, y: y + 18, "text-anchor": "middle" }, label(link)),
    );
  });
  const nodes = [...at].map(([name, { x, y }]) =>
    svg("g", { class: "node" }, svg("circle", { cx: x, cy: y, r: 9 }), svg("text", { x, y: y + 26, "text-anchor": "middle" }, name)),
  );
  return svg("svg", { class: "topology", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Topology" }, ...edges, ...nodes);
}
