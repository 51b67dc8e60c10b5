// Bundles the style and the scripts of the HTML page (packages/cli/src/page/client): one script for the page, and one for each
// language that is highlighted, so that a page carries only those of its code.
import { join } from "node:path";
import { build } from "esbuild";

const PACKAGES = join(import.meta.dirname, "../packages");

/** The languages that are highlighted, by the names of highlight.js. */
const LANGUAGES = [
  ...["bash", "c", "cpp", "csharp", "css", "diff", "dockerfile", "go", "graphql", "ini", "java", "javascript", "json", "kotlin", "lua"],
  ...["makefile", "markdown", "nix", "perl", "php", "powershell", "python", "r", "ruby", "rust", "scala", "scss", "sql", "swift"],
  ...["typescript", "xml", "yaml"],
];

/** Extensions that highlight.js does not list as aliases. */
const MORE_ALIASES = {
  bash: ["shell", "fish"],
  c: ["h"],
  cpp: ["hpp"],
  json: ["jsonl"],
  typescript: ["mts", "cts"],
  xml: ["vue", "svelte"],
};

/** A language that shows code of others needs their scripts too. */
const EMBEDS = { xml: ["css", "javascript"], markdown: ["xml"], php: ["xml"] };

/** The search of session-core from its sources, of which only what a page uses is taken; of Node it uses nothing but `node:vm`. */
const SEARCH = {
  name: "search",
  setup(build) {
    build.onResolve({ filter: /^@bough\/session-core\/engine$/ }, () => ({ path: join(PACKAGES, "session-core/src/engine.ts") }));
    build.onResolve({ filter: /^node:vm$/ }, () => ({ path: join(PACKAGES, "cli/src/page/client/vm.ts") }));
    leaveOut(build, /^node:/, "module.exports = {};");
  },
};

/** A page in a file has to be small: its search knows the forms of English words only, and no misspelt ones. */
const SMALL = {
  name: "small",
  setup(build) {
    leaveOut(build, /^\.\/other-languages\.js$/, "exports.OTHER_LANGUAGES = [];");
    leaveOut(build, /^\.\/spelling\.js$/, "exports.mistakesOf = () => new Set();");
  },
};

/** Gives the modules of these names the same contents. */
function leaveOut(build, filter, contents) {
  build.onResolve({ filter }, ({ path }) => ({ path, namespace: "left-out" }));
  build.onLoad({ filter, namespace: "left-out" }, () => ({ contents }));
}

const browser = {
  bundle: true,
  format: "iife",
  platform: "browser",
  target: ["chrome123", "firefox128", "safari17.5"],
  minify: true,
  legalComments: "none",
  write: false,
  metafile: true,
  plugins: [SEARCH],
  logLevel: "warning",
  charset: "ascii",
};

/** The assets as `src/page/document.ts` reads them, and the files that they are made of. */
export async function bundlePage(root, folder) {
  const bundled = (options) => build({ ...browser, absWorkingDir: root, ...options });
  const [script, served, list, locked] = await Promise.all(
    ["main.ts", "served.ts", "list.ts", "locked.ts"].map((file) =>
      bundled({ entryPoints: [join(folder, file)], plugins: file === "main.ts" ? [SEARCH, SMALL] : [SEARCH] }),
    ),
  );
  const style = await build({ ...browser, absWorkingDir: root, entryPoints: [join(folder, "style.css")] });
  // The engine of session-core is read, but most of it is left out.
  const inputs = [script, served, list].flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap((output) =>
      Object.keys(output.inputs).filter((file) => output.inputs[file].bytesInOutput > 0 && !file.startsWith("left-out:")),
    ),
  );
  const codeOf = new Map();
  const namesOf = new Map();
  for (const name of LANGUAGES) {
    const grammar = (await import(`${join(root, "packages/cli/node_modules/highlight.js/es/languages")}/${name}.js`)).default;
    const names = [name, ...(grammar(await highlightJs(root)).aliases ?? []), ...(MORE_ALIASES[name] ?? [])];
    const contents = `import grammar from "highlight.js/lib/languages/${name}";\n(globalThis.boughLanguages ??= []).push([${JSON.stringify(names)}, grammar]);`;
    const result = await bundled({ stdin: { contents, resolveDir: folder } });
    codeOf.set(name, closed(result.outputFiles[0].text));
    namesOf.set(name, names);
    inputs.push(...Object.keys(result.metafile.inputs).filter((file) => file !== "<stdin>"));
  }
  const languages = {};
  for (const [name, names] of namesOf)
    for (const alias of names) languages[alias] ??= [name, ...(EMBEDS[name] ?? [])].map((one) => LANGUAGES.indexOf(one));
  const scripts = LANGUAGES.map((name) => codeOf.get(name));
  return {
    assets: {
      style: style.outputFiles[0].text.trim(),
      script: closed(script.outputFiles[0].text),
      served: closed(served.outputFiles[0].text),
      list: closed(list.outputFiles[0].text),
      locked: closed(locked.outputFiles[0].text),
      scripts,
      languages,
    },
    inputs: [...new Set(inputs)],
  };
}

async function highlightJs(root) {
  return (await import(join(root, "packages/cli/node_modules/highlight.js/es/core.js"))).default;
}

/** A script that stands in a document: what would end or change its element is in strings and patterns only, and is escaped there. */
function closed(text) {
  const code = text.trim().replace(/<(?=\/script|!--|script)/gi, "\\x3c");
  new Function(code);
  return code;
}
