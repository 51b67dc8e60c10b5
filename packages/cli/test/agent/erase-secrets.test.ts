import { expect, test } from "vitest";
import { eraseFromProcess, withoutSecretVariables } from "../../src/agent/erase-secrets.js";

test("a tool's process gets no variable that holds a secret, also not as a part of an address", () => {
  const env = {
    BOUGH_API_KEY: "another",
    OWN_KEY: " long-secret-1 ",
    ADDRESS: "http://me:long-secret-1@127.0.0.1/v1",
    SHORT: "abc",
    PATH: "/abc/bin",
    EMPTY: "",
  };
  expect(withoutSecretVariables(env, ["long-secret-1", "abc"])).toEqual({ PATH: "/abc/bin", EMPTY: "" });
});

test("secrets that the process was not started with need not be erased", () => {
  expect(eraseFromProcess(["not-in-this-process-1"])).toBe(process.platform === "linux");
});
