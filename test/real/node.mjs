// A newer Node.js than the one that runs the suite, from the registry: some agents need it.
import { join } from "node:path";

const PACKAGE = `node-${process.platform}-${process.arch}`;

/** The package to install beside an agent. */
export const NEWER_NODE = `${PACKAGE}@24`;

/** The program in an agent's folder of the cache. */
export const newerNode = ({ folder }) => join(folder, "node_modules", PACKAGE, "bin", "node");
