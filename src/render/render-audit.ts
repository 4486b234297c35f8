/** The audit of a request log as text for people. */
import type { Audit } from '../project/audit-runs.ts';
import { type Paint, printable, showMany } from './terminal-text.ts';

export function renderAudit(audit: Audit, paint: Paint): string {
  const { violations, cleared_until: cleared } = audit;
  const verdict = paint(violations === 0 ? 'green' : 'red', showMany(violations, 'violation'));
  const lines = [
    `${showMany(audit.requests, 'request')} to ${showMany(audit.hosts, 'host')}: ${verdict}` +
      (audit.gaps === 0 ? '' : `; ${showMany(audit.gaps, 'host')} rested after a restart`),
  ];
  if (cleared !== null) lines.push(`  ${clearedText(cleared)}`);
  const repeated: string[] = [];
  let shown = 0;
  for (const one of audit.details) {
    if (one.kind === 'repeated-url') {
      const { url, count, project } = one;
      repeated.push(
        `  repeated-url  ${printable(url)} stands ${count} times in project ${printable(project)}`,
      );
      continue;
    }
    shown++;
    lines.push(`  ${one.kind}  ${one.host}  ${one.sent_at}  request ${one.request}: ${one.detail}`);
  }
  const more = violations - (audit.by_kind['repeated-url'] ?? 0) - shown;
  if (more > 0) lines.push(`  … and ${showMany(more, 'more', 'more')}`);
  return [...lines, ...repeated].join('\n');
}

/** Printed if the log was shortened by `sumi forget`. */
export function clearedText(until: string): string {
  return `The request log before ${until} was cleared (sumi forget, --keep-history): what was asked then is not judged.`;
}
