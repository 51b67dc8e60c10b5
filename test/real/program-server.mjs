// A program that is spoken to through an HTTP server of its own.
import { endOf, LONGEST_MS, within } from "./home.mjs";

/**
 * Starts a program and waits until it says where it listens (the first group of `says`).
 *
 * @returns {Promise<{ get(path: string): Promise<any>, post(path: string, body: object): Promise<any>, stop(): Promise<string[]> }>} `stop` resolves with findings
 */
export async function startProgramServer(home, { command, name, says, cwd = home.project }) {
  const child = home.start(command, { cwd });
  const listening = new Promise((resolve, reject) => {
    let said = "";
    const read = (text) => {
      said += text;
      const found = says.exec(said);
      if (found !== null) resolve(found[1]);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.on("close", () => reject(new Error(`${name} ended: ${said.slice(-300)}`)));
  });
  const url = await within(LONGEST_MS, `${name} did not listen`, listening);
  const ask = async (path, options) => {
    const response = await fetch(url + path, {
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(LONGEST_MS),
      ...options,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
    return response.json();
  };
  return {
    get: (path) => ask(path, {}),
    post: (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) }),
    stop: () => endOf(child, () => child.kill("SIGTERM"), name),
  };
}
