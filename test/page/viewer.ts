import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { BOUGH } from "./home.js";

/** A running `bough view`, and the address that it printed. */
export interface Viewer {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly address: string;
}

/** Where a command runs, and its environment. */
interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

/** One `bough view` for the tests of a file. */
export function useViewer(home: Place): () => Viewer {
  let viewer: Viewer | undefined;
  beforeAll(async () => {
    viewer = await start(home, [], {});
  });
  afterAll(() => void viewer?.child.kill("SIGKILL"));
  return () => {
    if (viewer === undefined) throw new Error("The viewer is started by beforeAll.");
    return viewer;
  };
}

/** Starts `bough view` until the end of the test; with `--open` it opens the browser. */
export async function view(home: Place, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Viewer> {
  const viewer = await start(home, args, env);
  onTestFinished(() => void viewer.child.kill("SIGKILL"));
  return viewer;
}

async function start(home: Place, args: readonly string[], env: Record<string, string>): Promise<Viewer> {
  const child = spawn(
    process.execPath,
    [BOUGH, "view", ...(args.includes("--open") ? args.filter((arg) => arg !== "--open") : [...args, "--no-open"])],
    {
      env: { ...home.env, ...env },
      cwd: home.folder,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  return { child, address: printed.toString().trim() };
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** One request, and the whole answer. */
export async function ask(address: string, options: { method?: string; headers?: Record<string, string> } = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    get(address, options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        body += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    }).on("error", reject);
  });
}
