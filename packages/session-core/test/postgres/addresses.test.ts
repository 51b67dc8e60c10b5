import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseServerUrl, withoutPassword } from "../../src/postgres/address.js";
import { tempFolder } from "../world/stores.js";

describe("the url of a store", () => {
  test("says host, port, user, database and password, with percent-encoding", async () => {
    const address = parseServerUrl("postgresql://ada%40x:p%3Aw%2F%20+@db.example.com:6000/my%20agents", {});
    expect(address).toMatchObject({ host: "db.example.com", port: 6000, user: "ada@x", database: "my agents" });
    expect(await address.password()).toBe("p:w/ +");
    expect(address.label).toBe("postgres://ada%40x@db.example.com:6000/my%20agents");
  });

  test("takes what it does not say from the variables of libpq", async () => {
    const environment = { PGHOST: "db", PGPORT: "7000", PGUSER: "ada", PGDATABASE: "agents", PGPASSWORD: "secret", PGAPPNAME: "worker" };
    const address = parseServerUrl("postgres://", environment);
    expect(address).toMatchObject({ host: "db", port: 7000, user: "ada", database: "agents", applicationName: "worker" });
    expect(await address.password()).toBe("secret");
    expect(parseServerUrl("postgres://bob@other:1/own", environment)).toMatchObject({
      host: "other",
      port: 1,
      user: "bob",
      database: "own",
    });
  });

  test("names the database after the user if neither it nor a variable names one", () => {
    expect(parseServerUrl("postgres://ada@db", {}).database).toBe("ada");
  });

  test("has parameters: of the store, of a socket, of an IPv6 host", () => {
    expect(parseServerUrl("postgres://db/agents?schema=s&tenant=t%26u&prepare=false", {})).toMatchObject({
      schema: "s",
      tenant: "t&u",
      prepare: false,
    });
    expect(parseServerUrl("postgres:///agents?host=/run/pg&port=6001", {})).toMatchObject({ host: "/run/pg", port: 6001 });
    expect(parseServerUrl("postgres://[::1]:6002/agents", {})).toMatchObject({ host: "::1", port: 6002 });
  });

  test.each([
    ["postgres://ada:a/b@db/agents", "another form"],
    ["postgres://ada:a?b@db/agents", "another form"],
    ["postgres://ada:a%zz@db/agents", "%25"],
    ["postgres://db:x/agents", "port"],
    ["postgres://db:70000/agents", "port"],
    ["postgres://one,two/agents", "several hosts"],
    ["postgres://db/agents?colour=red", "parameter colour"],
    ["postgres://db/agents?prepare=no", "prepare"],
    ["postgres://db/agents?sslmode=maybe", "sslmode"],
    ["postgres://db/agents?sslmode=verify-full&sslrootcert=/nowhere", "ENOENT"],
  ])("%s is refused: %s", (url, reason) => {
    expect(() => parseServerUrl(url, {})).toThrow(reason);
    expect(() => parseServerUrl(url, {})).not.toThrow(/a[/?%]/);
  });
});

describe("sslmode", () => {
  const tls = (mode: string, host = "db") => parseServerUrl(`postgres://${host}/agents${mode && `?sslmode=${mode}`}`, {}).tls;

  test("is prefer, and disable on this machine", () => {
    expect(tls("")).toMatchObject({ optional: true, options: { rejectUnauthorized: false } });
    expect(tls("", "localhost")).toEqual({ optional: false, options: undefined });
  });

  test("require encrypts; verify-ca verifies the certificate, verify-full the name of the host too", () => {
    expect(tls("require")).toMatchObject({ optional: false, options: { rejectUnauthorized: false } });
    expect(() => tls("verify-ca")).toThrow("a url with sslrootcert where sslmode is verify-ca");
    expect(() => tls("require&sslrootcert=system")).toThrow("verify-full where sslrootcert is system");
    expect(tls("&sslrootcert=system").options).toEqual({ rejectUnauthorized: true });
    const file = join(tempFolder(), "root.crt");
    writeFileSync(file, "root");
    expect(tls(`require&sslrootcert=${file}`).options).toMatchObject({ rejectUnauthorized: true, ca: Buffer.from("root") });
    expect(tls(`verify-ca&sslrootcert=${file}`).options).toMatchObject({
      rejectUnauthorized: true,
      checkServerIdentity: expect.any(Function),
    });
    expect(tls("verify-full").options).toMatchObject({ rejectUnauthorized: true });
    expect(tls("verify-full").options).not.toHaveProperty("checkServerIdentity");
  });
});

test("a password that is not encoded and begins with / is no place", () => {
  expect(() => parseServerUrl("postgres://ada:/secret@db.example.com", {})).toThrow(/^(?!.*secret).*form postgres:/);
});

describe("the password file", () => {
  const passwordOf = async (lines: string, mode = 0o600) => {
    const file = join(tempFolder(), "pgpass");
    writeFileSync(file, lines);
    chmodSync(file, mode);
    return parseServerUrl("postgres://ada@db.example.com:6000/agents", { PGPASSFILE: file }).password();
  };

  test("has the password of the first line that fits", async () => {
    expect(await passwordOf("# no:6000\ndb.example.com:6000:other:ada:one\n*:*:agents:ada:t\\:w\\\\o\n*:*:*:*:three\n")).toBe("t:w\\o");
  });

  test("is ignored if others may read it, or if nothing fits", async () => {
    expect(await passwordOf("*:*:*:*:open\n", 0o644)).toBeUndefined();
    expect(await passwordOf("*:*:*:bob:his\n")).toBeUndefined();
  });
});

test.each([
  ["postgres://ada:secret@db:5432/agents?sslmode=require", "postgres://ada@db:5432/agents"],
  ["postgres://ada@db/agents", "postgres://ada@db/agents"],
  ["postgres://db:5432/agents", "postgres://db:5432/agents"],
  ["postgres://ada:se/cr?e#t@x@db/agents?password=secret", "postgres://ada@db/agents"],
  ["postgres://ada:/secret@db", "postgres://ada@db"],
  ["postgres://ada:secret", "postgres://ada"],
  ["sessions:of@me.db", "sessions:of@me.db"],
])("%s is shown as %s", (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});
