// Writes the licenses of the bundled packages next to each bundle. The build fails if the license of a package is unknown.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Packages without a license file, with the license that their manifest and repository name. Each was reviewed by a person.
const NO_FILE = {
  "js-tiktoken": { note: "MIT, as its manifest says; https://github.com/dqbd/tiktoken", text: mit },
  "pg-types": { note: "MIT; Copyright (c) 2014 Brian M. Carlson, as its README says", text: mit },
  pgpass: { note: "MIT; Copyright (c) 2013-2016 Hannes Hörl, as its README says", text: mit },
  "@ai-sdk/provider-utils": { note: "Apache-2.0; see @ai-sdk/provider, which is in the same repository", text: () => "" },
};

function mit(root) {
  const own = readFileSync(join(root, "LICENSE"), "utf8");
  return own.slice(own.indexOf("Permission is hereby granted")).trim();
}

/** The license text of each bundled package, by folder. @throws a package has no license text and is not listed above. */
export function licencesOf(root, inputs) {
  const packages = new Map();
  for (const input of inputs) {
    const [, home] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input) ?? [];
    if (home !== undefined && !packages.has(home)) packages.set(home, licenceOf(root, home));
  }
  return packages;
}

function licenceOf(root, home) {
  const about = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"));
  const title = `${about.name} ${about.version} (${about.license})`;
  const files = readdirSync(join(root, home)).filter((name) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(name));
  if (files.length > 0) return `${title}\n\n${files.map((name) => readFileSync(join(root, home, name), "utf8").trim()).join("\n\n")}\n`;
  const known = NO_FILE[about.name];
  if (known === undefined)
    throw new Error(`${about.name} is bundled and has no licence file: read its licence, and list it in .ci/licences.mjs.`);
  return `${title}\n\n${`${known.note}\n\n${known.text(root)}`.trim()}\n`;
}

/** Writes the texts into the package's folder, ordered by name. */
export function writeLicences(folder, packages) {
  const line = `\n${"-".repeat(80)}\n\n`;
  writeFileSync(join(folder, "THIRD_PARTY_LICENSES.txt"), [...new Set(packages.values())].sort().join(line));
}
