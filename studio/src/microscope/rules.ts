// What is noteworthy in a run, each event with the rule that acts.
import type { App } from "../app";
import { lawOf } from "../bench/controls";
import type { About, Output } from "../lab/protocol";
import { table } from "../lab/tables";
import { number } from "../ui/quantity";
import { Connection, type Marked } from "./accecn";
import type { Packet } from "./journeys";
import laws from "./laws.json";

export const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];
export const CODEPOINTS = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
const [SYN, ACK, ECE, CWR] = [2, 16, 64, 128];

/** Texts and rules of single laws: of a feedback scheme, and of reductions by a window law, with columns that explain them. */
const LAWS: { ecn: Record<string, Record<"echo" | "confirmation", string[]>>; congestion: Record<string, { columns: string[]; rule: string }> } = laws;

export type Kind = "handshake" | "mark" | "drop" | "echo" | "reduction" | "confirmation";

export interface Moment {
  time: number;
  kind: Kind;
  text: string;
  /** The rule and where it is written. */
  rule: string;
  packet?: Packet;
}

/** What a segment reports. */
export type Report = Pick<Moment, "kind" | "text" | "rule">;

export function flagNames(flags: number): string {
  return FLAGS.filter((_, bit) => flags & (1 << bit)).join(" ") || "none";
}

/** The law of `family` at the sender (`tcp_from`) or the receiver (`tcp_to`) of a flow, by its name. */
function named(about: About, flow: string, host: "tcp_from" | "tcp_to", family: "ecn" | "congestion"): string {
  const stated = about.resolved.flow[flow] ?? about.resolved.flow[flow.split("[")[0]!];
  return lawOf(about.resolved.tcp[String(stated?.[host])]?.[family]);
}

/** Moments of the run in the order of time. `marked` reads the option of a receiver's segment. */
export function moments(app: App, about: About, output: Output, packets: Packet[], marked: Marked): Moment[] {
  const connections = new Map<string, Connection>();
  const accecn = new Set<string>();
  const all = packets.flatMap((packet) => {
    const found = onLinks(app, about, packet);
    if (packet.protocol !== "tcp") return found;
    const name = `${packet.flow}|${packet.connection}`;
    const connection = connections.get(name) ?? new Connection();
    connections.set(name, connection);
    const tcp = packet.flags & SYN ? [handshake(packet, connection)] : feedback(about, packet, connection, marked);
    if (connection.agreed) accecn.add(packet.flow);
    return [...tcp.map((moment) => ({ time: packet.hops[0]!.enqueue, packet, ...moment })), ...found];
  });
  return [...all, ...reductions(app, about, output, accecn)].sort((a, b) => a.time - b.time);
}

function onLinks(app: App, about: About, packet: Packet): Moment[] {
  const found: Moment[] = [];
  for (const hop of packet.hops) {
    const law = app.facts.laws["queue"]?.[lawOf(about.resolved.queue[String(about.resolved.link[hop.link.replace("~reverse", "")]?.["queue"])]?.["discipline"])];
    const by = law ? `${law.label}${law.reference && ` (${law.reference})`}` : "The queue";
    const l4s = packet.ecn === 1 ? " RFC 9331 section 4.1: a sender sets ECT(1) in packets for L4S's treatment." : "";
    if (Number.isFinite(hop.mark))
      found.push({ time: hop.mark, kind: "mark", packet, text: `The router of ${hop.link} marks the packet: its ECN field becomes CE.`, rule: `${by} decides to signal; RFC 3168 section 5: a router sets CE only in packets of ECN-capable transports.${l4s}` });
    if (hop.lost)
      found.push({ time: hop.lostAt, kind: "drop", packet, text: `The packet is dropped on ${hop.link} (${hop.lost.replaceAll("_", " ")}).`, rule: hop.lost === "drop_tail" ? "The buffer is full." : hop.lost === "loss" ? "The wire loses it." : `${by} decides to signal; ${packet.ecn === 0 ? "the packet is not ECN-capable" : "it drops this packet instead of marking it"}.` });
  }
  return found;
}

function handshake(packet: Packet, connection: Connection): Report {
  const found = connection.negotiate(packet);
  if (found) return { kind: "handshake", ...found };
  const which = packet.flags & ACK ? "SYN-ACK" : "SYN";
  const flags = flagNames(packet.flags);
  const text = packet.flags & (ECE | CWR | 256) ? `The ${which} ${packet.flags & ACK ? "accepts" : "offers"} ECN: ${flags}.` : `The ${which} has no ECN: ${flags}.`;
  return { kind: "handshake", text, rule: "RFC 3168 section 6.1.1: a SYN with ECE and CWR offers ECN, a SYN-ACK with ECE alone accepts it." };
}

/** What the ECN flags of a segment after the handshake report. */
function feedback(about: About, packet: Packet, connection: Connection, marked: Marked): Report[] {
  if (connection.agreed) return connection.follow(packet, marked);
  const texts = LAWS.ecn[named(about, packet.flow, "tcp_to", "ecn")] ?? LAWS.ecn[named(about, packet.flow, "tcp_from", "ecn")];
  const kind = packet.data ? "confirmation" : "echo";
  if (!texts || !(packet.flags & (packet.data ? CWR : ECE))) return [];
  packet.echo = !packet.data;
  const [text, rule] = texts[kind];
  return [{ kind, text: text!, rule: rule! }];
}

/** Falls of a window below this part of it are reductions. */
const FALL = 0.95;

interface Descent {
  /** The row at which it begins; -1 before the window falls. */
  row: number;
  from: number;
  to: number;
  /** The row at which it ends. */
  end: number;
  /** ssthresh during the fall. */
  threshold: number;
}

/** Falls of each flow's window without growth or another ssthresh between: some senders reduce it segment by segment over a round trip. */
function descents(flow: string[], cwnd: Float64Array, ssthresh: Float64Array): Descent[] {
  const last = new Map<string, Descent>();
  const found: Descent[] = [];
  flow.forEach((name, row) => {
    const [now, threshold] = [cwnd[row]!, ssthresh[row]!];
    const before = last.get(name);
    if (!Number.isFinite(now) || now === before?.to) return;
    if (before && now < before.to && before.row >= 0 && Object.is(threshold, before.threshold)) return void Object.assign(before, { to: now, end: row });
    const falls = before !== undefined && now < before.to;
    const next = { row: falls ? row : -1, from: falls ? before.to : now, to: now, end: row, threshold };
    last.set(name, next);
    if (falls) found.push(next);
  });
  return found.filter(({ from, to }) => to < FALL * from);
}

function reductions(app: App, about: About, output: Output, accecn: Set<string>): Moment[] {
  const rows = table(output, "flow_series");
  const flow = rows.texts("flow");
  const time = rows.numbers("time_s");
  return descents(flow, rows.numbers("cwnd_bytes"), rows.numbers("ssthresh_bytes")).map(({ row, from, to, end }) => {
    const name = flow[row]!;
    const window = named(about, name, "tcp_from", "congestion");
    const law = app.facts.laws["congestion"]?.[window];
    const { columns, rule } = LAWS.congestion[window] ?? { columns: [], rule: `RFC 5681 section 3.1 and RFC 3168 section 6.1.2: at most one reduction for each window of data, for a mark as for a loss; ${law?.label ?? "the window law"} defines by how much.` };
    const known = columns.filter((column) => Number.isFinite(rows.numbers(column)[row]));
    const values = known.map((column) => ` ${law?.columns["flow_series"]?.[column]?.meaning ?? column}: ${number(rows.numbers(column)[row]!)}.`);
    const agreed = accecn.has(name) ? " RFC 9768 section 3.1.5: the sender responds to AccECN's feedback, and confirms nothing: it sets no CWR." : "";
    const within = end > row ? ` within ${number((time[end]! - time[row]!) * 1000)} ms` : "";
    return { time: time[row]!, kind: "reduction", text: `${name} reduces its window from ${number(from / 1000)} to ${number(to / 1000)} kB${within}.${values.join("")}`, rule: rule + agreed };
  });
}
