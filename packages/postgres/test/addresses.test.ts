import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@bough/session-core";
import { isLikeServerAddress } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../session-core/test/world/stores.js";
import { parseServerUrl, withoutPassword } from "../src/address.js";

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

describe("a text that was meant for a server does not become the name of a file", () => {
  test.each([
    '"postgres://ada:S3cr3t@db/agents"',
    "'postgresql://ada:S3cr3t@db/agents'",
    " postgres://ada:S3cr3t@db/agents",
    "\tpostgres://ada:S3cr3t@db/agents",
    "jdbc:postgresql://db/agents?user=ada&password=S3cr3t",
    "host=db port=5432 user=ada password=S3cr3t",
    "password=S3cr3t host=db",
    "host=db dbname=agents",
    "postgres:/ada:S3cr3t@db/agents",
    "postgresq://ada:S3cr3t@db/agents",
    "postgres+ssl://ada:S3cr3t@db/agents",
    "mysql://ada:S3cr3t@db/agents",
    "BOUGH_STORE=postgres://ada:S3cr3t@db/agents",
    "ada:S3cr3t@db.example.com:5432/agents",
    "ada:S3cr3t@db.example.com/my-db",
    "ada:S3cr3t@db.example.com/agents?sslmode=require",
    "ada:S3cr3t@db:5432",
    "postgresql//ada:S3cr3t@db/agents",
    "//ada:S3cr3t@db/agents",
  ])("%s", async (path) => {
    expect(isLikeServerAddress(path)).toBe(true);
    const error = await openStore({ path }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.not.stringContaining("S3cr3t") });
  });

  test.each([
    "sessions.db",
    "/home/ada/sessions.db",
    "C:\\Users\\ada\\sessions.db",
    "C:/Users/ada/sessions.db",
    "/backups/host=db/user=ada/sessions.db",
    "postgres/sessions.db",
    "/srv/postgres:13/sessions.db",
    "passwords.db",
    "a@b:c.db",
    ":memory:",
    "ada's sessions = all.db",
  ])("%s is the path of a file", (path) => {
    expect(isLikeServerAddress(path)).toBe(false);
  });
});

describe("channel_binding=require", () => {
  const tls = (url: string, environment = {}) => parseServerUrl(url, environment).tls;

  test("implies TLS, also for a server of this machine and where it was only preferred", () => {
    for (const url of ["postgres://localhost/db?", "postgres://db/x?", "postgres://db/x?sslmode=prefer&"]) {
      expect(tls(`${url}channel_binding=require`)).toMatchObject({ optional: false, options: expect.anything() });
    }
    expect(tls("postgres://db/x", { PGCHANNELBINDING: "require" }).optional).toBe(false);
  });

  test("is refused where there is no TLS, and an unknown value is refused", () => {
    expect(() => tls("postgres://db/x?sslmode=disable&channel_binding=require")).toThrow(/TLS where channel_binding is require/);
    expect(() => tls("postgres:///x?host=/var/run/postgresql&channel_binding=require")).toThrow(/TLS where channel_binding is require/);
    expect(() => tls("postgres://db/x?channel_binding=maybe")).toThrow(/known are disable, prefer, require/);
  });
});
