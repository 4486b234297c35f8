// What a bench scenario is and how its figures are judged. A row with a bar passes or fails; a row without one is
// only shown; a scenario that cannot run here says why in a row of its own, and that is never a pass.
interface BenchOptions {
  /** Smaller sizes and fewer rounds, to see that all works; its figures are not the issue's figures. */
  quick: boolean;
}

export interface Row {
  figure: string;
  value: string;
  bar: string;
  verdict: 'pass' | 'FAIL' | 'skipped' | '';
}

export interface Scenario {
  name: string;
  about: string;
  run(options: BenchOptions): Promise<Row[]>;
}

const rounded = (value: number): string => {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
};

const judged = (figure: string, value: number, unit: string, bar: string, isGood: boolean): Row => ({
  figure,
  value: `${rounded(value)} ${unit}`.trimEnd(),
  bar,
  verdict: isGood ? 'pass' : 'FAIL',
});

export const atMost = (figure: string, value: number, most: number, unit = '', aim?: number): Row => {
  const bar = `<= ${rounded(most)}${aim === undefined ? '' : ` (aim ${rounded(aim)})`}`;
  return judged(figure, value, unit, bar, value <= most);
};

export const lessThan = (figure: string, value: number, limit: number, unit = ''): Row =>
  judged(figure, value, unit, `< ${rounded(limit)}`, value < limit);

export const atLeast = (figure: string, value: number, least: number, unit = ''): Row =>
  judged(figure, value, unit, `>= ${rounded(least)}`, value >= least);

export const shown = (figure: string, value: number | string, unit = ''): Row => ({
  figure,
  value: `${typeof value === 'number' ? rounded(value) : value} ${unit}`.trimEnd(),
  bar: '',
  verdict: '',
});

export const skipped = (figure: string, reason: string): Row => ({
  figure,
  value: reason,
  bar: '',
  verdict: 'skipped',
});

export const failed = (figure: string, reason: string): Row => ({
  figure,
  value: reason,
  bar: '',
  verdict: 'FAIL',
});

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** One Markdown table of all scenarios. */
export function toMarkdown(results: readonly { scenario: string; rows: readonly Row[] }[]): string {
  const lines = ['| scenario | figure | value | bar | |', '|---|---|---|---|---|'];
  for (const { scenario, rows } of results) {
    for (const row of rows) {
      lines.push(
        `| ${scenario} | ${row.figure} | ${row.value.replaceAll('|', '/')} | ${row.bar} | ${row.verdict} |`,
      );
    }
  }
  return lines.join('\n');
}
