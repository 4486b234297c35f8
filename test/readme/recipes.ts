// Reads README.md as a list of recipes and runs them: every line that begins with `$ ` is a command, what follows up to
// the next one is what it has to print.
// Promises: commands run in a shell, in the order of the page; only times, rates and the sizes of pauses may differ.
import { execFile } from 'node:child_process';

export interface Step {
  command: string;
  output: string;
}

/** The code blocks of the section with this heading: their language and text. */
export function blocksOf(readme: string, heading: string): { language: string; text: string }[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language,
    text,
  }));
}

/** A command goes on in the next line while a quotation mark is open. */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let isOpen = false;
  for (const line of text.trimEnd().split('\n')) {
    const step = steps.at(-1);
    if (isOpen && step !== undefined) step.command += `\n${line}`;
    else if (line.startsWith('$ '))
      steps.push({ command: line.slice(2).replace(/ {2,}#.*$/, ''), output: '' });
    else if (step !== undefined) step.output += `${line}\n`;
    isOpen = ((steps.at(-1)?.command.match(/"/g)?.length ?? 0) & 1) === 1;
  }
  return steps;
}

/** What differs from one run to the next: times, durations and rates. */
export function withoutTimes(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/in [\d.]+ m?s \([\d.]+\/s\)/g, 'in SECONDS (RATE/s)')
      // The last column of a CRAWL.
      .replace(/│ +\d+\.\d{1,3} │$/gm, '│ SECONDS │')
      .trimEnd()
  );
}

export function runStep(command: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', command], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${command}: ${error.message}\n${stdout}\n${stderr}`));
    });
  });
}
