import { BareWriter, openBare, RowReader } from "./baseline.mjs";
import { alternate, median, pause, quantile } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "append";

const LIMIT_P50 = 1.3;
const LIMIT_P99 = 2;
const NOTE =
  "The baseline writes the same rows, handed to it ready; it makes the JSON text of the payload, as any store must, and judges nothing.";

/**
 * One message after the other, each in a transaction of its own. Ours judges it, derives preview, settings and file
 * operations, and stores it; the baseline is handed the finished rows and only makes the JSON text of the payload.
 */
export async function run({ report, stores, sizes, rounds }) {
  for (const durability of ["full", "normal"]) {
    for (const size of sizes) {
      const times = await appends(stores, await stores.ofSize(size), durability, rounds(durability === "full" ? 400 : 2000));
      const { ours, baseline } = times;
      report.ratio(`append, ${durability}, p50`, size, median(ours), median(baseline), LIMIT_P50, report.rows.length === 0 ? NOTE : null);
      report.ratio(`append, ${durability}, p99`, size, quantile(ours, 0.99), quantile(baseline, 0.99), LIMIT_P99);
    }
  }
}

async function appends(stores, made, durability, rounds) {
  const [own, bare] = [stores.copy(made), stores.copy(made)];
  return withStore({ path: own.path, durability }, async (store) => {
    const session = await store.openSession(made.sessionId);
    const [reading, file] = [openBare(own.path), openBare(bare.path, durability)];
    try {
      return await alternate(contestants(session, new RowReader(reading), new BareWriter(file), rounds), { rounds, warmUp: 200 });
    } finally {
      reading.close();
      file.close();
    }
  });
}

function contestants(session, reader, writer) {
  const script = messages(7);
  let message;
  let seq;
  let rows;
  return {
    ours: {
      // The event loop turns between two appends, so the search index is filled in between as it would be.
      prepare: async () => {
        await pause();
        // As a provider's answer arrives: parsed from JSON.
        message = JSON.parse(JSON.stringify(script.next().value));
      },
      run: async () => {
        seq = (await session.append({ type: "message", message })).seq;
      },
    },
    baseline: {
      prepare: () => {
        rows = reader.rows(seq);
      },
      run: () => writer.append(rows, message),
    },
  };
}
