// A session of our own with twenty questions, so that the exam always runs. It holds what an extract gets wrong: thumbs up
// and thanks, code that contains "Error", an error that was mended and one that was not, a goal that changed, two languages,
// absolute paths, a password. A pattern behind "never" must match no line.
const CWD = "/home/ada/orders";

let calls = 0;
const person = (content) => ({ role: "user", content });
const said = (text) => ({ role: "assistant", content: [{ type: "text", text }] });

/** What the model says, a call, and its result; `failed`: the result is an error. */
function called(text, name, given, output, failed = false) {
  calls += 1;
  const id = `call-${calls}`;
  const blocks = [...(text === "" ? [] : [{ type: "text", text }]), { type: "toolCall", id, name, arguments: given }];
  return [
    { role: "assistant", content: blocks },
    { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: output }], isError: failed },
  ];
}

const ran = (text, command, output, failed) => called(text, "bash", { command }, output, failed);
const edited = (text, path) =>
  called(text, "edit", { path: `${CWD}/${path}`, oldText: "a", newText: "b" }, `Replaced text in ${CWD}/${path}.`);
const read = (path, output) => called("", "read", { path: `${CWD}/${path}` }, output + CODE);
/** Most of a session is text of files, as here: nobody needs it again, and it is full of words that tell of errors. */
const CODE = Array.from(
  { length: 80 },
  (_one, at) => `\n\tif err := step(${at}); err != nil {\n\t\treturn fmt.Errorf("Error: step ${at}: %w", err)\n\t}`,
).join("");

const MESSAGES = [
  person("/model"),
  person("hi"),
  said("Hello! What can I do for you?"),
  person(
    "The nightly export job times out since Monday. Find out why and repair it. Never touch the table orders_archive, finance reads it directly.",
  ),
  ...ran(
    "I'll look for where the job ends.",
    `grep -rn "Error" ${CWD}/internal/export`,
    `${CWD}/internal/export/job.go:41:\treturn fmt.Errorf("export: %w", err)\n${CWD}/internal/export/job.go:77:\tErrorTimeout: "Error: job timed out"`,
  ),
  ...read("internal/export/job.go", 'func Run() error {\n\tif err != nil {\n\t\tlog.Print("Error: cannot open the export file")\n\t}\n}'),
  ...ran(
    "Let me run its tests:",
    "go test ./internal/export/...",
    "--- FAIL: TestExportWindow (0.42s)\n    job_test.go:88: expected 3 batches, got 1\nFAIL\tshop/internal/export\t0.5s",
    true,
  ),
  ...called(
    "The query has no index on orders.updated_at, so each batch reads all of the table, about 4,200,000 rows. I'll add an index instead of raising the timeout, because a longer timeout only hides the growth.",
    "write",
    { path: `${CWD}/db/migrations/0042_orders_updated_at.sql`, content: "CREATE INDEX orders_updated_at_idx ON orders (updated_at);" },
    "Wrote 58 bytes.",
  ),
  ...edited("Now the job itself:", "internal/export/job.go"),
  ...ran("", "PGPASSWORD=hunter2hunter2 make migrate", 'ERROR: relation "orders_updated_at_idx" already exists (SQLSTATE 42P07)', true),
  person("no, don't drop the index that is there, use IF NOT EXISTS instead"),
  ...edited("", "db/migrations/0042_orders_updated_at.sql"),
  ...ran("", "PGPASSWORD=hunter2hunter2 make migrate", "migrated to 0042"),
  ...ran("", "go test ./internal/export/...", "ok  \tshop/internal/export\t0.61s"),
  said("Done. The export reads 500 rows a batch through the index now; the run took 48 s instead of 31 min."),
  person("👍"),
  said("👍"),
  person("Bitte ab jetzt keine neuen Abhängigkeiten, und Fehlermeldungen immer auf Deutsch."),
  said("Verstanden."),
  person("next: the importer. Forget the export, from now on we work on cmd/import only. It must accept files with a BOM."),
  ...read("cmd/import/reader.go", 'package main\n\nvar errOpen = errors.New("Error: open")'),
  ...ran(
    "Let me see what it does with such a file:",
    "go run ./cmd/import testdata/bom.csv",
    'import: Zeile 1: unbekannte Spalte "\\ufefforder_id"\nexit status 1',
    true,
  ),
  ...edited("The reader compares the first heading with its byte order mark. I'll skip the mark:", "cmd/import/reader.go"),
  ...ran("", "go run ./cmd/import testdata/bom.csv", "1204 Zeilen eingelesen"),
  ...ran("", "cat cmd/import/main.go", 'if err != nil {\n\tlog.Fatal("Error: cannot open ", path)\n}\npanic: unreachable'),
  ...ran("", "go vet ./...", "cmd/import/report.go:57:2: result of fmt.Sprintf call not used", true),
  said(
    "Files with a byte order mark are read now: testdata/bom.csv gives 1,204 rows. `go vet` still complains about cmd/import/report.go, which I left alone.",
  ),
  person("thanks!"),
  said("You're welcome! 🎉"),
  person(
    "actually use encoding/csv with LazyQuotes, not the hand-written parser. Kunde Brandt liefert Dateien mit losen Anführungszeichen",
  ),
  ...edited("I'll replace the parser.", "cmd/import/reader.go"),
  ...called("", "write", { path: `${CWD}/cmd/import/reader_test.go`, content: "package main" }, "Wrote 12 bytes."),
  ...ran(
    "",
    "go test ./cmd/import",
    "--- FAIL: TestQuotes (0.00s)\n    reader_test.go:31: got 7 fields, want 6\nFAIL\tshop/cmd/import\t0.2s",
    true,
  ),
  said("The test of quotes still fails: a field with a lone quote swallows the separator. Next I'll trim lone quotes before the split."),
];

export const EXPORT_SESSION = {
  title: "own/export",
  cwd: CWD,
  messages: MESSAGES,
  questions: [
    ["What was asked first?", /nightly export job times out/],
    ["Which table may not be touched?", /Never touch the table orders_archive, finance reads it directly/],
    ["Why was the export slow?", /no index on orders\.updated_at/],
    ["Why was the timeout not raised?", /longer timeout only hides the growth/],
    ["How is the migration to treat an index that is there?", /don't drop the index that is there, use IF NOT EXISTS instead/],
    ["What did the export gain?", /48 s instead of 31 min/],
    ["What holds for dependencies and messages from now on?", /keine neuen Abhängigkeiten, und Fehlermeldungen immer auf Deutsch/],
    ["What is the work about now?", /from now on we work on cmd\/import only/],
    ["What must the importer accept?", /must accept files with a BOM/],
    ["Which parser is to be used?", /use encoding\/csv with LazyQuotes, not the hand-written parser/],
    ["Was the error of the migration mended?", /fixed.*make migrate.*already exists/i, /not seen fixed.*make migrate/i],
    [
      "Was the first failing test mended?",
      /go test \.\/internal\/export\/\.\.\.`: succeeded|fixed.*internal\/export|internal\/export\/\.\.\.` succeeded/i,
    ],
    ["What does go vet still complain about?", /report\.go:57.*Sprintf|go vet.*(?:report\.go|complains)/],
    ["What fails now?", /TestQuotes|got 7 fields, want 6/],
    ["What comes next?", /trim lone quotes before the split/],
    ["Which files were changed, from the project's directory?", /(?<!\/)\bcmd\/import\/(?:: .*)?\breader\.go/, /\/home\/ada/],
    ["What does not count as work done?", /\[x\]/, /👍|welcome|Verstanden|Hello!/],
    ["Is code that contains an error's name taken for an error?", /fixed/i, /Errorf|cannot open|ErrorTimeout|panic: unreachable/],
    ["Which greeting is taken for a request?", /export job/, /^\W*(?:hi|thanks!?|\/model)$/i],
    ["Is the password kept out?", /make migrate/, /hunter2/],
  ],
};
