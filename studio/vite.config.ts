import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

interface Schema {
  $ref?: string;
  const?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: { oneOf: Schema[] };
  definitions?: Record<string, Schema>;
}

/** The module "virtual:keys": of each queue discipline the sentences about its keys, from the schema of scenarios. */
function keys(): Plugin {
  const path = new URL("../schema/scenario.schema.json", import.meta.url);
  const load = (): Record<string, Record<string, string>> => {
    const schema = JSON.parse(readFileSync(path, "utf8")) as Schema;
    const whole = (key: Schema): Schema => (key.$ref ? schema.definitions![key.$ref.split("/").at(-1)!]! : key);
    const sentences = (form: Schema): Record<string, string> =>
      Object.fromEntries(Object.entries(form.properties!).map(([name, key]) => [name, whole(key).description ?? ""]));
    const forms = schema.properties!.queue!.additionalProperties!.oneOf.filter((form) => form.properties?.discipline);
    return Object.fromEntries(forms.map((form) => [whole(form.properties!.discipline!).const ?? "", sentences(form)]));
  };
  return {
    name: "keys",
    resolveId: (id) => (id === "virtual:keys" ? "\0keys" : undefined),
    load: (id) => (id === "\0keys" ? `export default ${JSON.stringify(load())}` : undefined),
  };
}

export default defineConfig({
  base: "./",
  plugins: [keys()],
  build: { outDir: "../python/ecnlab/studio/site", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: "es" },
});
