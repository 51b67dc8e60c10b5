// The esbuild options for bundling Ink. The build and the benchmark share them.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Options for esbuild. */
export const BUNDLED_INK = {
  // Ink draws nothing if a variable indicates CI, connects to developer tools, and measures lines again; see each module.
  alias: {
    "is-in-ci": join(HERE, "not-in-ci.mjs"),
    "widest-line": join(HERE, "no-widths.mjs"),
  },
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [{ name: "modules-of-ink-replaced", setup: replaceModules }],
};

/** Modules of Ink itself that are replaced; it imports them by relative paths. */
const REPLACED = { "./output.js": "ink-output.mjs", "./devtools.js": "no-devtools.mjs" };

function replaceModules({ onResolve }) {
  onResolve({ filter: /^\.\/(output|devtools)\.js$/ }, ({ path, importer }) =>
    /[\\/]ink[\\/]build[\\/]/.test(importer) ? { path: join(HERE, REPLACED[path]) } : undefined,
  );
}
