// Links that have the whole scenario: "#/bench?s=1.DATA", where 1 is the version of the encoding and DATA the document as
// JSON, deflated, in base64url.
import type { Files } from "./lab/protocol";

/** What a reader works on: one scenario or two with the same seed, and the files that they name. */
export interface Document {
  arms: string[];
  seed: number;
  files: Files;
}

const VERSION = "1";
/** Characters of a document: more would take the memory of a page. */
const LONGEST = 4_000_000;

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const response = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}

export async function encode(document: Document): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(document));
  const packed = await through(text, new CompressionStream("deflate-raw"));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The document of a link. Throws an Error that states what is wrong with the link. */
export async function decode(link: string): Promise<Document> {
  const dot = link.indexOf(".");
  const version = link.slice(0, Math.max(dot, 0));
  if (version !== VERSION) throw new Error(`the link has version ${JSON.stringify(version)}; this studio reads ${VERSION}`);
  let text: string;
  try {
    const binary = atob(link.slice(dot + 1).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true }).decode(await through(packed, new DecompressionStream("deflate-raw")));
  } catch {
    throw new Error("the link is damaged: a part of it is missing or changed");
  }
  if (text.length > LONGEST) throw new Error("the scenario of the link is too large");
  return checked(JSON.parse(text));
}

function checked(value: unknown): Document {
  const { arms, seed, files } = (value ?? {}) as Partial<Document>;
  const strings = (list: unknown[]): boolean => list.every((one) => typeof one === "string");
  if (!Array.isArray(arms) || arms.length < 1 || arms.length > 2 || !strings(arms)) throw new Error("the link has no scenario");
  if (!Number.isSafeInteger(seed) || (seed as number) < 0) throw new Error("the link has no seed");
  if (typeof files !== "object" || files === null || !strings(Object.values(files))) throw new Error("the link has no files");
  return { arms, seed: seed as number, files };
}
