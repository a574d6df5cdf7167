// What `later.mjs` fetches.
import { wake } from "./figures.mjs";
import { Keep } from "./keep.mjs";
import { Model } from "./model.mjs";
import { Outputs } from "./outputs.mjs";
import { Session } from "./session.mjs";

globalThis.partsForLater = { Session, Model, Outputs, Keep, wake };
