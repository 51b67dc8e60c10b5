// The script of a page in a file.
import { App } from "./app.js";
import { Conversation } from "./conversation.js";
import { element } from "./dom.js";
import { Search } from "./search.js";
import { FileRows } from "./tree.js";

const elsewhere = document.getElementById("elsewhere");
const book = new Conversation(element("path"), elsewhere instanceof HTMLTemplateElement ? elsewhere : null);

new App({ book, finder: new Search(book), rows: new FileRows(element("tree"), (step) => book.up(step)) });
