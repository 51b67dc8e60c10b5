import { exitCodeList } from "../exit-codes.js";

/** Help that belongs to no single command, by the name it is asked for. */
export const TOPICS: Readonly<Record<string, () => string>> = {
  names: namesTopic,
  environment: environmentTopic,
  "exit-codes": exitCodesTopic,
};

function namesTopic(): string {
  return `A session is named by
  its id, or a beginning of it that no other session has
  its title, the beginning of it, or a part of it

An entry is named by
  its id, or a beginning of it that no other entry of the session has
  its label
  @leaf        where the session stands
  @root        the first entry of the leaf's path
  @NAME        the leaf of this name
  ~N           N entries above the leaf; behind any of the others: N above it
`;
}

function environmentTopic(): string {
  return `BOUGH_STORE     the store, where --store is not given; empty: as if it were not set
XDG_DATA_HOME   the default store is bough/sessions.db in it (or in ~/.local/share)
NO_COLOR        no colours
FORCE_COLOR     colours also without a terminal; 0: none
BOUGH_MODEL     the model that writes summaries; none: they are extracts
BOUGH_BASE_URL  its address, such as http://127.0.0.1:11434/v1
BOUGH_API_KEY   its key; another --base-url does not get it
BOUGH_ASCII     draw with plain ASCII; 0: never
BOUGH_DEBUG     say where an unexpected failure came from
`;
}

function exitCodesTopic(): string {
  return exitCodeList()
    .map(({ exit, name, meaning }) => `${String(exit).padStart(3)}  ${name === "" ? "" : `${name}: `}${meaning.replaceAll("`", "")}`)
    .join("\n")
    .concat("\n");
}
