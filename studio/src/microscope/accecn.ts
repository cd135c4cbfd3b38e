// AccECN (RFC 9768): what the flags AE, CWR and ECE of a connection's segments report, and the option's counters.
import type { Packet } from "./journeys";
import type { Report } from "./rules";

const [SYN, RST, ACK] = [2, 4, 16];
/** ACE of a SYN that requests AccECN (section 3.1.1). */
const REQUEST = 7;
/** The first value of the counter of CE packets (section 3.2.1). */
const FIRST = 5;
/** The codepoints that SYN-ACK and last ACK report, by ACE (tables 2 and 3). */
const REPORTED: Record<number, string> = { 2: "Not-ECT", 3: "ECT(1)", 4: "ECT(0)", 6: "CE" };

/** The flags AE, CWR and ECE as a number from 0 to 7. */
export function aceOf(flags: number): number {
  return (flags >> 6) & 7;
}

/** The counter of bytes with CE in the AccECN option of a receiver's segment; NaN without. */
export type Marked = (packet: Packet) => number;

/** The feedback of one connection, followed over its segments in the order in which they are sent. */
export class Connection {
  /** Whether the handshake has agreed on AccECN. */
  agreed = false;
  private requested = false;
  /** Whether the flow's sender opens the connection. */
  private client = true;
  private awaited = false;
  /** ACE and bytes with CE of the last segment from the receiver (0) and from the sender (1). */
  private readonly last = [FIRST, FIRST];
  private readonly bytes = [0, 0];

  /** The text and rule of a SYN or SYN-ACK that negotiates AccECN; null for any other. */
  negotiate(packet: Packet): Omit<Report, "kind"> | null {
    const ace = aceOf(packet.flags);
    if (!(packet.flags & ACK)) {
      this.requested ||= ace === REQUEST;
      this.client = packet.data;
      return ace === REQUEST ? { text: "The SYN offers AccECN: AE, CWR and ECE.", rule: "RFC 9768 section 3.1.1: a SYN with all three flags requests more accurate feedback." } : null;
    }
    if (!this.requested || !(ace in REPORTED)) return null;
    this.agreed = this.awaited = true;
    return { text: `The SYN-ACK accepts AccECN and reports that the SYN arrived as ${REPORTED[ace]} (flags ${binary(ace)}).`, rule: "RFC 9768 section 3.1.2, table 2: the flags of the SYN-ACK report the ECN field of the SYN." };
  }

  /** The event of a segment after the SYN-ACK, if it reports something new. Sets `ace` and `echo` of the packet. */
  follow(packet: Packet, marked: Marked): Report[] {
    if (packet.flags & (SYN | RST)) return [];
    const ace = aceOf(packet.flags);
    if (this.awaited && packet.data === this.client) {
      this.awaited = false;
      if (packet.len === 0) return this.report(packet, ace);
    }
    packet.ace = ace;
    const end = Number(packet.data);
    const [before, bytes] = [this.last[end]!, this.bytes[end]!];
    const counted = marked(packet);
    this.last[end] = ace;
    if (!Number.isNaN(counted)) this.bytes[end] = counted;
    if (ace === before) return [];
    packet.echo = true;
    const more = (ace - before + 8) % 8;
    const option = Number.isNaN(counted) ? "" : ` The option's counter of bytes with CE goes from ${bytes} to ${counted}.`;
    const text = `The ${packet.data ? "sender" : "receiver"} has counted ${more} more ${more === 1 ? "packet" : "packets"} with CE: ACE goes from ${before} to ${ace}, modulo 8.${option}`;
    const rule = `RFC 9768 section 3.2.2.2: ACE has the last three bits of the counter of CE packets, and the peer adds the difference modulo 8${option && "; section 3.2.3: the option has counters of bytes"}.`;
    return [{ kind: "echo", text, rule }];
  }

  /** The last ACK of the handshake (section 3.2.2.1). */
  private report(packet: Packet, ace: number): Report[] {
    if (ace === 6) this.last[Number(packet.data)] = ace;
    const text = `The last ACK of the handshake reports that the SYN-ACK arrived as ${REPORTED[ace] ?? "an unknown codepoint"} (ACE ${binary(ace)}).`;
    return [{ kind: "handshake", text, rule: `RFC 9768 section 3.2.2.1: only this ACK has a codepoint in ACE; section 3.2.1: later segments count, from ${FIRST}.` }];
  }
}

/** ACE as its bits AE, CWR and ECE. */
export function binary(ace: number): string {
  return ace.toString(2).padStart(3, "0");
}

/**
 * Reads the AccECN options in pcap files of IP packets. Equal segments have theirs in the order of the files. A capture at a
 * flow's receiver has all segments that it sends, in their order.
 */
export function options(files: Uint8Array[]): Marked {
  const found = new Map<string, number[]>();
  for (const pcap of files) read(pcap, (segment, bytes) => found.set(segment, [...(found.get(segment) ?? []), bytes]));
  return ({ data, seq, ack, len, flags }) => (data ? undefined : found.get([seq, ack, len, flags].join())?.shift()) ?? NaN;
}

/** Calls `each` with sequence number, acknowledgement, payload and flags of a TCP segment, and its counter of bytes with CE. */
function read(pcap: Uint8Array, each: (segment: string, bytes: number) => void): void {
  const view = new DataView(pcap.buffer, pcap.byteOffset, pcap.byteLength);
  for (let at = 24, size = 0; at + 16 <= pcap.length; at += 16 + size) {
    size = view.getUint32(at + 8, true);
    const ip = at + 16;
    const four = pcap[ip]! >> 4 === 4;
    if (pcap[ip + (four ? 9 : 6)] !== 6) continue;
    const tcp = ip + (four ? 4 * (pcap[ip]! & 15) : 40);
    const end = tcp + 4 * (pcap[tcp + 12]! >> 4);
    const len = (four ? view.getUint16(ip + 2) : 40 + view.getUint16(ip + 4)) - (end - ip);
    each([view.getUint32(tcp + 4), view.getUint32(tcp + 8), len, view.getUint16(tcp + 12) & 511].join(), marked(pcap.subarray(tcp + 20, end)));
  }
}

/** The second counter of an AccECN option, which is that of bytes with CE in both orders (section 3.2.3); NaN without. */
function marked(list: Uint8Array): number {
  for (let at = 0; at < list.length; at += list[at]! < 2 ? 1 : Math.max(2, list[at + 1]!)) {
    if ((list[at] === 172 || list[at] === 174) && list[at + 1]! >= 8) return (list[at + 5]! << 16) | (list[at + 6]! << 8) | list[at + 7]!;
  }
  return NaN;
}
