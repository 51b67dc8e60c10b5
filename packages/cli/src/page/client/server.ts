/** The parts of a session that the server of its page sends. */
export class SessionServer {
  readonly #base: string;

  /** `base`: the path of the session's parts, with a slash at its end. */
  constructor(base: string) {
    this.#base = base;
  }

  address(part: string, query: Readonly<Record<string, string | number>> | readonly (readonly [string, string])[] = {}): string {
    const pairs = Array.isArray(query) ? query : Object.entries(query).map(([name, value]) => [name, String(value)]);
    const search = new URLSearchParams(pairs).toString();
    return `${this.#base}${part}${search === "" ? "" : `?${search}`}`;
  }

  /** Reads JSON that the server of this page wrote. @throws {Error} the server does not answer, or has no such part. */
  async json<Shape>(part: string, query: Parameters<SessionServer["address"]>[1]): Promise<Shape> {
    const response = await fetch(this.address(part, query));
    if (!response.ok) throw new Error(`${part}: ${response.status}`);
    return response.json();
  }

  /** Reads HTML, whose nodes can be moved into the page: no text of the page becomes HTML. @throws {Error} as `json`. */
  html(part: string, query: Parameters<SessionServer["address"]>[1]): Promise<Document> {
    return readDocument(this.address(part, query));
  }
}

/** Reads a document of the server without running its scripts. @throws {Error} the server does not answer, or has no such page. */
export function readDocument(address: string): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.addEventListener("load", () =>
      request.status === 200 && request.responseXML !== null
        ? resolve(request.responseXML)
        : reject(new Error(`${address}: ${request.status}`)),
    );
    request.addEventListener("error", () => reject(new Error(`${address}: no answer`)));
    request.send();
  });
}
