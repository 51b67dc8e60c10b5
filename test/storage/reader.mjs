// Reads a store as a user who may not write in its folder, and prints how many sessions it found, or the code of the error.
import { openStore } from "@bough/session-core";

const [path] = process.argv.slice(2);
// The driver is loaded by the first store, while its files can still be read.
await (await openStore({ path: ":memory:" })).close();
if (process.getuid?.() === 0) {
  process.setgid(65534);
  process.setuid(65534);
}
try {
  const store = await openStore({ path, mode: "read-only" });
  process.stdout.write(String((await store.statistics()).sessions));
  await store.close();
} catch (error) {
  process.stdout.write(error.code ?? String(error));
}
