// What bundling Ink for a person's terminal takes. Shared by the build and the benchmark, so that both run the same.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Options for esbuild. */
export const BUNDLED_INK = {
  // It draws nothing where a variable says CI, and connects to developer tools; a person at a terminal wants the one and
  // not the other.
  alias: {
    "is-in-ci": join(HERE, "not-in-ci.mjs"),
    "react-devtools-core": join(HERE, "no-devtools.mjs"),
    "widest-line": join(HERE, "no-widths.mjs"),
  },
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [{ name: "lines-are-lines", setup: linesAreLines }],
};

function linesAreLines({ onResolve }) {
  onResolve({ filter: /^\.\/output\.js$/ }, ({ importer }) =>
    /[\\/]ink[\\/]build[\\/]/.test(importer) ? { path: join(HERE, "ink-output.mjs") } : undefined,
  );
}
