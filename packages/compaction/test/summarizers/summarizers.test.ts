import { startModelServer } from "../model/model-server.js";
import { SHIPPED } from "./shipped.js";
import { summarizerContract } from "./summarizer-contract.js";

for (const { name, over } of SHIPPED) summarizerContract(name, async () => over(await startModelServer()));
