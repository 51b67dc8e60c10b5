import { cutMiddle } from "@bough/session-core/internals";

/** The line in a shortened text: how many UTF-16 code units are missing, and how many images and documents. */
export function cutMarker(chars: number, attachments: number): string {
  const missing = [chars > 0 ? `${chars} characters` : "", attachments > 0 ? `${attachments} images or documents` : ""];
  return `[${missing.filter((one) => one !== "").join(" and ")} left out of this request]`;
}

/**
 * A text without its middle, and without the attachments that it was sent with: `chars` UTF-16 code units remain.
 *
 * @example
 * cutForRequest("a".repeat(1_000), 10, 0.4, 0); // "aaaa\n[990 characters left out of this request]\naaaaaa"
 */
export function cutForRequest(text: string, chars: number, headShare: number, attachments: number): string {
  if (chars < text.length) return cutMiddle(text, chars, headShare, (missing) => cutMarker(missing, attachments));
  if (attachments === 0) return text;
  return text === "" ? cutMarker(0, attachments) : `${text}\n${cutMarker(0, attachments)}`;
}
