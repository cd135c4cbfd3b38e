// Links that have the whole scenario: "#/bench?s=1.DATA", where 1 is the version of the encoding and DATA the document as
// JSON, deflated, in base64url.
import type { Files } from "./lab/protocol";

/** What a reader works on: one scenario or two with the same seed, and the files that they name. */
export interface Document {
  arms: string[];
  seed: bigint;
  files: Files;
}

const VERSION = "1";
/** Bytes of a document: more would take the memory of a page. */
const LONGEST = 4_000_000;

/** The output of `stream` for `bytes`; undefined as soon as it is longer than `most` bytes. */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream, most = Infinity): Promise<Uint8Array | undefined> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let length = 0; length <= most; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    length += value.length;
  }
  await reader.cancel();
  return undefined;
}

/** The seed in decimal digits, a whole number below 2^64; undefined for any other text. */
export function seedOf(text: string): bigint | undefined {
  const seed = /^[0-9]{1,20}$/.test(text) ? BigInt(text) : -1n;
  return seed >= 0n && seed < 2n ** 64n ? seed : undefined;
}

export async function encode(document: Document): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify({ ...document, seed: String(document.seed) }));
  const packed = await through(text, new CompressionStream("deflate-raw"));
  const binary = Array.from(packed!, (byte) => String.fromCharCode(byte)).join("");
  return `${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The document of a link. Throws an Error that states what is wrong with the link. */
export async function decode(link: string): Promise<Document> {
  const dot = link.indexOf(".");
  const version = link.slice(0, Math.max(dot, 0));
  if (version !== VERSION) throw new Error(`the link has version ${JSON.stringify(version)}; this studio reads ${VERSION}`);
  let bytes: Uint8Array | undefined;
  let value: unknown;
  try {
    const binary = atob(link.slice(dot + 1).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    bytes = await through(packed, new DecompressionStream("deflate-raw"), LONGEST);
    value = bytes && JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("the link is damaged: a part of it is missing or changed");
  }
  if (!bytes) throw new Error(`the scenario of the link is too large: it has more than ${LONGEST / 1e6} MB`);
  return checked(value);
}

function checked(value: unknown): Document {
  const { arms, seed, files } = (value ?? {}) as Partial<Record<keyof Document, unknown>>;
  const strings = (list: unknown[]): boolean => list.every((one) => typeof one === "string");
  if (!Array.isArray(arms) || arms.length < 1 || arms.length > 2 || !strings(arms)) throw new Error("the link has no scenario");
  const whole = seedOf(String(seed));
  if (whole === undefined) throw new Error("the link has no seed");
  if (typeof files !== "object" || files === null || !strings(Object.values(files))) throw new Error("the link has no files");
  return { arms, seed: whole, files: files as Files };
}
