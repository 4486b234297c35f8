/** The figures of all runs of the service in the text format of Prometheus. */
import { PROGRAM_VERSION } from '../config/program.ts';
import { renderMetrics } from '../events/metrics.ts';
import type { LiveRun } from './live-run.ts';
import type { Tickets } from './tickets.ts';

export async function renderEngineMetrics(
  runs: readonly LiveRun[],
  tickets: Pick<Tickets, 'list'>,
): Promise<string> {
  const queued = (await tickets.list()).filter(({ state }) => state === 'waiting').length;
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return renderMetrics(
    runs.map(({ handle }) => handle.read()),
    {
      residentBytes: rss,
      heapBytes: heapUsed,
      cpuSeconds: (user + system) / 1e6,
      upSeconds: process.uptime(),
      hostsWaiting: null,
      runsQueued: queued,
      version: PROGRAM_VERSION,
    },
  );
}
