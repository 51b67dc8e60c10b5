import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_FILTERS, KNOWN_AGENTS } from "../src/agents.js";
import { FORMATS } from "../src/registry.js";
import { agentsOf } from "../src/transfer/agents.js";

describe("the table of agents", () => {
  test("names the programs of all formats, and no other", () => {
    const named = (agents: readonly { readonly name: string; readonly format: string }[]) =>
      agents.map(({ name, format }) => `${format}: ${name}`).sort();
    const known = agentsOf(FORMATS).map(({ agent, format }) => ({ name: agent.name, format: format.name }));
    // Cursor has an editor and a command line, VS Code several editions.
    const families = known.map(({ name, format }) => ({
      name: KNOWN_AGENTS.find((agent) => agent.format === format && (agent.name === name || format !== "pi"))?.name ?? name,
      format,
    }));
    expect([...new Set(named(families))]).toEqual(named(KNOWN_AGENTS));
  });

  test("has a filter for each format that a program writes", () => {
    const formats = FORMATS.filter(({ agents = [] }) => agents.length > 0).map(({ name }) => name);
    expect([...AGENT_FILTERS].sort()).toEqual([...formats, "bough"].sort());
  });
});

test.each(["README.md", "docs/formats.md", "packages/formats/README.md"])("each agent is named in %s", (page) => {
  const text = readFileSync(join(import.meta.dirname, "../../..", page), "utf8").replace(/\s+/g, " ");
  expect(KNOWN_AGENTS.map(({ name }) => name).filter((name) => !text.includes(name))).toEqual([]);
});
