// A program that is spoken to by lines of JSON: requests on its input, answers and events on its output.
import { endOf } from "./home.mjs";

export class LineClient {
  #child;
  #waiting = new Set();
  #rest = "";

  constructor(child) {
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text) => this.#read(text));
    child.stderr.resume();
    child.stdin.on("error", () => undefined);
    child.on("close", () => this.#fail(new Error("The program ended before it answered.")));
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) for (const one of [...this.#waiting]) one.take(JSON.parse(line));
  }

  #fail(error) {
    for (const { reject } of this.#waiting) reject(error);
  }

  send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message for which `isWanted` holds. */
  next(isWanted) {
    return new Promise((resolve, reject) => {
      const take = (message) => {
        if (!isWanted(message)) return;
        this.#waiting.delete(one);
        resolve(message);
      };
      const one = { take, reject };
      this.#waiting.add(one);
    });
  }

  /** Sends a message and resolves with the answer that has its id. */
  ask(message) {
    const answer = this.next(({ id }) => id === message.id);
    this.send(message);
    return answer;
  }

  /** Ends the input and waits for the end of the program. Throws if it had to be ended by force. */
  async close() {
    const found = await endOf(this.#child, () => this.#child.stdin.end(), "The program");
    if (found.length > 0) throw new Error(found.join("; "));
  }
}

/** A program whose messages are those of JSON-RPC. */
export class RpcClient extends LineClient {
  #asked = 0;
  #envelope;

  /** `envelope`: members that the program wants in each request beside those of JSON-RPC. */
  constructor(child, envelope = {}) {
    super(child);
    this.#envelope = envelope;
  }

  /** The result of a method. Throws its error. */
  async call(method, params) {
    this.#asked += 1;
    const { result, error } = await this.ask({ jsonrpc: "2.0", ...this.#envelope, id: String(this.#asked), method, params });
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }
}
