// Each kind of thing a document can leave out, as one and as several.
const NAMES = {
  earlier: ["earlier entry", "earlier entries"],
  thinking: ["thought of the model", "thoughts of the model"],
  output: ["tool output", "tool outputs"],
  shortened: ["shortened text", "shortened texts"],
  image: ["image", "images"],
  block: ["block of an unknown type", "blocks of unknown types"],
  hidden: ["hidden message", "hidden messages"],
  edit: ["context edit", "context edits"],
  custom: ["custom entry", "custom entries"],
  foreign: ["record of another program", "records of another program"],
} as const;

/** A kind of thing that a document leaves out. */
export type OmissionKind = keyof typeof NAMES;

/** Counts what a document leaves out, so that its last line can say so (regression R147). */
export class Omissions {
  readonly #counts = new Map<OmissionKind, number>();
  #later = false;

  count(kind: OmissionKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** The document ends before the branch does; how many entries follow is not known, as they are not read. */
  endsEarly(): void {
    this.#later = true;
  }

  /** The last line of the document. */
  line(): string {
    const parts = Object.keys(NAMES).flatMap((kind) => this.#part(kind as OmissionKind));
    if (this.#later) parts.push("everything after the last entry shown");
    return parts.length === 0 ? "*Nothing of this branch was left out.*" : `*Left out of this document: ${parts.join(", ")}.*`;
  }

  #part(kind: OmissionKind): readonly string[] {
    const count = this.#counts.get(kind);
    return count === undefined ? [] : [`${count} ${NAMES[kind][count === 1 ? 0 : 1]}`];
  }
}
