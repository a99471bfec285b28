// The sources of this folder into the page that doctord ships: node build.mjs [FOLDER].
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] ?? `${here}../src/doctord/serve/page`;

await mkdir(folder, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
await copyFile(`${here}index.html`, `${folder}/index.html`);

// The licences of what is in the bundle go with it.
const packages = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];
const licences = packages.map(
  async name => `${name}\n\n${await readFile(`${here}node_modules/${name}/LICENSE`, "utf8")}`,
);
await writeFile(`${folder}/licences.txt`, (await Promise.all(licences)).join("\n\n"));
