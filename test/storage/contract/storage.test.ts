import { ENGINE, newPlace, type Place } from "../../../.ci/test-engine.js";
import { abilitiesContract } from "./abilities-contract.js";
import { readsContract } from "./reads-contract.js";
import { openedStore, storageContract } from "./storage-contract.js";
import { writesContract } from "./writes-contract.js";

let place: Place;
const open = () => {
  place = newPlace();
  return openedStore(place);
};

// A store in memory ends with its process.
storageContract(ENGINE, { open, reopen: ENGINE === "memory" ? undefined : () => openedStore(place) });
abilitiesContract(ENGINE, open, () => openedStore(place));
readsContract(ENGINE, open);
writesContract(ENGINE, open);
