/**
 * The schedules of all projects: what is due is begun, by one of all services on the store, and once however many begins
 * were missed while none was there. A begin that falls due while the project is being crawled counts as done: the crawl
 * that is under way is its crawl.
 *
 * It promises that no begin is lost to a crash: a begin that was claimed and has no run yet is made up for by whoever
 * finds its owner dead. It decides nothing about the run itself.
 */
import { SumiError, sumiError } from '../../errors.ts';
import { isAtWork, newOwner } from '../../watch/watcher.ts';
import type { Room, RoomPart, RoomProject } from '../room.ts';
import type { ScheduleSettings, ScheduleVerbs } from '../schedule-verbs.ts';
import { checkSchedule, UNSET } from './check-schedule.ts';
import { createContinuousWatches } from './continuous-watches.ts';
import { nextBegin } from './next-times.ts';
import { type Begun, createScheduleRecords, type Known, NOTHING_BEGUN } from './schedule-records.ts';
import { nextOf, showSchedule } from './show-schedule.ts';

/** Other services may change schedules, and clocks may be set. */
const LOOK_AGAIN_MS = 30_000;
/** A claim whose owner cannot be asked counts as left after this time. */
const CLAIM_MS = 60_000;
/** From so many on, all schedules are read at once. */
const MANY = 8;

/** Errors after which a begin is tried again: the store is away for a moment. */
const PASSING: ReadonlySet<string> = new Set(['store-away', 'store-unreachable', 'db-locked']);
const codeOf = (error: unknown) => (error instanceof SumiError ? error.code : null);
const isoOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function createSchedules(room: Room): RoomPart<ScheduleVerbs> {
  const { clock } = room;
  const records = createScheduleRecords(room.records);
  const watches = createContinuousWatches(room);
  const owner = newOwner();
  const now = () => room.store.clock.now();
  let cancelTimer = () => {};
  let looking: Promise<void> | null = null;
  let mustLookAgain = false;
  let hasEnded = false;

  /** Begins what is due. Called while it looks, it looks once more. */
  function look(): Promise<void> {
    mustLookAgain = true;
    looking ??= (async () => {
      let next = LOOK_AGAIN_MS;
      while (mustLookAgain && !hasEnded) {
        mustLookAgain = false;
        next = await lookAtAll().catch((error: unknown) => {
          room.report(error);
          return LOOK_AGAIN_MS;
        });
      }
      looking = null;
      cancelTimer();
      if (!hasEnded) cancelTimer = clock.after(next, () => void look());
    })();
    return looking;
  }

  /** Answers when to look again, in milliseconds from now. */
  async function lookAtAll(): Promise<number> {
    const [all, projects] = [await records.all(), await room.projects()];
    const byUid = new Map(projects.map((project) => [project.uid, project]));
    let next = LOOK_AGAIN_MS;
    watches.keepOnly(new Set(all.map(({ projectUid }) => projectUid).filter((uid) => byUid.has(uid))));
    for (const known of all) {
      const project = byUid.get(known.projectUid);
      if (project === undefined || hasEnded) continue;
      try {
        next = Math.min(next, await lookAt(known, project));
      } catch (error) {
        room.report(error);
      }
    }
    return next;
  }

  async function lookAt(known: Known, project: RoomProject): Promise<number> {
    const { settings } = known.schedule.value;
    watchOrNot(known, project);
    const begun = known.begun?.value ?? NOTHING_BEGUN;
    if (begun.claim !== null && !(await isClaimOver(known, project, begun))) return LOOK_AGAIN_MS;
    if (!settings.enabled) return LOOK_AGAIN_MS;
    const due = nextBegin(settings, Math.max(begun.until, known.schedule.value.setAt));
    if (due === null) return LOOK_AGAIN_MS;
    const at = now();
    if (due > at) return due - at;
    // A deleted project rests: what falls due meanwhile is not made up for.
    if (project.isDeleted) await records.noteBegun(known, { ...begun, until: at });
    else await begin(known, { ...begun, until: at });
    mustLookAgain = true;
    return 0;
  }

  /** Whoever writes the claim begins. */
  async function begin(known: Known, begun: Begun): Promise<void> {
    const at = now();
    if (!(await records.noteBegun(known, { ...begun, claim: { owner, at } }))) return;
    await beginClaimed(known.projectUid, known.schedule.value.settings, at);
  }

  async function beginClaimed(projectUid: string, settings: ScheduleSettings, at: number): Promise<void> {
    let result: Partial<Begun> = {};
    try {
      await startRun(projectUid, settings);
      result = { lastRunAt: at };
    } catch (error) {
      const code = codeOf(error);
      // The claim stays, and is made up for later.
      if (code !== null && PASSING.has(code)) throw error;
      if (code === 'run-under-way') result = { lastSkippedAt: at };
      else if (code !== 'project-unknown') room.report(error);
    }
    await endClaim(projectUid, result);
  }

  async function endClaim(projectUid: string, result: Partial<Begun>): Promise<void> {
    const known = await records.get(projectUid);
    if (known?.begun?.value.claim?.owner !== owner) return;
    await records.noteBegun(known, { ...known.begun.value, ...result, claim: null });
  }

  async function startRun(projectUid: string, { mode }: ScheduleSettings): Promise<void> {
    await room.runs.start(projectUid, { type: 'scheduled', ...(mode !== null && { mode }) });
  }

  /** A claim of a process that ended before it could say what became of the begin. */
  async function isClaimOver(known: Known, project: RoomProject, begun: Begun): Promise<boolean> {
    const claim = begun.claim!;
    const isHeld =
      claim.owner !== owner && isAtWork({ owner: claim.owner, until: claim.at + CLAIM_MS }, now());
    if (isHeld) return false;
    const last = await room.side.lastRun(project.id);
    const hasRun =
      (last !== null && Date.parse(last.started_at) >= claim.at) || (await room.runs.isUnderWay(project.uid));
    if (hasRun || project.isDeleted) {
      await records.noteBegun(known, {
        ...begun,
        lastRunAt: hasRun ? claim.at : begun.lastRunAt,
        claim: null,
      });
    } else await begin(known, begun);
    mustLookAgain = true;
    return false;
  }

  function watchOrNot({ schedule }: Known, project: RoomProject): void {
    const { enabled, kind, budget } = schedule.value.settings;
    const isWanted = enabled && kind === 'continuous' && !project.isDeleted;
    watches.want(project, isWanted ? { budget, mark: `${schedule.version} ${project.name}` } : null);
  }

  const verbs: ScheduleVerbs = {
    async get(id) {
      return showSchedule(id, await records.get(id), now());
    },
    async next(ids) {
      const all =
        ids.length < MANY ? await Promise.all(ids.map((id) => records.get(id))) : await records.all();
      const byUid = new Map(all.flatMap((known) => (known === null ? [] : [[known.projectUid, known]])));
      return ids.map((id) => {
        return isoOf(nextOf(byUid.get(id) ?? null, now()));
      });
    },
    async set(id, settings, ifVersion) {
      checkSchedule(settings);
      await room.project(id);
      const version = await records.set(id, { settings, setAt: now() }, ifVersion);
      if (version === null) {
        const found = (await records.get(id))?.schedule.version ?? 0;
        throw sumiError('record-changed', { what: 'schedule', version: found });
      }
      void look();
      return showSchedule(id, await records.get(id), now());
    },
    async runNow(id) {
      const project = await room.project(id);
      const { kind, budget, ...rest } = (await records.get(id))?.schedule.value.settings ?? UNSET;
      if (kind !== 'continuous') return startRun(id, { kind, budget, ...rest });
      if (await room.runs.isUnderWay(id)) throw await underWay(project);
      if (!watches.tickNow(id)) await watches.tickOnce(project, budget);
    },
  };

  async function underWay({ id, name }: RoomProject): Promise<SumiError> {
    const last = await room.side.lastRun(id);
    return sumiError('run-under-way', { project: name, run: last?.run ?? 0 });
  }

  let stopHearing = () => {};
  return {
    verbs,
    async begin() {
      stopHearing = room.hear({ onProject: () => void look() });
      await look();
    },
    async end() {
      hasEnded = true;
      stopHearing();
      cancelTimer();
      await looking;
      cancelTimer();
      await watches.end();
    },
  };
}
