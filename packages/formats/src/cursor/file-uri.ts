/** The path of a `file:` URI; a path stays as it is. */
export function pathOfUri(uri: string | undefined): string | undefined {
  if (uri === undefined || !uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch (error) {
    if (error instanceof URIError || error instanceof TypeError) return uri;
    throw error;
  }
}
