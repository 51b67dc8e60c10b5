// What a row costs a user if its limit is missed, and where the time or space goes. The first pattern that matches.
const COSTS = [
  [
    /^append.*p50/,
    "SQLite does the same work on both sides. Ours also judges the entry, draws its preview, finds its place and its file operations, and passes two promises: 20 to 30 µs, of which nobody who waits for a model notices anything.",
  ],
  [/^append.*p99/, "It depends on whose run a checkpoint of the journal falls into."],
  [
    /^context.*rows/,
    "Ours also opens the session by its id, checks every block of content and freezes every message, about 0.15 ms for a window of 100 entries.",
  ],
  [
    /^context.*blocks/,
    "A window of 100 entries lies in two or three blocks. Decompressing 64 kB takes 0.15 ms, so a context that nobody has in memory takes 1 ms longer; a session in use has its newest 128 payloads in rows.",
  ],
  [/^move to a branch/, "The two branches are longer than what stays in rows, so that their older halves are decompressed."],
  [
    /^store against JSONL, packed/,
    "Of the JSONL's size, blocks take 0.2, skeletons 0.15 (two thirds of them previews and ids), the search index 0.16, other indexes 0.06. 35 tables and indexes take a page of 2 kB each, which is much of a store of a megabyte and nothing of a large one.",
  ],
  [
    /^store against JSONL, before packing/,
    "Every payload is a row, as right after an import by the library: payloads 0.9 of the JSONL's size, the ends of their pages 0.17, the rest as packed. `bough import` packs at its end, and a session in use keeps 128 to 192 payloads in rows.",
  ],
  [/^packing/, "Compressing takes half of the time, in another thread; writing the blocks and overwriting the rows the other half."],
  [/^import/, "The rest is mapping records to entries, the gate, previews, file operations, and inserting the rows."],
  [/^first search/, "The scan decompresses and folds every text that is not indexed; the next search finds more in the index."],
  [/^outline/, "Making an object for each row takes most of the time."],
  [/^navigator, first frame/, "Opening is a moment longer; the rest of the rows is read behind the frame."],
  [/^navigator, peak memory/, "Memory of a process that ends when the navigator closes."],
  [/^navigator|^the same until Ink/, "A key takes longer than a frame of the screen; Ink writes the whole screen."],
  [/^picker/, "The slowest of twenty includes the first, on code that was never run."],
  [/^bough tree/, "Most of it is loading code."],
  [/fresh process|beyond node/, "Loading the library and SQLite; the session itself takes a millisecond."],
  [/^counting/, "Text without any break is the worst case of the tokenizer; it is cut into pieces, so the cost stays linear."],
  [/^search/, "The index answers in a millisecond; the rest is reading the texts of the hits for their snippets."],
];

/** Returns the sentences for a missed row. */
export function costOf(work) {
  return COSTS.find(([pattern]) => pattern.test(work))?.[1] ?? "Not explained yet.";
}
