// The microscope: one run, packet by packet. Time can be stepped, dragged and played in slow motion.
import type { App, Part } from "../app";
import { Cancelled } from "../lab/lab";
import type { About, Change } from "../lab/protocol";
import { h } from "../ui/dom";
import { binary, options } from "./accecn";
import { type Packet, codepoint, journeys } from "./journeys";
import presets from "./presets.json";
import reno from "./reno.toml?raw";
import { CODEPOINTS, type Kind, type Moment, flagNames, moments } from "./rules";
import { key, scene, spots } from "./scene";

/** Longest time that is simulated: the log has several events for each packet. */
const LONGEST = 10;
/** Moments listed around the present. */
const LISTED = 7;
/** Names of the captures at receivers, from which options are read. */
const PREFIX = "microscope-";
const SPEEDS: [string, number][] = [
  ["1/500", 1 / 500],
  ["1/100", 1 / 100],
  ["1/20", 1 / 20],
  ["1/5", 1 / 5],
];
const KINDS: [Kind, string][] = [
  ["mark", "Next mark"],
  ["echo", "Next ECE or ACE"],
  ["reduction", "Next reduction"],
  ["confirmation", "Next CWR"],
  ["drop", "Next drop"],
];

class Microscope {
  private running = new AbortController();
  private about: About | undefined;
  private packets: Packet[] = [];
  private all: Moment[] = [];
  private times: number[] = [];
  private now = 0;
  private chosen: Packet | undefined;
  private playing = 0;

  private readonly picture = h("div", { class: "picture" });
  private readonly scrub = h("input", { type: "range", min: "0", max: "1", step: "any", value: "0", "aria-label": "Time" });
  private readonly clock = h("output", { class: "clock" });
  private readonly list = h("ol", { class: "moments", "aria-live": "polite" });
  private readonly detail = h("section", { class: "detail", "aria-label": "Packet" }, h("p", { class: "note" }, "Choose a packet to see its headers."));
  private readonly status = h("p", { class: "status", role: "status" }, "Running.");
  private readonly play: HTMLButtonElement = h("button", { type: "button", onclick: () => this.toggle() }, "Play");
  private readonly speed = h("select", { "aria-label": "Speed" }, ...SPEEDS.map(([text, value]) => h("option", { value: String(value) }, `${text} of real time`)));

  constructor(
    root: HTMLElement,
    private readonly app: App,
  ) {
    this.scrub.addEventListener("input", () => this.go(this.scrub.valueAsNumber));
    const names = [...presets.map(([name]) => name as string), "The scenario of the bench"];
    const which = h("select", { "aria-label": "Scenario" }, ...names.map((name, index) => h("option", { value: String(index) }, name)));
    which.addEventListener("change", () => void this.open(Number(which.value)));
    const jumps = KINDS.map(([kind, text]) => h("button", { type: "button", onclick: () => this.next(kind) }, text));
    const step = (text: string, by: number): HTMLElement => h("button", { type: "button", onclick: () => this.step(by) }, text);
    root.append(
      h("h1", { class: "unseen" }, "Microscope"),
      h("div", { class: "bar" }, which, this.play, this.speed, step("Step back", -1), step("Step", 1), ...jumps),
      h("div", { class: "scrub" }, this.scrub, this.clock),
      this.status,
      this.picture,
      key(),
      h("div", { class: "below" }, h("section", { "aria-label": "What happens" }, this.list), this.detail),
    );
    void this.open(0);
  }

  /** Runs a preset, a list of changes of the first; the scenario of the bench is after the last. */
  private async open(index: number): Promise<void> {
    this.running.abort();
    const { signal } = (this.running = new AbortController());
    const changes = presets[index]?.[1] as Change[] | undefined;
    const text = changes ? await this.app.lab.call("edit", { text: reno, changes }) : this.app.document.arms[0]!;
    if (!signal.aborted) await this.run(text, signal);
  }

  destroy(): void {
    this.running.abort();
    this.pause();
  }

  private async run(text: string, signal: AbortSignal): Promise<void> {
    this.pause();
    this.status.textContent = "Running.";
    const { files, seed } = this.app.document;
    try {
      const first = await this.app.lab.call("about", { text, files, seed }, { signal });
      const duration = Math.min(LONGEST, Number.parseFloat(first.resolved.duration) * (first.resolved.duration.endsWith("ms") ? 1e-3 : 1));
      const receivers = [...new Set(Object.values(first.resolved.flow).map((flow) => String(flow["to"])))];
      const captures = receivers.map((node, index) => [`capture.${PREFIX}${index}`, { node, format: "pcap" }]);
      const overrides = { duration: `${duration} s`, warmup: "0 s", sample: "2 ms", ...(Object.fromEntries(captures) as object) };
      const output = await this.app.lab.call("run", { text, files, seed, events: true, overrides }, { signal });
      this.about = first;
      this.packets = journeys(output);
      const written = Object.entries(output.captures).filter(([file]) => file.startsWith(PREFIX));
      this.all = moments(this.app, first, output, this.packets, options(written.map(([, bytes]) => bytes)));
      const steps = this.packets.flatMap((packet) => packet.hops.flatMap((hop) => [hop.enqueue, hop.dequeue, hop.deliver, hop.mark, hop.lostAt]));
      this.times = [...new Set([...steps, ...this.all.map((moment) => moment.time)].filter(Number.isFinite))].sort((a, b) => a - b);
      this.scrub.max = String(duration);
      this.chosen = undefined;
      this.status.textContent = `${this.packets.length} packets in ${duration} s.`;
      this.go(this.all[0]?.time ?? 0);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.status.textContent = (error as Error).message;
    }
  }

  private go(time: number): void {
    if (!this.about) return;
    this.now = time;
    this.scrub.value = String(time);
    this.scrub.setAttribute("aria-valuetext", `${time.toFixed(4)} seconds`);
    this.clock.textContent = `${time.toFixed(4)} s`;
    const open = (packet: Packet): void => {
      this.chosen = packet;
      this.go(this.now);
    };
    this.picture.replaceChildren(scene(this.about.resolved, this.packets, time, this.chosen?.id ?? null, open));
    this.describe();
    this.inspect();
  }

  private describe(): void {
    const past = this.all.filter((moment) => moment.time <= this.now).slice(-LISTED);
    const item = (moment: Moment): HTMLElement => {
      const packet = moment.packet;
      const time = h("button", { type: "button", class: "place", onclick: () => ((this.chosen = packet ?? this.chosen), this.go(moment.time)) }, `${moment.time.toFixed(4)} s`);
      return h("li", { class: `moment ${moment.kind}${moment.time === this.now ? " present" : ""}` }, time, h("span", {}, ` ${moment.text} `, h("small", {}, moment.rule)));
    };
    this.list.replaceChildren(...past.map(item));
  }

  /** Headers and way of the chosen packet. */
  private inspect(): void {
    const packet = this.chosen;
    if (!packet) return;
    const origin = this.packets.find((one) => one.flow === packet.flow && one.data === packet.data)?.seq ?? 0;
    const peer = this.packets.find((one) => one.flow === packet.flow && one.data !== packet.data)?.seq ?? 0;
    const relative = (value: number, base: number): string => String((value - base + 2 ** 32) % 2 ** 32);
    const rows: [string, string][] = [
      ["Flow", `${packet.flow}, from the ${packet.data ? "sender" : "receiver"}`],
      ["IP: ECN field", `${CODEPOINTS[codepoint(packet, this.now)]}${packet.ecn !== codepoint(packet, this.now) ? `, sent as ${CODEPOINTS[packet.ecn]}` : ""}`],
      ["TCP: flags", flagNames(packet.flags)],
      ...(packet.ace === null ? [] : [["TCP: ACE", `${packet.ace}, bits ${binary(packet.ace)}`] as [string, string]]),
      ["TCP: sequence number", `${relative(packet.seq, origin)}, relative`],
      ["TCP: acknowledges", packet.flags & 16 ? `${relative(packet.ack, peer)}, relative` : "nothing"],
      ["Payload", `${packet.len} bytes`],
    ];
    const way = packet.hops.map((hop) => {
      const wait = Number.isFinite(hop.dequeue) ? `waits ${((hop.dequeue - hop.enqueue) * 1000).toFixed(2)} ms` : "waits";
      const mark = Number.isFinite(hop.mark) ? ", is marked CE" : "";
      const end = hop.lost ? `, ends by ${hop.lost.replaceAll("_", " ")} at ${hop.lostAt.toFixed(4)} s` : Number.isFinite(hop.deliver) ? `, arrives at ${hop.deliver.toFixed(4)} s` : "";
      return h("li", {}, `${hop.link}: from ${hop.enqueue.toFixed(4)} s, ${wait}${mark}${end}`);
    });
    const body = rows.map(([name, text]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, text)));
    this.detail.replaceChildren(h("table", {}, h("caption", {}, "The packet"), h("tbody", {}, ...body)), h("ol", {}, ...way));
  }

  private step(by: number): void {
    this.pause();
    const next = by > 0 ? this.times.find((time) => time > this.now) : this.times.findLast((time) => time < this.now);
    if (next !== undefined) this.go(next);
  }

  private next(kind: Kind): void {
    this.pause();
    const found = this.all.find((moment) => moment.kind === kind && moment.time > this.now);
    if (!found) return void (this.status.textContent = "There is none after this time.");
    this.status.textContent = `${spots(this.packets, found.time).length} packets are under way.`;
    this.chosen = found.packet ?? this.chosen;
    this.go(found.time);
  }

  private toggle(): void {
    if (this.playing) return this.pause();
    this.play.textContent = "Pause";
    let last = performance.now();
    const frame = (at: number): void => {
      const end = Number(this.scrub.max);
      this.go(Math.min(end, this.now + ((at - last) / 1000) * Number(this.speed.value)));
      last = at;
      if (this.now >= end) return this.pause();
      this.playing = requestAnimationFrame(frame);
    };
    this.playing = requestAnimationFrame(frame);
  }

  private pause(): void {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.play.textContent = "Play";
  }
}

export const microscope: Part = {
  name: "microscope",
  title: "Microscope",
  mount: (root, app) => {
    const mounted = new Microscope(root, app);
    return () => mounted.destroy();
  },
};
