// Packets on the topology at one time.
import type { Resolved } from "../lab/protocol";
import { h, svg } from "../ui/dom";
import { layout } from "../ui/topology";
import { type Packet, codepoint } from "./journeys";

/** Packets of a queue that are drawn; more are counted. */
const SHOWN = 12;

/** Where a packet is at a time: waiting at the beginning of a link, or under way at a part of it. */
interface Spot {
  packet: Packet;
  link: string;
  waiting: boolean;
  part: number;
}

export function spots(packets: Packet[], now: number): Spot[] {
  return packets.flatMap((packet) => {
    const hop = packet.hops.findLast((one) => one.enqueue <= now);
    if (!hop || now >= hop.deliver || now >= hop.lostAt) return [];
    const waiting = !(hop.dequeue <= now);
    return [{ packet, link: hop.link, waiting, part: waiting ? 0 : (now - hop.dequeue) / (hop.deliver - hop.dequeue || 1) }];
  });
}

function look(packet: Packet, now: number): string {
  const ce = codepoint(packet, now) === 3;
  return `packet ${packet.data ? "data" : "ack"} ${ce ? "ce" : ""} ${packet.echo && !packet.data ? "echo" : ""}`;
}

/** Draws the packets at `now` over the nodes and wires; `open` is called with a packet that is chosen. */
export function scene(scenario: Resolved, packets: Packet[], now: number, chosen: number | null, open: (packet: Packet) => void): SVGElement {
  const { at, width, height, links } = layout(scenario);
  const ends = new Map(links.map(([name, link]) => [name, [at.get(String(link["from"]))!, at.get(String(link["to"]))!] as const]));
  const counts = new Map<string, number>();
  const drawn = spots(packets, now).flatMap(({ packet, link, waiting, part }) => {
    const back = link.endsWith("~reverse");
    const pair = ends.get(link.replace("~reverse", ""));
    if (!pair) return [];
    const [a, b] = back ? [pair[1], pair[0]] : pair;
    const side = back ? 14 : -14;
    const place = counts.get(link) ?? 0;
    if (waiting) counts.set(link, place + 1);
    if (waiting && place >= SHOWN) return [];
    const x = waiting ? a.x + (back ? -14 : 14) : a.x + (b.x - a.x) * part;
    const y = waiting ? a.y + side * (2.2 + place * 0.62) : a.y + (b.y - a.y) * part + side;
    const act = (): void => open(packet);
    const size = packet.len > 0 ? 10 : 6;
    return [
      svg("rect", { class: `${look(packet, now)}${packet.id === chosen ? " chosen" : ""}`, x: x - size / 2, y: y - 3.5, width: size, height: 7, rx: 1.5, onclick: act }, title(packet, now)),
    ];
  });
  const lines = [...ends].map(([name, [a, b]]) => svg("g", { class: "edge" }, svg("path", { class: "wire", d: `M${a.x} ${a.y}L${b.x} ${b.y}` }), svg("text", { class: "small", x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 + 40, "text-anchor": "middle" }, name)));
  const nodes = [...at].map(([name, { x, y }]) => svg("g", { class: "node" }, svg("circle", { cx: x, cy: y, r: 9 }), svg("text", { x, y: y + 40, "text-anchor": "middle" }, name)));
  const top = -110;
  return svg("svg", { class: "topology scene", viewBox: `0 ${top} ${width} ${height + 60 - top}`, role: "img", "aria-label": described(packets, now) }, ...lines, ...nodes, ...drawn);
}

function title(packet: Packet, now: number): SVGElement {
  return svg("title", {}, `${packet.data ? "data" : "acknowledgement"}${codepoint(packet, now) === 3 ? ", CE" : ""}`);
}

function described(packets: Packet[], now: number): string {
  const all = spots(packets, now);
  const of = (data: boolean): number => all.filter((one) => one.packet.data === data).length;
  return `At ${now.toFixed(4)} s: ${of(true)} packets from the sender and ${of(false)} acknowledgements are under way; ${all.filter((one) => one.waiting).length} packets wait in queues.`;
}

/** What the colours mean. */
export function key(): HTMLElement {
  const one = (kind: string, text: string): HTMLElement => h("li", {}, h("span", { class: `swatch packet-${kind}`, "aria-hidden": "true" }), text);
  return h("ul", { class: "legend" }, one("data", "data"), one("ce", "data marked CE"), one("ack", "acknowledgement"), one("echo", "acknowledgement that reports a mark"));
}
