/** Text that is not blank and has no lone surrogate. */
export interface ProjectedText {
  readonly type: "text";
  readonly text: string;
}

/** An image that every provider takes: `data` is base64. */
export interface ProjectedImage {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
}

/** What a model thought. `signature` is opaque, and with it `thinking` is untouched; `redacted`: only the signature says what. */
export interface ProjectedThinking {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string | undefined;
  readonly redacted: boolean;
}

/** A call, with an id that every provider takes and no other call of the context has. */
export interface ProjectedCall {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A block that only the program that wrote it understands. */
export interface ProjectedForeign {
  readonly type: "foreign";
  readonly originalType: string;
  readonly raw: unknown;
}

/** What a person, a host or a tool says. */
export type SaidPart = ProjectedText | ProjectedImage | ProjectedForeign;

/** What a model says. */
export type AnswerPart = ProjectedText | ProjectedImage | ProjectedThinking | ProjectedCall | ProjectedForeign;

/** The result of one call. `parts` is never empty. */
export interface ProjectedResult {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly parts: readonly SaidPart[];
}

/** Something said to the model. */
export interface ProjectedSaid {
  readonly role: "user";
  readonly parts: readonly SaidPart[];
}

/** A reply with exactly one result for each of its calls, in the order of the calls. */
export interface ProjectedAnswer {
  readonly role: "assistant";
  readonly provider: string | undefined;
  readonly parts: readonly AnswerPart[];
  readonly results: readonly ProjectedResult[];
}

/** A context in the form that all converters start from: what differs between providers comes after it. */
export type ProjectedMessage = ProjectedSaid | ProjectedAnswer;
