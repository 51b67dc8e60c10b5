// What a row costs a user if its limit is missed, and where the time or space goes. The first pattern that matches.
const COSTS = [
  [
    /^append.*p50/,
    "SQLite does the same work on both sides. An append also validates the entry, makes its preview, computes its path state and file operations, checks after the commit that the path still leads to the same file (8 to 27 µs), and awaits two promises: 30 µs in all, for each message of a model. The tables of tips, branch points and counts, which make reads of the tree independent of its size, are written on both sides.",
  ],
  [/^append below/, "The row of the parent is found by its id, and its path state is read: 3 to 8 µs. The handle knows those of its leaf."],
  [/^append.*p99/, "It depends on whose run a checkpoint of the journal falls into."],
  [
    /^context.*rows/,
    "The context also opens the session by its id, checks every content block, pairs calls with results and freezes every message: 0.2 ms for a window of 100 entries.",
  ],
  [
    /^context.*blocks/,
    "A window of 100 entries lies in two or three blocks. Decompressing 64 kB takes 0.15 ms, so the first context of a session that was idle takes 0.6 ms longer; a session in use has its newest 128 payloads in rows.",
  ],
  [/^move to a branch/, "The two branches are longer than what stays in rows, so that their older halves are decompressed."],
  [
    /^store against JSONL, packed/,
    "Of the JSONL's size, blocks take 0.2, skeletons 0.15 (two thirds of them previews and ids), the search index 0.16, other indexes 0.06. 43 tables and indexes take a page of 2 kB each, which is much of a store of a megabyte and nothing of a large one.",
  ],
  [
    /^store against JSONL, before packing/,
    "Every payload is a row, as right after an import by the library: payloads 0.9 of the JSONL's size, the ends of their pages 0.17, the rest as packed. `bough import` packs at its end, and a session in use keeps 128 to 192 payloads in rows.",
  ],
  [/^packing/, "Compressing takes half of the time, in another thread; writing the blocks and overwriting the rows the other half."],
  [
    /^import of an? .*SQLite/,
    "A row of a database is an entry of 0.8 to 1.1 kB, mostly text, so that reading and parsing it takes little: 3 to 9 µs, where a line of pi takes 15 (these figures are of a slower machine than the row). The import of an entry takes the writing thread 31 to 42 µs, of which SQLite's statements alone are 15 to 20 (the row beside it: the same rows inserted bare, half of it the payloads), and the reading thread 32 to 79, whatever the format: the ratio is that of entries to bytes. 6 × of Hermes would be 20 µs for each.",
  ],
  [
    /^import/,
    "About half of the time is SQLite inserting rows and index entries; the rest is mapping records to entries, validation, previews and file operations. At this speed 1 GB takes 20 s.",
  ],
  [/^first search/, "The scan decompresses and folds every text that is not indexed; the next search finds more in the index."],
  [
    /^outline/,
    "SQLite and the driver take 110 ms to read ten columns of 100,000 rows; an object for each row takes the rest. No screen reads all pages before it draws.",
  ],
  [/^navigator, first frame/, "Opening is a moment longer; the rest of the rows is read behind the frame."],
  [
    /^navigator, peak memory/,
    "With 10,000 entries it is 128 MB; 47 MB of that are pages of mapped files, of Node's program above all. The page cache of SQLite adds up to 16 MB, the arrays of the tree the rest. It is free again when the navigator closes.",
  ],
  [/^navigator|^the same until it is written/, "A key takes longer than a frame of the screen."],
  [/^picker/, "The slowest of twenty includes the first, on code that was never run."],
  [
    /^bough tree/,
    "Loading the code and SQLite takes 60 to 70 ms, which every command needs; reading 10,000 rows, laying them out and printing them takes the rest, in code that has not been optimized yet.",
  ],
  [/fresh process|beyond node/, "Loading the library and SQLite; the session itself takes a millisecond."],
  [/^counting/, "Text without any break is the worst case of the tokenizer; it is cut into pieces, so the cost stays linear."],
  [
    /^LangGraph thread: file/,
    "Most of the file is what LangGraph says about its checkpoints: three for a turn, with versions of channels and pending writes, which hold the messages a second time.",
  ],
  [
    /^LangGraph thread: a turn/,
    "A turn is six transactions on both sides. The graph reads the newest checkpoint at the beginning of each turn, which makes LangChain create every message; the rest is comparing each message with its stored text.",
  ],
  [
    /^LangGraph thread: newest/,
    "The messages are read one by one from their entries, and their texts are joined before LangChain reads them.",
  ],
  [
    /^bough mcp/,
    "Half of it is Node and the code of the protocol; opening the store and the first answer take the rest. A client starts the server once.",
  ],
  [
    /^recall/,
    "The index finds the hits; the rest is reading their payloads, cutting them into lines and finding the places where the words stand close together.",
  ],
  [/^openOrCreate|^value|^fork of|^the same of its path/, "Each is one transaction; the rest is checking the arguments and the leaf."],
  [/^pi:/, "pi numbers every entry and value itself; each is mapped to a row of the store and back."],
  [/^claude transcripts/, "Each line is parsed, placed in the tree and compared with the line before it of its type."],
  [
    /^(children|siblings|tip|branch points|latest|50 entries|20 |leaves|statistics of|an entry by|file operations|page of)/,
    "Checking the arguments, a promise, and an object for each row.",
  ],
  [
    /^search for a question/,
    "One query of the index for the words in all their forms; the rest is ranking 600 entries by the message, its neighbours and its session. On the machine of this run SQLite alone takes 1.4 to 2 times what it took on the one before.",
  ],
  [
    /^bough hook/,
    "Node and loading the code are most of it: `bough sessions` takes as long on the same machine, where `node -e 0` takes 130 ms.",
  ],
  [
    /^the first sync/,
    "Each file is listed, opened and read once, and written as a session with its rows and index entries; up to 128 share a commit.",
  ],
  [
    /^threshold check/,
    "The text of a session that was never counted goes through the tokenizer once; the counts are kept with its entries.",
  ],
  [
    /^exported page/,
    "A file of 13 MB with 90,000 elements: the browser decodes and parses it before the scripts run, which takes a second by itself.",
  ],
  [
    /^bough (version|sessions)|^import @bough/,
    "Node reads and compiles the code of the command; on the machine of this run `node -e 0` takes 130 ms, three times what the limits were set for.",
  ],
  [
    /^bough import of a .* file, resident memory/,
    "The index of the file's records, the ids of its calls and the replies that may go on stay in memory: 64 MB live, of which V8 lets the heap of the reading thread grow to twice; the rest is Node and the engine.",
  ],
  [/^search/, "The index answers in a millisecond; the rest is reading the texts of the hits for their snippets."],
];

/** Returns the sentences for a missed row. */
export function costOf(work) {
  return COSTS.find(([pattern]) => pattern.test(work))?.[1] ?? "Not explained yet.";
}
