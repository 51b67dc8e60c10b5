import { expect, test } from "vitest";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { withoutSecretVariables } from "../../src/agent/erase-secrets.js";

test("a tool's process gets no variable that holds a secret, also not as a part of an address", () => {
  const env = {
    BOUGH_API_KEY: "another",
    BOUGH_PAGE_PASSWORD: "of a page",
    OWN_KEY: " long-secret-1 ",
    ADDRESS: "http://me:long-secret-1@127.0.0.1/v1",
    SHORT: "abc",
    PATH: "/abc/bin",
    EMPTY: "",
  };
  expect(withoutSecretVariables(env, ["long-secret-1", "abc"])).toEqual({ PATH: "/abc/bin", EMPTY: "" });
});

test("of an address only the password and what its parameters name as a secret are secrets", () => {
  const baseUrl = "https://me:long-secret-1@example.com/v1?api-version=2024-10-21&api-key=long-secret-2&sig=long-secret-3&deployment=main";
  const secrets = chooseChatModel({}, {}, { model: "m", baseUrl })?.secrets ?? [];
  expect([...new Set(secrets)].sort()).toEqual(["long-secret-1", "long-secret-2", "long-secret-3"]);
  const env = { OPENAI_API_VERSION: "2024-10-21", BRANCH: "main", OTHER: "long-secret-3" };
  expect(withoutSecretVariables(env, secrets)).toEqual({ OPENAI_API_VERSION: "2024-10-21", BRANCH: "main" });
});

test("a variable with an address is kept from commands, also where the key in it is percent-encoded", () => {
  const baseUrl = "https://ada:pass%2Fword1@model.example/v1?mode=a&api_key=abc%2Fdefghij%3D#top";
  const secrets = chooseChatModel({}, {}, { model: "m", baseUrl })?.secrets ?? [];
  expect(new Set(secrets)).toEqual(new Set(["pass%2Fword1", "pass/word1", "abc/defghij=", "abc%2Fdefghij%3D"]));
  const env = { KEY_ALONE: "https://model.example/v1?api_key=abc%2Fdefghij%3D", MODE: "a" };
  expect(withoutSecretVariables(env, secrets)).toEqual({ MODE: "a" });
});
