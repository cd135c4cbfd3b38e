// What is noteworthy in a run, each event with the rule that acts.
import type { App } from "../app";
import { lawOf } from "../bench/controls";
import type { About, Output } from "../lab/protocol";
import { table } from "../lab/tables";
import { number } from "../ui/quantity";
import type { Packet } from "./journeys";

export const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];
export const CODEPOINTS = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
const [SYN, ACK, ECE, CWR] = [2, 16, 64, 128];

export type Kind = "handshake" | "mark" | "drop" | "echo" | "reduction" | "confirmation";

export interface Moment {
  time: number;
  kind: Kind;
  text: string;
  /** The rule and where it is written. */
  rule: string;
  packet?: Packet;
}

export function flagNames(flags: number): string {
  return FLAGS.filter((_, bit) => flags & (1 << bit)).join(" ") || "none";
}

/** The feedback that a flow's hosts use: "rfc3168", "accecn", … */
function feedback(about: About, flow: string): string {
  const stated = about.resolved.flow[flow] ?? about.resolved.flow[flow.split("[")[0]!];
  return lawOf(about.resolved.tcp[String(stated?.["tcp_from"])]?.["ecn"]);
}

/** Moments of the run in the order of time. */
export function moments(app: App, about: About, output: Output, packets: Packet[]): Moment[] {
  const all = [...packets.flatMap((packet) => ofPacket(app, about, packet)), ...reductions(output)];
  return all.sort((a, b) => a.time - b.time);
}

function ofPacket(app: App, about: About, packet: Packet): Moment[] {
  const scheme = feedback(about, packet.flow);
  const sent = packet.hops[0]!.enqueue;
  const found: Moment[] = [];
  if (packet.protocol === "tcp" && packet.flags & SYN) found.push({ time: sent, kind: "handshake", packet, ...handshake(packet, scheme) });
  else if (packet.protocol === "tcp" && scheme === "rfc3168") found.push(...classic(packet, sent));
  for (const hop of packet.hops) {
    const law = app.facts.laws["queue"]?.[lawOf(about.resolved.queue[String(about.resolved.link[hop.link.replace("~reverse", "")]?.["queue"])]?.["discipline"])];
    const by = law ? `${law.label}${law.reference && ` (${law.reference})`}` : "The queue";
    if (Number.isFinite(hop.mark))
      found.push({ time: hop.mark, kind: "mark", packet, text: `The router of ${hop.link} marks the packet: its ECN field becomes CE.`, rule: `${by} decides to signal; RFC 3168 section 5: a router sets CE only in packets of ECN-capable transports.` });
    if (hop.lost)
      found.push({ time: hop.lostAt, kind: "drop", packet, text: `The packet is dropped on ${hop.link} (${hop.lost.replaceAll("_", " ")}).`, rule: hop.lost === "drop_tail" ? "The buffer is full." : hop.lost === "loss" ? "The wire loses it." : `${by} decides to signal; the packet is not ECN-capable, or the law drops.` });
  }
  return found;
}

function handshake(packet: Packet, scheme: string): { text: string; rule: string } {
  const which = packet.flags & ACK ? "SYN-ACK" : "SYN";
  const flags = flagNames(packet.flags);
  if (!(packet.flags & (ECE | CWR | 256))) return { text: `The ${which} offers no ECN (${flags}).`, rule: "RFC 9293 section 3.5: the handshake." };
  const rule =
    scheme === "accecn"
      ? "RFC 9768 section 3.1: a SYN with AE, CWR and ECE offers AccECN; the flags of the SYN-ACK tell how the SYN arrived."
      : "RFC 3168 section 6.1.1: a SYN with ECE and CWR offers ECN, a SYN-ACK with ECE alone accepts it.";
  return { text: `The ${which} negotiates ECN: ${flags}.`, rule };
}

function classic(packet: Packet, time: number): Moment[] {
  const found: Moment[] = [];
  if (packet.flags & ECE && !packet.data)
    found.push({ time, kind: "echo", packet, text: "The receiver has seen CE and says so: ECE in the acknowledgement.", rule: "RFC 3168 section 6.1.3: ECE is set in all acknowledgements until a packet with CWR arrives." });
  if (packet.flags & CWR && packet.data)
    found.push({ time, kind: "confirmation", packet, text: "The sender confirms its reduction: CWR in the next data packet.", rule: "RFC 3168 section 6.1.2: CWR is set in the first new data packet after the reduction." });
  return found;
}

/** Falls of a window below this part of it are reductions. */
const FALL = 0.95;

function reductions(output: Output): Moment[] {
  const rows = table(output, "flow_series");
  const [time, cwnd, flow] = [rows.numbers("time_s"), rows.numbers("cwnd_bytes"), rows.texts("flow")];
  const last = new Map<string, number>();
  const found: Moment[] = [];
  flow.forEach((name, row) => {
    const [before, now] = [last.get(name) ?? 0, cwnd[row]!];
    if (Number.isFinite(now)) last.set(name, now);
    if (now < FALL * before)
      found.push({ time: time[row]!, kind: "reduction", text: `${name} reduces its window from ${number(before / 1000)} to ${number(now / 1000)} kB.`, rule: "RFC 5681 section 3.1 and RFC 3168 section 6.1.2: at most one reduction for each window of data, for a mark as for a loss; by how much is the window law's." });
  });
  return found;
}
