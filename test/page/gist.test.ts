import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findGh } from "../../.ci/gh.mjs";
import { BOUGH, Home, SAMPLE } from "./home.js";

// The real gh, against the gists of GitHub's REST API on loopback: gh asks `github.localhost` by plain http, and goes through a proxy.

const home = new Home();
let gh = "";

beforeAll(() => {
  gh = dirname(findGh());
  home.bough("import", SAMPLE);
  mkdirSync(home.path(".config/bough"), { recursive: true });
  writeFileSync(home.path(".config/bough/config.json"), JSON.stringify({ share: { gist: true } }));
});

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The gists of a GitHub on loopback. */
class GitHub {
  /** By id: the files of a gist. */
  readonly gists = new Map<string, unknown>();
  readonly requests: string[] = [];
  /** The answer to every request, instead of the one that the gists give. */
  failure: Reply | undefined;
  /** The page of a gist. */
  pageOf = (id: string) => `https://gist.github.localhost/ada/${id}`;
  readonly #server = createServer(async (request, response) => {
    const { status, body, headers } = this.failure ?? (await this.#answer(request));
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(body === undefined ? "" : JSON.stringify(body));
  });

  /** The variables with which gh asks it. */
  async start(): Promise<Record<string, string>> {
    this.#server.listen(0, "127.0.0.1");
    onTestFinished(() => void this.#server.close());
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    return { HTTP_PROXY: `http://127.0.0.1:${port}`, GH_HOST: "github.localhost", GH_TOKEN: "token", GH_NO_UPDATE_NOTIFIER: "1" };
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { method = "", url = "" } = request;
    this.requests.push(`${method} ${url}`);
    const [, id = ""] = /\/gists\/([^/]+)$/.exec(url) ?? [];
    if (method === "POST") {
      const made = "1f2e3d4c5b6a79880123";
      const { files, description } = JSON.parse(await text(request)) as { files: object; description: string };
      this.gists.set(made, files);
      return { status: 201, body: { id: made, html_url: this.pageOf(made), description, files, public: false } };
    }
    const files = this.gists.get(id);
    if (files === undefined) return { status: 404, body: { message: "Not Found" } };
    if (method === "DELETE") this.gists.delete(id);
    return method === "DELETE" ? { status: 204 } : { status: 200, body: { id, html_url: this.pageOf(id), files } };
  }
}

/** Runs `bough share` to its end. */
async function share(env: Record<string, string>, ...args: readonly string[]) {
  const child = spawn(process.execPath, [BOUGH, "share", ...args], {
    env: { ...home.env, PATH: gh, GH_CONFIG_DIR: home.path("gh"), ...env },
    cwd: home.folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [exit]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { exit, out, err };
}

describe("a session shared as a gist by the real gh", () => {
  test("is one secret file, is deleted, and is told from one that is gone", async () => {
    const github = new GitHub();
    const env = await github.start();
    const link = github.pageOf("1f2e3d4c5b6a79880123");
    expect(await share(env, "demo-lexer-tabs", "--yes")).toMatchObject({ exit: 0, out: `${link}\n` });
    const [files] = github.gists.values() as Iterator<Record<string, { content: string }>> & Iterable<Record<string, { content: string }>>;
    expect(Object.keys(files ?? {})).toEqual([expect.stringMatching(/^bough-[\w-]{22}\.html$/)]);
    expect(Object.values(files ?? {})[0]?.content).toContain("<!doctype html>");
    expect(await share(env, "--revoke", "1f2e")).toMatchObject({ exit: 0, out: `taken back: ${link}\n` });
    expect([...github.gists]).toEqual([]);
    await share(env, "demo-lexer-tabs", "--yes");
    github.gists.clear();
    expect(await share(env, "--revoke", "1f2e")).toMatchObject({ exit: 0, out: `was gone already: ${link}\n` });
  });

  test("is deleted on a server that has gists in a folder, whatever server gh asks by default", async () => {
    const github = new GitHub();
    github.pageOf = (id) => `https://github.localhost/gist/ada/${id}`;
    const env = await github.start();
    await share(env, "demo-lexer-tabs", "--yes");
    expect(await share({ ...env, GH_HOST: "other.localhost" }, "--revoke", "1f2e")).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^taken back/),
    });
    expect([...github.gists]).toEqual([]);
    expect(github.requests.at(-1)).toBe("DELETE http://api.github.localhost/gists/1f2e3d4c5b6a79880123");
  });

  test.each([
    [
      { status: 401, body: { message: "Bad credentials" } },
      /: X Failed to create gist: HTTP 401: .* Try authenticating with: {2}gh auth login\./,
    ],
    [
      { status: 404, body: { message: "Not Found" }, headers: { "x-oauth-scopes": "repo", "x-accepted-oauth-scopes": "gist" } },
      /: X Failed .*needs the "gist" scope\. To request it, run: {2}gh auth refresh -h github\.localhost -s gist\./,
    ],
    [
      {
        status: 422,
        body: {
          message: "Validation Failed",
          errors: [
            { resource: "Gist", field: "files", code: "custom", message: "files is too large" },
            { resource: "Gist", field: "description", code: "missing_field" },
          ],
        },
      },
      /: X Failed .*Validation Failed .* files is too large Gist\.description is missing\./,
    ],
  ])("is not remembered when GitHub refuses it with %o, and the reason is told", async (failure, reason) => {
    const github = new GitHub();
    const env = await github.start();
    github.failure = failure;
    const before = (await share(env, "--list", "--json")).out;
    expect(await share(env, "demo-lexer-tabs", "--yes")).toMatchObject({ exit: 7, out: "", err: expect.stringMatching(reason) });
    expect((await share(env, "--list", "--json")).out).toBe(before);
  });
});
