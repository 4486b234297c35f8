/** Where commands write what they answer: standard output as the terminal shows it, or files, whole or not at all. */
import { EXIT_CODES } from '../errors.ts';
import { type RowList, rowPieces, type Screen } from '../export/row-pieces.ts';
import { type OutputFile, writeFiles } from '../export/write-files.ts';
import { type Pieces, writePieces } from '../export/write-pieces.ts';
import { painterFor } from '../render/terminal-text.ts';

/** How standard output shows it: colours and the width of the terminal, where it is one. */
export function screenOf(out: NodeJS.WriteStream = process.stdout): Screen {
  return { paint: painterFor(out, process.env), width: out.isTTY ? out.columns : null };
}

export async function printRows<Row extends object>(list: RowList<Row>): Promise<void> {
  await printPieces(rowPieces(list, screenOf()));
}

export async function printPieces(pieces: Pieces): Promise<void> {
  await writePieces(pieces, process.stdout);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Interrupted, the command exits at once, and the files stay as they were. */
export async function writeOutputFiles(files: readonly OutputFile[]): Promise<void> {
  const leave = () => process.exit(EXIT_CODES.interrupted);
  for (const signal of SIGNALS) process.once(signal, leave);
  try {
    await writeFiles(files);
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}
