// The log of packet events as journeys: each packet with its hops from queue to queue.
import type { Output } from "../lab/protocol";
import { table } from "../lab/tables";

/** A packet on one link. Times are in seconds; NaN is never. */
export interface Hop {
  link: string;
  enqueue: number;
  dequeue: number;
  deliver: number;
  /** The time of a mark there. */
  mark: number;
  /** The event that ended it there, if it is not delivered, and its time. */
  lost: string | null;
  lostAt: number;
}

export interface Packet {
  id: number;
  flow: string;
  connection: number;
  protocol: string;
  /** Whether the flow's sender sent it. */
  data: boolean;
  seq: number;
  ack: number;
  len: number;
  flags: number;
  /** The ECN field that its sender set. */
  ecn: number;
  /** ACE, if AccECN counts in it. */
  ace: number | null;
  /** Whether its ECN flags report a mark. */
  echo: boolean;
  hops: Hop[];
}

/** Reads the packets of a run that logged events, in the order in which they were sent. */
export function journeys(output: Output): Packet[] {
  const rows = table(output, "packets");
  const [time, link, event, flow, protocol] = [rows.numbers("time_s"), rows.texts("link"), rows.texts("event"), rows.texts("flow"), rows.texts("protocol")];
  const [connection, sender, seq, ack, len, ecn, flags] = ["connection", "from_sender", "seq", "ack", "len", "ecn", "flags"].map((name) => rows.numbers(name)) as Float64Array[];
  const open = new Map<string, Hop[]>();
  const packets: Packet[] = [];
  const moving = new Map<string, Packet[]>();
  for (let row = 0; row < rows.rows; row++) {
    const now = time[row]!;
    const who = [connection![row], sender![row], seq![row], ack![row], len![row], flags![row]].join();
    const place = `${link[row]}|${who}`;
    if (event[row] === "enqueue" || !open.get(place)?.length) {
      const hop = { link: link[row]!, enqueue: now, dequeue: NaN, deliver: NaN, mark: NaN, lost: null, lostAt: NaN };
      open.set(place, [...(open.get(place) ?? []), hop]);
      // A packet goes on at the time at which it arrives, also if its arrival is later in the log. Equal duplicate ACKs begin on a
      // link on which it has been.
      const known = moving.get(who) ?? [];
      const from = known.find((packet) => packet.hops.every((one) => one.link !== link[row]) && !packet.hops.at(-1)!.lost && arrives(packet.hops.at(-1)!, now));
      if (from) from.hops.push(hop);
      else {
        const packet = { id: packets.length, flow: flow[row]!, connection: connection![row]!, protocol: protocol[row]!, data: sender![row] === 1, seq: seq![row]!, ack: ack![row]!, len: len![row]!, flags: flags![row]!, ecn: ecn![row]!, ace: null, echo: false, hops: [hop] };
        packets.push(packet);
        moving.set(who, [...known, packet]);
      }
    }
    note(open.get(place)!, event[row]!, now);
  }
  return packets;
}

function arrives(hop: Hop, now: number): boolean {
  return hop.deliver === now || (Number.isNaN(hop.deliver) && Number.isFinite(hop.dequeue) && hop.dequeue < now);
}

/** Writes an event to the first hop that it fits. */
function note(hops: Hop[], event: string, now: number): void {
  const hop = hops[0]!;
  if (event === "dequeue") (hops.find((one) => Number.isNaN(one.dequeue)) ?? hop).dequeue = now;
  else if (event === "mark") (hops.find((one) => Number.isNaN(one.mark) && Number.isNaN(one.deliver)) ?? hop).mark = now;
  else if (event === "deliver") {
    hop.deliver = now;
    hops.shift();
  } else if (event !== "enqueue") {
    const last = event === "loss" ? hop : hops.at(-1)!;
    last.lost = event;
    last.lostAt = now;
    hops.splice(hops.indexOf(last), 1);
  }
}

/** The ECN field of `packet` at `now`: its sender's, or CE after a mark. */
export function codepoint(packet: Packet, now: number): number {
  return packet.hops.some((hop) => hop.mark <= now) ? 3 : packet.ecn;
}
