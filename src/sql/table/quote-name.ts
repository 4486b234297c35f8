/** Names and texts as they stand in SQL, whatever characters they have. */

export function quoteName(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
