/**
 * The `data` of each server-sent event of a body, in order, as the WHATWG specification reads them: lines end with LF, CR
 * or CRLF (also cut in two by a chunk), comments and other fields are skipped, several `data` lines are joined by LF, and
 * an event that the end of the body cuts off is dropped. Characters cut in two by a chunk are put together again.
 *
 * @throws what reading the body throws, for example when the connection breaks.
 */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // The decoder drops a byte order mark, and holds back half a character until the rest has come.
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The LF of a CRLF whose CR ended the chunk before: that line is told already.
    if (endedInReturn && text.startsWith("\n")) text = text.slice(1);
    endedInReturn = text === "" ? false : text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const open = lines.pop() ?? "";
    for (const line of lines) {
      yield [...rest, line].join("");
      rest = [];
    }
    rest.push(open);
  }
}
