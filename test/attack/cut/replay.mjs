import { readFileSync, rmSync, writeFileSync } from "node:fs";

const SECTOR = 512;
const SIDES = { 1: "", 2: "-wal", 3: "-journal" };
const HEAD_BYTES = 18;

/** What log-writes.c logged, in order. */
export function operationsIn(log) {
  const bytes = readFileSync(log);
  const operations = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const operation = String.fromCharCode(bytes[at]);
    const [offset, length] = [Number(bytes.readBigInt64LE(at + 2)), Number(bytes.readBigInt64LE(at + 10))];
    const end = at + HEAD_BYTES + (operation === "W" || operation === "A" ? length : 0);
    operations.push({ operation, file: bytes[at + 1], offset, data: bytes.subarray(at + HEAD_BYTES, end) });
    at = end;
  }
  return operations;
}

/** The lines that the process had printed before an operation. */
export function saidBefore(operations, cut) {
  const output = operations.slice(0, cut).filter(({ operation }) => operation === "A");
  return Buffer.concat(output.map(({ data }) => data))
    .toString()
    .split("\n")
    .slice(0, -1);
}

/**
 * Writes the files as a power cut before operation `cut` may leave them: what was synced is there; of what was not, nothing,
 * all, or some sectors.
 */
export function cutFiles(operations, cut, path, random) {
  const syncs = operations.slice(0, cut).map(({ operation, file }) => (operation === "S" ? file : null));
  const share = random.pick([0, 0.5, 0.9, 1]);
  const files = {};
  for (const [at, { operation, file, offset, data }] of operations.slice(0, cut).entries()) {
    const lasts = at < syncs.lastIndexOf(file);
    if (operation === "O") files[file] ??= new DiskFile();
    else if (operation === "W") writeSectors(files, file, offset, data, () => lasts || random.chance(share));
    else if (operation === "T" && (lasts || random.chance(0.5))) files[file]?.truncate(offset);
    // The removal of a file is written to the folder some time after the process removes it.
    else if (operation === "U" && (at < cut - 3 || random.chance(0.7))) delete files[file];
  }
  for (const side of [...Object.values(SIDES), "-shm"]) rmSync(`${path}${side}`, { force: true });
  for (const [file, { bytes }] of Object.entries(files)) writeFileSync(`${path}${SIDES[file]}`, bytes);
}

function writeSectors(files, file, offset, data, isKept) {
  files[file] ??= new DiskFile();
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, (Math.floor((offset + at) / SECTOR) + 1) * SECTOR - offset);
    if (isKept()) files[file].write(offset + at, data.subarray(at, end));
    at = end;
  }
}

class DiskFile {
  #buffer = Buffer.alloc(65_536);
  #length = 0;

  get bytes() {
    return this.#buffer.subarray(0, this.#length);
  }

  write(offset, data) {
    this.#grow(offset + data.length);
    data.copy(this.#buffer, offset);
    this.#length = Math.max(this.#length, offset + data.length);
  }

  truncate(length) {
    this.#grow(length);
    this.#buffer.fill(0, Math.min(length, this.#length), Math.max(length, this.#length));
    this.#length = length;
  }

  #grow(length) {
    if (length <= this.#buffer.length) return;
    const attack = Buffer.alloc(length * 2);
    this.#buffer.copy(attack, 0, 0, this.#length);
    this.#buffer = attack;
  }
}
