const PRIVATE_LABEL = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/

/**
 * The one clean-up of PEM text that came through an environment variable: edge blanks and one pair of quotes around
 * the whole are dropped, `\n` and `\r` written as two characters become line breaks, CRLF becomes LF.
 * Nothing else is repaired.
 */
export function cleanPem(text: string): string {
  const trimmed = text.trim()
  const unquoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed
  return unquoted
    .replaceAll('\\r', '')
    .replaceAll('\\n', '\n')
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
}

/** Whether a text is meant as PEM, private or public, so that it must not be taken for a shared secret. */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN ')
}

/** Whether a text holds the private half of a key. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_LABEL.test(cleanPem(text))
}
