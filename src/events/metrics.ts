/**
 * The figures of a worker in the text format of Prometheus (version 0.0.4): HELP and TYPE once per name, then one line
 * per series. Pure text: the measured values come as readings, one per run.
 */
import type { PageState } from '../frontier/page-state.ts';
import type { OutcomeCount } from './event-hub.ts';

export interface LoopReading {
  run: number;
  project: string;
  /** Pages with a final answer, by this worker. */
  pages: number;
  states: ReadonlyMap<PageState, number>;
  outcomes: ReadonlyMap<string, OutcomeCount>;
  waiting: number;
  inFlight: number;
  hosts: number;
  cooling: number;
  lagMs: number;
  /** Time since the last answer of the store; 0 for a store that cannot be away. */
  storeSilentMs: number;
  storeAnswerMs: number | null;
}

export interface ProcessReading {
  residentBytes: number;
  heapBytes: number;
  cpuSeconds: number;
  upSeconds: number;
  /** Hosts of running runs that wait and that no worker holds; null if it is not known. */
  hostsWaiting: number | null;
  /** Of a service: runs that wait for their turn. */
  runsQueued?: number;
  version: string;
}

type Labels = Readonly<Record<string, string | number>>;

interface Metric {
  name: string;
  type: 'counter' | 'gauge';
  help: string;
  series: [Labels, number][];
}

export function renderMetrics(loops: readonly LoopReading[], process: ProcessReading): string {
  const metrics = [...loopMetrics(loops), ...processMetrics(loops, process)];
  return metrics
    .filter(({ series }) => series.length > 0)
    .map(renderMetric)
    .join('');
}

function loopMetrics(loops: readonly LoopReading[]): Metric[] {
  const of = (value: (loop: LoopReading) => number): [Labels, number][] =>
    loops.map((loop) => [labelsOf(loop), value(loop)]);
  const byOutcome = (value: (count: OutcomeCount) => number): [Labels, number][] =>
    loops.flatMap((loop) =>
      [...loop.outcomes].map(([outcome, count]): [Labels, number] => [
        { ...labelsOf(loop), outcome },
        value(count),
      ]),
    );
  return [
    counter(
      'sumi_pages_total',
      'Pages with a final answer, by this worker.',
      of(({ pages }) => pages),
    ),
    counter(
      'sumi_pages_settled_total',
      'Pages settled by this worker, by the state they got.',
      loops.flatMap((loop) =>
        [...loop.states].map(([state, count]): [Labels, number] => [{ ...labelsOf(loop), state }, count]),
      ),
    ),
    counter(
      'sumi_requests_total',
      'Requests by class of status or kind of failure.',
      byOutcome(({ requests }) => requests),
    ),
    counter(
      'sumi_received_bytes_total',
      'Bytes of bodies as they came over the wire, by outcome.',
      byOutcome(({ bytes }) => bytes),
    ),
    gauge(
      'sumi_requests_in_flight',
      'Requests under way.',
      of(({ inFlight }) => inFlight),
    ),
    gauge(
      'sumi_hosts_held',
      'Hosts leased by this worker.',
      of(({ hosts }) => hosts),
    ),
    gauge(
      'sumi_hosts_cooling',
      'Hosts held whose next slot has not come.',
      of(({ cooling }) => cooling),
    ),
    gauge(
      'sumi_urls_waiting',
      'Pages of the run that wait, about.',
      of(({ waiting }) => waiting),
    ),
  ];
}

function processMetrics(loops: readonly LoopReading[], process: ProcessReading): Metric[] {
  const lags = loops.map(({ lagMs }) => lagMs);
  const answers = loops.flatMap(({ storeAnswerMs }) => (storeAnswerMs === null ? [] : [storeAnswerMs]));
  const one = (value: number | null): [Labels, number][] => (value === null ? [] : [[{}, value]]);
  return [
    gauge('sumi_runs', 'Runs that this worker works on.', one(loops.length)),
    gauge('sumi_runs_queued', 'Runs that wait for their turn.', one(process.runsQueued ?? null)),
    gauge(
      'sumi_hosts_waiting',
      'Hosts of running runs that could be asked now and nobody holds: more workers would help.',
      one(process.hostsWaiting),
    ),
    gauge(
      'sumi_store_answer_seconds',
      'How long the store took for its last answer to a sign of life.',
      one(answers.length === 0 ? null : Math.max(...answers) / 1000),
    ),
    gauge(
      'sumi_event_loop_lag_seconds',
      'How late timers run, falling off slowly.',
      one(Math.max(0, ...lags) / 1000),
    ),
    gauge('sumi_memory_resident_bytes', 'Resident memory of the process.', one(process.residentBytes)),
    gauge('sumi_memory_heap_bytes', 'JavaScript heap in use.', one(process.heapBytes)),
    counter('sumi_cpu_seconds_total', 'CPU time of the process, user and system.', one(process.cpuSeconds)),
    gauge('sumi_up_seconds', 'Since the process began.', one(process.upSeconds)),
    gauge('sumi_build_info', 'Always 1; the version is a label.', [[{ version: process.version }, 1]]),
  ];
}

function labelsOf({ run, project }: LoopReading): Labels {
  return { run, project };
}

function counter(name: string, help: string, series: [Labels, number][]): Metric {
  return { name, type: 'counter', help, series };
}

function gauge(name: string, help: string, series: [Labels, number][]): Metric {
  return { name, type: 'gauge', help, series };
}

function renderMetric({ name, type, help, series }: Metric): string {
  const lines = series.map(([labels, value]) => `${name}${renderLabels(labels)} ${value}`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
