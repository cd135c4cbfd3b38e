// Eight lessons: a scenario or two, a question to answer before they run, one number to find in the pictures and tables.
import type { Picture } from "../bench/measures";
import type { Change } from "../lab/protocol";
import aimd from "./aimd.toml?raw";
import becn from "./becn.toml?raw";
import codel from "./codel.toml?raw";
import l4s from "./l4s.toml?raw";
import mark from "./mark.toml?raw";
import red from "./red.toml?raw";
import share from "./share.toml?raw";
import short from "./short.toml?raw";

/** The numbers of scenario A and of B, by their labels in the table. */
export type Found = { a: (label: string) => number; b: (label: string) => number };

export interface Lesson {
  title: string;
  /** What to know before the question. */
  before: string[];
  /** Scenario A as text; B is A with these changes. */
  text: string;
  b: Change[];
  /** What A and B are, in a few words. */
  names: [string, string];
  question: string;
  options: string[];
  /** The option that the runs show, if `holds`. */
  right: number;
  holds: (found: Found) => boolean;
  pictures: Picture[];
  /** What the runs show and why. */
  after: string[];
  find: { question: string; arm: "a" | "b"; label: string; unit: string; within: number };
  /** For the lecturer: the way to the number, and what to discuss. */
  solution: string[];
}

const QUEUE = "queue.bottleneck";

export const LESSONS: Lesson[] = [
  {
    title: "One sender: up by one, down by half",
    before: [
      "A TCP sender may have a certain amount of data sent and not yet acknowledged: its congestion window. Reno, the classic rule, adds about one packet to the window in each round trip, and halves it when a packet is lost. The rule is called AIMD: additive increase, multiplicative decrease.",
      "One Reno flow, which always has data to send, uses a link of 10 Mbit/s with a round trip of 40 ms. The path itself holds 10 Mbit/s × 40 ms = 50 kB, or 33 packets of 1,500 bytes: this is the bandwidth-delay product. The router can store 34 packets more in A, and only 3 in B.",
    ],
    text: aimd,
    b: [[`${QUEUE}.limit`, '"3 packets"']],
    names: ["room for 34 packets", "room for 3 packets"],
    question: "In B the router drops packets sooner. What happens to the throughput?",
    options: ["It is the same: a loss costs one packet.", "It falls by about a quarter.", "It falls to half: the window is halved."],
    right: 1,
    holds: ({ a, b }) => b("bottleneck: utilisation (%)") > 70 && b("bottleneck: utilisation (%)") < 85 && a("bottleneck: utilisation (%)") > 97,
    pictures: ["windows", "queue"],
    after: [
      "The window is a sawtooth. In A it falls from about 70 packets (100 kB) to 35, which still fills the link: the queue runs empty, but the link does not. In B it falls from 38 packets to 19, which fills little more than half of the link, and then grows back. The mean of a tooth from a half to one is three quarters.",
      "Hence the rule of thumb that a buffer should hold one bandwidth-delay product.",
      "In the table, utilisation is the part of the time in which the link sends. Goodput is the rate of the data without headers and repetitions.",
    ],
    find: { question: "What is the utilisation of the link in B?", arm: "b", label: "bottleneck: utilisation (%)", unit: "%", within: 3 },
    solution: [
      "The table has the utilisation of B. By hand: the window grows linearly from 0.5 to 1 of what fills the link, so its mean is 0.75; the 3 packets of buffer add a little.",
      "Discuss: set the limit to 10 and 20 packets on the bench. Add a second flow: the teeth do not coincide, so that less buffer is enough.",
    ],
  },
  {
    title: "Why not wait until the buffer is full?",
    before: [
      "Eight Reno flows share 10 Mbit/s. In A the router drops a packet only when its buffer of 150 packets is full: drop-tail.",
      "In B the router uses RED (random early detection): it averages the length of the queue. If the average is above 10 packets, it drops some arriving packets at random, more of them the longer the queue is, so that senders slow down before the buffer is full. Such rules are called active queue management.",
    ],
    text: red,
    b: [[`${QUEUE}.discipline`, '"red"'], [`${QUEUE}.min_th`, '"10 packets"'], [`${QUEUE}.max_th`, '"80 packets"'], [`${QUEUE}.max_p`, "0.1"]],
    names: ["drop-tail", "RED"],
    question: "What changes most when RED replaces drop-tail?",
    options: ["The throughput rises by more than a tenth.", "Packets wait much less in the router.", "Fewer packets are dropped."],
    right: 1,
    holds: ({ a, b }) =>
      b("bottleneck: median time in the queue (ms)") < a("bottleneck: median time in the queue (ms)") / 3 &&
      b("bottleneck: packets dropped") > a("bottleneck: packets dropped"),
    pictures: ["queue", "sojourn"],
    after: [
      "With drop-tail the senders fill whatever buffer there is: most packets wait longer than a whole round trip takes without a queue. RED keeps the queue short at nearly the same throughput.",
      "The price: with a short queue the round trip is shorter, and windows grow back sooner. To keep them small, RED has to drop more packets than drop-tail. The next lesson removes this price.",
    ],
    find: { question: "How long does the median packet wait in A?", arm: "a", label: "bottleneck: median time in the queue (ms)", unit: "ms", within: 15 },
    solution: [
      "The table has it, and the picture of the times in the queue: where the line of A crosses 50 %. By hand: about 122 packets of 1,500 bytes at 10 Mbit/s are 0.146 s.",
      "Discuss: who suffers from a wait of 150 ms? Calls, games, the first byte of a page. What does a larger buffer in A do?",
    ],
  },
  {
    title: "Mark or drop?",
    before: [
      "RED drops packets that it could have forwarded: the drop is only a message to the sender. ECN (explicit congestion notification) sends the message without the loss. Two bits of the IP header are its field: the sender declares packets as ECN-capable, and the router marks them as “congestion experienced” (CE). The receiver reports the mark in its acknowledgements, and the sender halves its window as if the packet had been lost.",
      "Eight flows with ECN share the link. In A RED drops; in B it marks.",
    ],
    text: mark,
    b: [[`${QUEUE}.ecn`, "true"]],
    names: ["RED drops", "RED marks"],
    question: "What does marking change for these long flows?",
    options: ["The throughput rises by more than a tenth.", "Most retransmissions disappear; the throughput stays nearly the same.", "The queue becomes much shorter."],
    right: 1,
    holds: ({ a, b }) =>
      b("reno: retransmissions") < a("reno: retransmissions") / 3 && Math.abs(b("reno: goodput (Mbit/s)") / a("reno: goodput (Mbit/s)") - 1) < 0.1,
    pictures: ["queue", "windows"],
    after: [
      "The senders reduce about as often, but by marks, so there is nothing to send again. Long flows lose little by a retransmission: it costs a round trip, in which other packets are on the way. So their throughput is nearly the same.",
      "The packets that B still drops are of one flow. Its first packet was lost at the start, when the buffer was full; the sender tried again without ECN (RFC 3168 section 6.1.1.1).",
      "The microscope shows a mark, its report and the reduction packet by packet.",
    ],
    find: { question: "How many retransmissions are there in A?", arm: "a", label: "reno: retransmissions", unit: "", within: 40 },
    solution: [
      "The table has it. It is close to the number of dropped packets: after timeouts, a few that had arrived are sent again as well.",
      "Discuss: RFC 2884 found in 2000 that ECN helps most with short transfers. Why would that be? The next lesson runs it.",
    ],
  },
  {
    title: "ECN and short transfers",
    before: [
      "Most transfers on the Internet are short: a page, a picture, an answer of a few packets. Here four clients fetch 20 kB again and again, over a link of 10 Mbit/s that six long flows keep busy. The router uses PIE, which drops at random like RED, as often as is needed for packets to wait about 15 ms.",
      "If one of the last packets of a short transfer is lost, no later packets reveal the loss: the sender has to wait for a timer. In A PIE drops, in B it marks.",
    ],
    text: short,
    b: [[`${QUEUE}.ecn`, "true"]],
    names: ["PIE drops", "PIE marks"],
    question: "Which transfers are faster in B?",
    options: ["All, by about the same factor.", "The slow ones: the median stays about the same.", "None: PIE keeps the same queue."],
    right: 1,
    holds: ({ a, b }) =>
      b("short: 90th percentile of it (ms)") < 0.85 * a("short: 90th percentile of it (ms)") &&
      b("short: median transfer time (ms)") > 0.85 * a("short: median transfer time (ms)"),
    pictures: ["queue", "goodput"],
    after: [
      "Of ten transfers in A seven lose nothing, so marks cannot help them. All of the slowest tenth lost packets, and most of these took 0.4 s or longer; in B three of four of the slowest tenth lost nothing. PIE drops instead of marking while its probability is above a tenth (RFC 8033 section 5.1).",
      "The median hides this. When you compare queues for people, compare the slow transfers.",
    ],
    find: { question: "How long do nine of ten transfers take at most in A (the 90th percentile)?", arm: "a", label: "short: 90th percentile of it (ms)", unit: "ms", within: 20 },
    solution: [
      "The table has it: a tenth of the transfers take longer. Without other flows a transfer takes 133 ms: three round trips of 40 ms, the handshake among them, and the time to send the packets.",
      "Discuss: the SYN is not ECN-capable by default and can still be dropped, which costs a second. `ecnlab docs ecn-control-packets` has runs with ECN on SYNs.",
    ],
  },
  {
    title: "The router writes to the sender: BECN",
    before: [
      "A mark travels to the receiver first, and back in acknowledgements: it needs nearly a round trip. With backward notification (BECN) the router sends a message to the sender itself, which can then reduce sooner. It was proposed around 1998 with an ICMP message, the source quench. RFC 6633 has since deprecated it: routers do not send it, and hosts ignore it.",
      "Six Reno flows share 10 Mbit/s with a round trip of 200 ms. In A RED marks; in B it also sends a quench for each packet that it marks while its average queue is above 30 packets.",
    ],
    text: becn,
    b: [[`${QUEUE}.becn`, '{ thresh = "30 packets" }'], ["tcp.host.ecn", '"ecn-becn"']],
    names: ["ECN", "ECN and BECN"],
    question: "How much does the earlier message raise the throughput on this path?",
    options: ["By more than a fifth.", "By a few per cent or less.", "It falls by more than a tenth: two messages, two reductions."],
    right: 1,
    holds: ({ a, b }) => Math.abs(b("host: goodput (Mbit/s)") / a("host: goodput (Mbit/s)") - 1) < 0.06,
    pictures: ["queue", "windows"],
    after: [
      "The quench is earlier by the time from the router to the receiver and back. But a sender on this path needs seconds to fill the link again after a reduction, whichever message caused it. A message that is 200 ms earlier changes little.",
      "ecnlab repeats a paper that combined both (papers/akujobi): its page has the printed numbers beside those measured.",
    ],
    find: { question: "What is the utilisation of the link in A?", arm: "a", label: "bottleneck: utilisation (%)", unit: "%", within: 2 },
    solution: [
      "The table has it. The path holds 167 packets, 28 for each flow. After a halving, a window needs 14 round trips of 200 ms, 2.8 s, to grow from 14 to 28. B has 16 reductions by quenches besides those by ECN in the table.",
      "Discuss: why are messages from routers to senders hard to trust, and what do they cost when a router is congested?",
    ],
  },
  {
    title: "A large buffer, CUBIC, and CoDel",
    before: [
      "CUBIC is the default of Linux, Windows and macOS. Its window follows a cubic curve of the time since the last reduction, so that it fills fast paths sooner than Reno.",
      "Two CUBIC flows share 20 Mbit/s with a round trip of 30 ms. In A the buffer is large, as in many home routers: 500 packets, drop-tail. In B the same buffer has CoDel, which measures how long packets wait. If in 100 ms every packet waited more than 5 ms, it drops one, and then more and more often until the wait is below 5 ms.",
    ],
    text: codel,
    b: [[`${QUEUE}.discipline`, '"codel"']],
    names: ["drop-tail, 500 packets", "CoDel, 500 packets"],
    question: "How much longer do packets wait in A than in B?",
    options: ["About twice as long.", "About ten times.", "More than thirty times."],
    right: 2,
    holds: ({ a, b }) => a("bottleneck: median time in the queue (ms)") > 30 * b("bottleneck: median time in the queue (ms)"),
    pictures: ["queue", "sojourn"],
    after: [
      "Drop-tail fills the buffer, and every packet of every flow waits behind it: a quarter of a second. This is called bufferbloat. CoDel keeps the wait near its target at the same throughput.",
      "CoDel has no setting for the rate of the link: it measures time, which is what people notice.",
    ],
    find: { question: "How long does the median packet wait in A?", arm: "a", label: "bottleneck: median time in the queue (ms)", unit: "ms", within: 25 },
    solution: [
      "The table has it; by hand 430 packets of 1,500 bytes at 20 Mbit/s are 0.258 s.",
      "Discuss: CoDel with ECN marks instead (set “Marks packets with ECN” and ECN of the flows on the bench). Change the rate to 2 Mbit/s and back: which of the two needs another limit?",
    ],
  },
  {
    title: "Who takes from whom?",
    before: [
      "Not all senders follow the same rule. BBR does not wait for losses: it measures the rate at which its data arrive and the shortest round trip, and sends at about that rate.",
      "One CUBIC flow and one BBR flow (its first version) share 20 Mbit/s with a round trip of 40 ms. In A the buffer has 25 packets, about a third of a bandwidth-delay product; in B it has 270 packets, four of them. Both are drop-tail.",
    ],
    text: share,
    b: [[`${QUEUE}.limit`, '"270 packets"']],
    names: ["buffer of 25 packets", "buffer of 270 packets"],
    question: "Who gets more of the link?",
    options: ["BBR in A; in B they are nearly equal.", "CUBIC in both: BBR avoids queues.", "BBR in both, by about the same factor."],
    right: 0,
    holds: ({ a, b }) => a("bbr: goodput (Mbit/s)") > 5 * a("cubic: goodput (Mbit/s)") && Math.abs(b("bbr: goodput (Mbit/s)") / b("cubic: goodput (Mbit/s)") - 1) < 0.3,
    pictures: ["goodput", "windows"],
    after: [
      "With the small buffer packets are lost often, and BBR's first version does not lower its rate for losses: CUBIC gives way. With the large buffer CUBIC fills the queue, and BBR, which limits its data to two estimated bandwidth-delay products, holds a share that depends on the buffer. The table counts from 20 s on; before, CUBIC has more of B.",
      "So a sentence such as “BBR is unfair” has no meaning without the buffer. `ecnlab search cc` looks for paths on which a law is worse than others.",
    ],
    find: { question: "What part of the sum of both goodputs does BBR have in A?", arm: "a", label: "share of bbr (%)", unit: "%", within: 4 },
    solution: [
      "Goodput of bbr divided by the sum of both, from the table of A.",
      "Discuss: change the buffer's limit on the bench from 25 towards 270 packets and find where the two are equal. Replace BBR by BBRv3, which reduces for losses.",
    ],
  },
  {
    title: "Two queues for two kinds: DualPI2 and Prague",
    before: [
      "For a mark Reno gives up half of its window, CUBIC three tenths. Prague gives up only half of the marked fraction (if a tenth of its packets were marked, a twentieth of the window), so the router can mark often, and the queue can be very short: this is L4S (low latency, low loss, scalable throughput). But one queue cannot serve both kinds well: the same marks mean different things to them.",
      "A CUBIC flow with ECN and a Prague flow share 40 Mbit/s. In A both are in one queue with CoDel. In B the router uses DualPI2: Prague's packets, which have another value of the ECN field, ECT(1), have a queue of their own; one controller sets how often each queue marks.",
    ],
    text: l4s,
    b: [[`${QUEUE}.discipline`, '"dualpi2"']],
    names: ["one queue: CoDel", "two queues: DualPI2"],
    question: "What happens to CUBIC in A?",
    options: ["It gets about half of the link.", "It gets less than a tenth.", "It gets more than Prague: it does not reduce as often."],
    right: 1,
    holds: ({ a, b }) => a("cubic: goodput (Mbit/s)") < 4 && b("cubic: goodput (Mbit/s)") > 2 * a("cubic: goodput (Mbit/s)"),
    pictures: ["goodput", "sojourn"],
    after: [
      "In A both flows get CoDel's marks. For each round trip with a mark CUBIC gives up three tenths of its window, Prague only half of the marked fraction. In B CUBIC's queue marks seldom and Prague's often: the table has the reductions of both. Prague's packets wait a fraction of a millisecond, while CUBIC's wait near the target of 15 ms.",
      "For this reason RFC 9331 (section 4.3) requires L4S senders to detect such a queue. ecnlab's Prague does so only if its key classic_detection is set.",
    ],
    find: { question: "How long does Prague's median packet wait in B?", arm: "b", label: "prague: median time in the queue (ms)", unit: "ms", within: 0.15 },
    solution: [
      "The table of B has the median of each group; the picture of the times in the queue has both lines.",
      "Discuss: the shares in B are not equal. DualPI2 couples them so that windows are about equal; what else differs between the two flows' round trips?",
    ],
  },
];
