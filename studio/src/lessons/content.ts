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
      "A TCP sender may have a certain amount of data on the way: its congestion window. Reno, the classic rule, adds about one packet to the window in each round trip, and halves it when a packet is lost. The rule is called AIMD: additive increase, multiplicative decrease.",
      "One Reno flow uses a link of 10 Mbit/s with a round trip of 40 ms. The way itself holds 10 Mbit/s × 40 ms = 50 kB, or 33 packets: this is the bandwidth-delay product. The router can store 34 packets more in A, and only 3 in B.",
    ],
    text: aimd,
    b: [[`${QUEUE}.limit`, '"3 packets"']],
    names: ["room for 34 packets", "room for 3 packets"],
    question: "In B the router loses packets sooner. What happens to the throughput?",
    options: ["It is the same: a loss costs one packet.", "It falls by about a quarter.", "It falls to half: the window is halved."],
    right: 1,
    holds: ({ a, b }) => b("bottleneck: utilisation (%)") > 70 && b("bottleneck: utilisation (%)") < 85 && a("bottleneck: utilisation (%)") > 97,
    pictures: ["windows", "queue"],
    after: [
      "The window is a sawtooth. In A it falls from about 67 packets to 33, which still fills the link: the queue runs empty, but the link does not. In B it falls from 36 packets to 18, which fills half of the link, and then grows back. The mean of a tooth from a half to one is three quarters.",
      "Hence the rule of thumb that a buffer should hold one bandwidth-delay product.",
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
      "In B the router uses RED: it watches the average length of the queue. Above 10 packets it drops some arriving packets at random, the more the longer the queue, so that senders slow down before the buffer is full.",
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
      "With drop-tail the senders fill whatever buffer there is: most packets wait longer than the whole way takes without a queue. RED keeps the queue short at nearly the same throughput.",
      "The price: smaller windows meet more signals, so RED drops more packets than drop-tail. The next lesson removes this price.",
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
      "RED drops packets that it could have forwarded: the drop is only a message to the sender. ECN sends the message without the loss. The sender declares its packets as ECN-capable, the router sets two bits to “congestion experienced”, the receiver reports that back, and the sender halves its window as if the packet had been lost.",
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
      "The senders reduce about as often, but by marks, so there is nothing to send again. Long flows lose little by a retransmission: it costs one round trip, in which other packets are on the way. So their throughput is nearly the same.",
      "Some packets are still dropped in B: at the start, when the average has not yet followed the queue, and above the upper threshold.",
    ],
    find: { question: "How many retransmissions are there in A?", arm: "a", label: "reno: retransmissions", unit: "", within: 40 },
    solution: [
      "The table has it. It is close to the number of dropped packets: each is sent again once, some twice.",
      "Discuss: RFC 2884 found in 2000 that ECN helps most with short transfers. Why would that be? The next lesson runs it.",
    ],
  },
  {
    title: "ECN and short transfers",
    before: [
      "Most transfers on the net are short: a page, a picture, an answer of a few packets. Here a client fetches 20 kB again and again, over a link of 5 Mbit/s that four long flows keep busy. The router uses PIE, which keeps the queue near 15 ms.",
      "When one of the last packets of a short transfer is lost, no later packets tell the sender about it: it has to wait for a timer. In A PIE drops, in B it marks.",
    ],
    text: short,
    b: [[`${QUEUE}.ecn`, "true"]],
    names: ["PIE drops", "PIE marks"],
    question: "Which transfers become faster?",
    options: ["All, by about the same factor.", "The slow ones: the median stays about the same.", "None: PIE keeps the same queue."],
    right: 1,
    holds: ({ a, b }) =>
      b("short: 90th percentile of it (ms)") < 0.7 * a("short: 90th percentile of it (ms)") &&
      b("short: median transfer time (ms)") > 0.85 * a("short: median transfer time (ms)"),
    pictures: ["queue", "goodput"],
    after: [
      "Half of the transfers lose nothing in A, so marks cannot help them. The slowest tenth in A met a loss, some of them a timeout; in B most of these losses are marks.",
      "Means hide this. When you compare queues for people, compare the slow transfers.",
    ],
    find: { question: "How long does the 90th percentile of the transfers take in A?", arm: "a", label: "short: 90th percentile of it (ms)", unit: "ms", within: 60 },
    solution: [
      "The table has it: a tenth of the transfers take longer. Without loss and queue the transfer needs the handshake and two or three round trips of 40 ms.",
      "Discuss: the SYN is not ECN-capable by default and can still be dropped, which costs a second. `ecnlab docs ecn-control-packets` has runs with ECN on SYNs.",
    ],
  },
  {
    title: "The router writes to the sender: BECN",
    before: [
      "A mark travels to the receiver first, and back in acknowledgements: it needs nearly a round trip. With backward notification (BECN) the router writes to the sender itself, which then knows sooner. It was proposed around 1998 with a message of ICMP, the source quench, which the net has since deprecated (RFC 6633).",
      "Six flows share a path with a round trip of 200 ms. In A RED marks; in B it also sends quenches when its average queue is above 30 packets.",
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
      "The message is earlier by the time from the router to the receiver and back. But a sender on this path needs seconds to fill the link again after a reduction, whichever message caused it. A message that is 200 ms earlier changes little.",
      "ecnlab repeats a paper that combined both (papers/akujobi): its page has the printed numbers beside those measured.",
    ],
    find: { question: "What is the utilisation of the link in A?", arm: "a", label: "bottleneck: utilisation (%)", unit: "%", within: 2 },
    solution: [
      "The table has it. A window of one flow must grow by one packet per 200 ms; after a halving from 28 packets that takes 2.8 s.",
      "Discuss: why are messages from routers to senders hard to trust, and what do they cost when a router is congested?",
    ],
  },
  {
    title: "A large buffer, CUBIC, and CoDel",
    before: [
      "CUBIC is the default of Linux, Windows and macOS. Its window follows a cubic curve of the time since the last loss, so that it fills fast paths sooner than Reno.",
      "Two CUBIC flows share 20 Mbit/s with a round trip of 30 ms. In A the buffer is large, as in many home routers: 500 packets, drop-tail. In B the same buffer has CoDel, which looks at how long packets wait: if all of the last 100 ms waited more than 5 ms, it begins to drop.",
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
      "Discuss: CoDel with ECN marks instead (set “marks packets” and ECN of the flows on the bench). Change the rate to 2 Mbit/s and back: which of the two needs another limit?",
    ],
  },
  {
    title: "Who takes from whom?",
    before: [
      "Not all senders follow the same rule. BBR does not wait for losses: it measures the rate at which its data arrive and the shortest round trip, and sends at that rate.",
      "One CUBIC flow and one BBR flow (its first version) share 20 Mbit/s with a round trip of 40 ms. In A the buffer has 25 packets, about a third of a bandwidth-delay product; in B it has 270 packets, four of them. It is drop-tail.",
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
      "With the small buffer packets are lost often, and BBR's first version does not reduce for losses: CUBIC gives way. With the large buffer CUBIC fills the queue, and BBR, which limits its data to two estimated bandwidth-delay products, holds a share that depends on the buffer.",
      "So a sentence such as “BBR is unfair” has no meaning without the buffer. `ecnlab search cc` looks for paths on which a law is worse than others.",
    ],
    find: { question: "What part of the two goodputs does BBR have in A, in per cent?", arm: "a", label: "share of bbr (%)", unit: "%", within: 4 },
    solution: [
      "Goodput of bbr divided by the sum of both, from the table of A.",
      "Discuss: drag the buffer's limit on the bench from 25 to 270 packets and find where the two are equal. Replace BBR by `bbr3`, which reduces for losses.",
    ],
  },
  {
    title: "Two queues for two kinds: DualPI2 and Prague",
    before: [
      "A classic sender gives up a third or half of its window for a mark. Prague gives up only half of the part of packets that were marked (if a tenth were marked, a twentieth of the window), so the router can mark often, and the queue can be very short: this is L4S. But a router cannot serve both kinds in one queue: the same marks mean different things.",
      "A CUBIC flow with ECN and a Prague flow share 40 Mbit/s. In A both are in one queue with CoDel. In B the router uses DualPI2: Prague's packets, which declare themselves by ECT(1), have a queue of their own; one controller couples both.",
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
      "In A both flows get CoDel's marks. For each round trip with a mark CUBIC gives up almost a third of its window, Prague only half of the part of its packets that were marked. In B CUBIC's queue marks seldom and Prague's often: the table has the reductions of both. Prague's packets wait a fraction of a millisecond, while CUBIC's wait near the target of 15 ms.",
      "Prague in the wrong queue is the reason why L4S senders try to detect classic queues.",
    ],
    find: { question: "How long does Prague's median packet wait in B?", arm: "b", label: "prague: median time in the queue (ms)", unit: "ms", within: 0.15 },
    solution: [
      "The table of B has the median of each group; the picture of the times in the queue has both lines.",
      "Discuss: the shares in B are not equal. DualPI2 couples them so that windows are about equal; what else differs between the two flows' round trips?",
    ],
  },
];
