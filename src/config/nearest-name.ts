/** The known name that differs least from a mistyped one (Levenshtein distance, swapped neighbours count once). */
export function nearestName(wanted: string, known: readonly string[]): string {
  let best = known[0] ?? '';
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const distance = editDistance(wanted, name);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** The nearest one where it can have been meant: at most a third of the letters differ, or it has the word in it. Else null. */
export function similarName(wanted: string, known: readonly string[]): string | null {
  const nearest = nearestName(wanted, known);
  const bare = wanted.replace(/^--?/, '');
  if (editDistance(wanted, nearest) <= Math.max(1, Math.floor(bare.length / 3))) return nearest;
  const isPart = (name: string) => bare.length > 2 && name.replace(/^--?/, '').split('-').includes(bare);
  return known.find(isPart) ?? null;
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, substitution);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}
