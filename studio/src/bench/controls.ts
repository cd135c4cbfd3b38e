// Sliders and choices for the document's scenario: each sets one dotted key of its text.
import keys from "virtual:keys";
import type { App } from "../app";
import type { About, Change, Table } from "../lab/protocol";
import { h } from "../ui/dom";
import { rate, time, toml, value } from "../ui/quantity";

export interface Controls {
  app: App;
  about: About;
  link: string;
  set: (changes: Change[]) => void;
  addFile: (name: string, text: string, changes: Change[]) => void;
}

function field(label: string, control: HTMLElement, title = ""): HTMLElement {
  return h("label", { class: "field", title }, h("span", {}, label), control);
}

/** A slider on a logarithmic scale from `low` to `high`, beside the value as text. */
function slider(label: string, key: string, now: unknown, low: number, high: number, shown: (value: number) => string, c: Controls): HTMLElement {
  const at = value(now);
  if (!Number.isFinite(at)) return field(label, h("output", {}, typeof now === "string" ? now : "varies, see the scenario"));
  const scale = Math.log(high / low);
  const place = at <= 0 ? 0 : Math.min(1000, Math.max(0, (1000 * Math.log(at / low)) / scale));
  const text = h("output", {}, String(now));
  const range = h("input", { type: "range", min: "0", max: "1000", step: "1", value: String(Math.round(place)), "data-key": key, "aria-valuetext": String(now) });
  range.addEventListener("input", () => {
    const chosen = shown(low * Math.exp((scale * range.valueAsNumber) / 1000));
    text.textContent = chosen;
    range.setAttribute("aria-valuetext", chosen);
    c.set([[key, toml(chosen)]]);
  });
  return h("label", { class: "field" }, h("span", {}, label), range, text);
}

function choice(label: string, key: string, now: string, options: [string, string][], c: Controls, title = "", more: (chosen: string) => Change[] = () => []): HTMLElement {
  const known = options.some(([name]) => name === now);
  const all = known ? options : [[now, now] as [string, string], ...options];
  const select = h("select", { "data-key": key }, ...all.map(([name, text]) => h("option", { value: name, selected: name === now }, text)));
  select.addEventListener("change", () => c.set([[key, toml(select.value)], ...more(select.value)]));
  return field(label, select, title);
}

/** A value as in the scenario; an error is shown at its line there. */
function entry(label: string, key: string, now: unknown, c: Controls, title = ""): HTMLElement {
  const input = h("input", { type: "text", value: typeof now === "string" ? now : toml(now), "data-key": key, spellcheck: false });
  input.addEventListener("change", () => {
    const given = input.value.trim();
    const bare = /^(true|false|-?[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?|[[{"].*)$/.test(given);
    c.set([[key, given === "" ? null : bare ? given : JSON.stringify(given)]]);
  });
  return field(label, input, title);
}

function tick(label: string, key: string, now: boolean, c: Controls, title = ""): HTMLElement {
  const box = h("input", { type: "checkbox", checked: now, "data-key": key });
  box.addEventListener("change", () => c.set([[key, String(box.checked)]]));
  return h("label", { class: "field tick", title }, box, h("span", {}, label));
}

function group(title: string, ...fields: HTMLElement[]): HTMLElement {
  return h("fieldset", {}, h("legend", {}, title), ...fields);
}

/** The name of a law of which a table states only the name, or the name with keys. */
export function lawOf(stated: unknown): string {
  return typeof stated === "string" ? stated : String((stated as Table | undefined)?.["kind"] ?? "");
}

function laws(c: Controls, family: string): [string, string][] {
  return Object.entries(c.app.facts.laws[family] ?? {}).map(([name, law]) => [name, law.label]);
}

/** A file with a trace of rates replaces the rate of the link. */
function trace(c: Controls, key: string): HTMLElement {
  const input = h("input", { type: "file", accept: ".csv,.mahimahi,.txt" });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file) return;
    const kind = file.name.endsWith(".csv") ? "csv" : "mahimahi";
    c.addFile(file.name, await file.text(), [[key, toml({ [kind]: file.name })]]);
  });
  return field("Add a file with a trace of the rate", input);
}

function linkControls(c: Controls): HTMLElement {
  const link = c.about.resolved.link[c.link]!;
  const key = `link.${c.link}`;
  return group(
    `Link ${c.link}`,
    slider("Rate", `${key}.rate`, link["rate"], 1e5, 1e9, (bps) => rate(bps, 2), c),
    slider("Delay, one way", `${key}.delay`, link["delay"], 1e-4, 0.5, (seconds) => time(seconds, 2), c),
    entry("Loss", `${key}.loss`, link["loss"], c, "Probability with which the wire loses a packet."),
    trace(c, `${key}.rate`),
  );
}

/** Keys of queues that the scenario's text is the better place for. */
const RARE = new Set(["discipline", "ecn", "admit", "forced", "full", "mark_at", "quantiles", "profile", "kind"]);

function queueControls(c: Controls): HTMLElement {
  const name = String(c.about.resolved.link[c.link]!["queue"]);
  const queue = c.about.resolved.queue[name] ?? {};
  const key = `queue.${name}`;
  const discipline = lawOf(queue["discipline"]);
  const law = c.app.facts.laws["queue"]?.[discipline];
  // Keys of the old discipline would be errors in the new one.
  const stale = (): Change[] => Object.keys(queue).filter((one) => !["discipline", "limit", "ecn", "quantiles"].includes(one)).map((one) => [`${key}.${one}`, null]);
  const able = (chosen: string): Change[] => (c.app.facts.laws["queue"]?.[chosen]?.queue?.uses_ecn ? [] : [[`${key}.ecn`, null]]);
  const scalars = Object.entries(queue).filter(([one, now]) => !RARE.has(one) && (now === null || typeof now !== "object"));
  return group(
    `Queue ${name}`,
    choice("Discipline", `${key}.discipline`, discipline, laws(c, "queue"), c, law?.summary ?? "", (chosen) => [...stale(), ...able(chosen)]),
    law?.queue?.uses_ecn ? tick("Marks packets with ECN", `${key}.ecn`, queue["ecn"] === true, c) : h("p", { class: "note" }, `${law?.label ?? discipline} has no ECN.`),
    ...scalars.map(([one, now]) => entry(one, `${key}.${one}`, now, c, keys[discipline]?.[one] ?? "")),
  );
}

const FEEDBACK: [string, string][] = [
  ["off", "off"],
  ["rfc3168", "RFC 3168"],
  ["accecn", "AccECN"],
];

function flowControls(c: Controls): HTMLElement[] {
  return Object.entries(c.about.resolved.flow).map(([name, flow]) => {
    const host = String(flow["tcp_from"] ?? "default");
    const tcp = c.about.resolved.tcp[host];
    const count = entry("Flows", `flow.${name}.count`, flow["count"] ?? 1, c);
    if (!tcp) return group(`Flow ${name}`, count);
    const law = c.app.facts.laws["congestion"]?.[lawOf(tcp["congestion"])];
    return group(
      `Flow ${name}`,
      count,
      choice("Window law", `tcp.${host}.congestion`, lawOf(tcp["congestion"]), laws(c, "congestion"), c, law?.summary ?? ""),
      choice("ECN", `tcp.${host}.ecn`, lawOf(tcp["ecn"]), FEEDBACK, c, "What the host offers."),
      choice("Profile of TCP", `tcp.${host}.profile`, String(tcp["profile"]), Object.keys(c.app.facts.profiles).map((one) => [one, one]), c, c.app.facts.profiles[String(tcp["profile"])] ?? ""),
    );
  });
}

/** All controls for the scenario. */
export function controls(c: Controls): HTMLElement[] {
  const run = group("Run", entry("Duration", "duration", c.about.resolved.duration, c), entry("Warm-up", "warmup", c.about.resolved.warmup ?? "0 s", c));
  return [linkControls(c), queueControls(c), ...flowControls(c), run];
}
