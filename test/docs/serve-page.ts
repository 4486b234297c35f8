// Reads docs/service.md as a list of examples. A plain block with lines that begin with `$ ` has commands, each with what it
// prints. Any other block behind a line that ends with "`NAME`:" is the file of that name.
import { type Step, stepsOf } from '../readme/recipes.ts';

export type ServiceExample =
  | { kind: 'file'; name: string; text: string }
  | { kind: 'commands'; title: string; steps: Step[]; isWeekLater: boolean };

export function serviceExamplesOf(markdown: string): ServiceExample[] {
  const blocks = markdown.matchAll(/(?:`([\w.-]+)`:\n\n)?^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, name, language, text]): ServiceExample[] => {
    if (name !== undefined) return [{ kind: 'file', name, text }];
    if (language !== '' || !/^\$ /m.test(text)) return [];
    const title = text.split('\n')[0];
    return [{ kind: 'commands', title, steps: stepsOf(text), isWeekLater: text.includes('# a week later') }];
  });
}
