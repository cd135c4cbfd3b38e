import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { outDir: "../python/ecnlab/studio/site", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: "es" },
});
