// Quantities of scenarios: numbers with units, as text for people and for TOML.

const UNITS: [RegExp, number][] = [
  [/^ps$/, 1e-12], [/^ns$/, 1e-9], [/^(us|µs)$/, 1e-6], [/^ms$/, 1e-3], [/^s$/, 1], [/^min$/, 60], [/^h$/, 3600],
  [/^bps$/, 1], [/^kbps$/i, 1e3], [/^Mbps$/i, 1e6], [/^Gbps$/i, 1e9],
];

/** A time in seconds or a rate in bit/s of a text such as "20 ms" or "1.5 Mbps"; NaN for any other. */
export function value(text: unknown): number {
  const parts = /^\s*([0-9.eE+-]+)\s*([a-zA-Zµ]+)\s*$/.exec(String(text));
  if (!parts) return NaN;
  const unit = UNITS.find(([pattern]) => pattern.test(parts[2]!));
  return unit ? Number(parts[1]) * unit[1] : NaN;
}

function scaled(number: number, steps: [number, string][], digits: number): string {
  const [unit, name] = steps.find(([unit]) => Math.abs(number) >= unit) ?? steps.at(-1)!;
  return `${Number((number / unit).toPrecision(digits))} ${name}`;
}

/** A rate in bit/s as "40 Mbps". */
export function rate(bps: number, digits = 3): string {
  return scaled(bps, [[1e9, "Gbps"], [1e6, "Mbps"], [1e3, "kbps"], [1, "bps"]], digits);
}

/** A time in seconds as "20 ms". */
export function time(seconds: number, digits = 3): string {
  if (seconds === 0) return "0 s";
  return scaled(seconds, [[1, "s"], [1e-3, "ms"], [1e-6, "us"]], digits);
}

/** A number with at most `digits` digits; "-" if there is none. */
export function number(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "-";
  return Math.abs(value) >= 10 ** digits ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
}

/** A JSON value as TOML. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value !== null && typeof value === "object")
    return `{ ${Object.entries(value).map(([key, one]) => `${key} = ${toml(one)}`).join(", ")} }`;
  return JSON.stringify(value);
}
