/** True if a text is the url of a store on a server, and not the path of a file. */
export function isServerUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text);
}

/** The words by which libpq names a server without a url: `host=db user=ada password=…`. */
const WORD = /(?:^|[\s"'`;&?])(?:host|hostaddr|port|dbname|user|passfile|service|sslmode)\s*=/gi;

/**
 * True if a text was meant as the address of a server but is no url of one: in quotation marks, after a blank, with the prefix of another
 * driver, or as words of libpq. It can contain a password, so callers must not show it or use it as the name of a file.
 */
export function isLikeServerAddress(text: string): boolean {
  if (isServerUrl(text)) return false;
  // A scheme has two letters or more: one letter is the drive of a Windows path.
  return (
    /^[\s"'`]*(?:[a-z][\w+.-]+:)*[a-z][\w+.-]+:\/\//i.test(text) ||
    /^[\s"'`]*(?:\w+:)*postgres[\w+]*:/i.test(text) ||
    /postgres[\w+]*:\/\//i.test(text) ||
    /(?:^|[\s"'`;&?])(?:password|pwd)\s*=/i.test(text) ||
    [...text.matchAll(WORD)].length >= 2 ||
    /^[\s"'`]*(?:postgres(?:ql)?)?\/\/[^\s/@]*:[^\s@]+@/i.test(text) ||
    /^[\s"'`]*[^\s:@/\\]{2,}:[^\s@]*@[\w.[\]-]+(?::\d+)?(?:[/?"'`\s]|$)/.test(text)
  );
}
