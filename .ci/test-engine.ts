// The engine of the stores that tests of the contract open, and places for such stores. .ci/test-projects.ts says which test runs on which.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const ENGINES = ["memory", "file", "postgres", "postgres-partitioned"] as const;

export type Engine = (typeof ENGINES)[number];

/** The engine of this run. */
export const ENGINE: Engine = engineOf(process.env["BOUGH_TEST_ENGINE"] ?? "memory");

/** True if the stores of this run are on a server. */
export const ON_SERVER = ENGINE.startsWith("postgres");

/** The number of partitions of each table of the stores of this run. */
export const PARTITIONS = ENGINE === "postgres-partitioned" ? 4 : 0;

function engineOf(name: string): Engine {
  const known = ENGINES.find((one) => one === name);
  if (known === undefined) throw new Error(`BOUGH_TEST_ENGINE is one of ${ENGINES.join(", ")}, not ${name}.`);
  return known;
}

/** Options of `openStore` that say where a store is. */
export type Place = { readonly path: string } | ServerPlace;

export interface ServerPlace {
  readonly url: string;
  readonly schema: string;
  readonly tenant: string;
  readonly connections: number;
  readonly partitions: number;
}

/** Where a store can be made on the engine of this run. In memory every store that is opened there is a new one. */
export function newPlace(): Place {
  return ENGINE === "memory" ? { path: ":memory:" } : lastingPlace();
}

/** A place where a store can be opened twice, or again; in a file where this run has its stores in memory. */
export function lastingPlace(): Place {
  if (ENGINE === "memory" || ENGINE === "file") return { path: join(tempFolder(), "store.db") };
  return serverPlace(PARTITIONS);
}

/**
 * A tenant of its own in a schema that all tests of a run share: to create one takes as long as many tests. With BOUGH_TEST_POOLED=1 it is a schema
 * of its own without tenants, for a pooler that does not pass on the settings of connections.
 */
export function serverPlace(partitions = 0): ServerPlace {
  const { BOUGH_TEST_POSTGRES: url, BOUGH_TEST_SCHEMA: schema } = process.env;
  if (url === undefined) throw new Error("Run this test on a server: npx vitest run --project 'postgres-*' …");
  if (process.env["BOUGH_TEST_POOLED"] === "1")
    return { url, schema: `${schema}_${randomUUID().slice(0, 8)}`, tenant: "", connections: 4, partitions };
  return { url, schema: `${schema}${partitions === 0 ? "" : "_parts"}`, tenant: randomUUID(), connections: 4, partitions };
}

/** The URL of a store of its own on the server of this run. */
export function serverUrl(): string {
  const { url, schema, tenant } = serverPlace();
  return `${url}?schema=${schema}&tenant=${tenant}`;
}

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
