/**
 * Stands between the engine and a program's own functions: what one of them throws, or an answer that the engine could
 * not use, becomes one kind of error that names the culprit. Store and fetcher are ports with their own errors and pass
 * through as they are.
 */
import { SumiError, sumiError } from '../../errors.ts';
import type { Tap } from '../../fetch/tap.ts';
import { MAX_OWN_PRIORITY } from '../../frontier/candidate.ts';
import { isPageState } from '../../frontier/page-state.ts';
import type { PacingStrategy } from '../../politeness/host-pace.ts';
import type { ScopeRule } from '../../scope/classify.ts';
import type { BodyStore } from '../../store/bodies.ts';
import type { JudgeUrls } from '../discover/judge-urls.ts';
import type { AfterParse, BeforeSettle, ContentParser } from '../parts.ts';
import type { Extensions } from '../wire.ts';

/** `at` says what it was busy with, such as a URL. */
export function extensionFailed(part: string, at: string | null, cause: unknown): SumiError {
  if (cause instanceof SumiError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return sumiError('extension-failed', { part, where: at === null ? '' : ` at ${at}`, reason }, cause);
}

export function guardExtensions(given: Extensions): Extensions {
  const { scopeRules, priority, parsers, pacing, afterParse, beforeSettle, judgeUrls, bodies } = given;
  return {
    ...given,
    scopeRules: scopeRules?.map(guardRule),
    priority: priority && guardPriority(priority),
    parsers: parsers && guardParsers(parsers),
    pacing: pacing && guardPacing(pacing),
    afterParse: afterParse && guardAfterParse(afterParse),
    beforeSettle: beforeSettle && guardBeforeSettle(beforeSettle),
    judgeUrls: judgeUrls && guardJudgeUrls(judgeUrls),
    bodies: bodies && guardBodies(bodies),
  };
}

function attempt<T>(part: string, at: string | null, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw extensionFailed(part, at, error);
  }
}

function guardRule(rule: ScopeRule): ScopeRule {
  return (candidate) =>
    attempt('scope rule', candidate.url, () => {
      const verdict = rule(candidate);
      if (verdict === null) return null;
      if (!isPageState(verdict?.state))
        throw new TypeError(`expected null or a verdict with a state, not ${JSON.stringify(verdict)}`);
      if (verdict.state !== 'Queued' && !verdict.reason)
        throw new TypeError(`a verdict of ${verdict.state} needs a reason`);
      if (verdict.state === 'Queued')
        return { ...verdict, priority: checkPriority(verdict.priority), reason: null };
      // Of what is not fetched the priority means nothing; a program without types may leave it out.
      return { ...verdict, priority: checkPriority(verdict.priority ?? 0) };
    });
}

function guardPriority(priority: NonNullable<Extensions['priority']>): NonNullable<Extensions['priority']> {
  return (candidate, otherwise) =>
    attempt('priority', candidate.url, () => checkPriority(priority(candidate, otherwise)));
}

function checkPriority(priority: number): number {
  if (Number.isInteger(priority) && priority >= 0 && priority <= MAX_OWN_PRIORITY) return priority;
  throw new TypeError(
    `expected a priority that is a whole number from 0 to ${MAX_OWN_PRIORITY}, not ${priority}`,
  );
}

function guardParsers(parsers: Readonly<Record<string, ContentParser>>): Record<string, ContentParser> {
  return Object.fromEntries(
    Object.entries(parsers).map(([type, parse]) => {
      const part = `parser for ${type}`;
      const guarded: ContentParser = (input) => attempt(part, input.url, () => checkContent(parse(input)));
      return [type.toLowerCase(), guarded];
    }),
  );
}

function checkContent(found: ReturnType<ContentParser>): ReturnType<ContentParser> {
  if (typeof found === 'object' && found !== null && !('then' in found)) return found;
  throw new TypeError('expected an object with title, text or links, and at once, not a promise');
}

function guardPacing(pacing: PacingStrategy): PacingStrategy {
  return (host, delayMs, answer) =>
    attempt('pacing strategy', host, () => {
      const next = pacing(host, delayMs, answer);
      if (Number.isFinite(next) && next >= 0) return next;
      throw new TypeError(`expected a delay in milliseconds, not ${next}`);
    });
}

const CORRECTED = ['title', 'h1', 'description', 'lang'] as const;

function guardAfterParse(afterParse: AfterParse): AfterParse {
  return async (page, signal) => {
    try {
      const found = await afterParse(page, signal);
      if (found === undefined || found === null) return undefined;
      for (const name of CORRECTED) {
        const value = found[name];
        if (value !== undefined && value !== null && typeof value !== 'string')
          throw new TypeError(`expected a string or null as ${name}, not ${JSON.stringify(value)}`);
      }
      return found;
    } catch (error) {
      // What it throws when it was told to give up is no failure.
      if (signal.aborted) return undefined;
      throw extensionFailed('stage after parsing', page.url, error);
    }
  };
}

function guardBeforeSettle(beforeSettle: BeforeSettle): BeforeSettle {
  const check = (url: string, answer: unknown): 'settle' | 'again' => {
    if (answer === 'settle' || answer === 'again') return answer;
    const problem = new TypeError(`expected 'settle' or 'again', not ${JSON.stringify(answer)}`);
    throw extensionFailed('stage before settling', url, problem);
  };
  return (visit, signal) => {
    const answer = attempt('stage before settling', visit.url, () => beforeSettle(visit, signal));
    if (typeof answer === 'string') return check(visit.url, answer);
    return answer.then(
      (found) => check(visit.url, found),
      (error) => {
        throw extensionFailed('stage before settling', visit.url, error);
      },
    );
  };
}

function guardJudgeUrls(judgeUrls: JudgeUrls): JudgeUrls {
  const isReason = (answer: unknown) => answer === null || (typeof answer === 'string' && answer !== '');
  return async (urls, signal) => {
    try {
      const answers = await judgeUrls(urls, signal);
      if (Array.isArray(answers) && answers.length === urls.length && answers.every(isReason)) return answers;
      throw new TypeError(`expected null or a reason for each of ${urls.length} URLs`);
    } catch (error) {
      throw extensionFailed('judge of found URLs', urls[0], error);
    }
  };
}

/** Taps are called by sockets, where a throw would end the process: it ends the run instead. */
export function guardTap(tap: Tap, fail: (error: unknown) => void): Tap {
  return ({ url, ...rest }) => {
    const failed = (error: unknown) => fail(extensionFailed('tap', url, error));
    const guarded = <T>(call: () => T): T | null => {
      try {
        const found = call();
        // A sink may be written with async functions, though nobody waits for them.
        if (found instanceof Promise) found.catch(failed);
        return found;
      } catch (error) {
        failed(error);
        return null;
      }
    };
    const sink = guarded(() => tap({ url, ...rest }));
    if (sink === null) return null;
    return {
      request: (bytes) => void guarded(() => sink.request(bytes)),
      head: (bytes) => void guarded(() => sink.head(bytes)),
      body: (bytes) => void guarded(() => sink.body(bytes)),
      end: (isWhole) => void guarded(() => sink.end(isWhole)),
    };
  };
}

function guardBodies(bodies: BodyStore): BodyStore {
  const part = 'body store';
  const explain = (error: unknown) => {
    throw extensionFailed(part, null, error);
  };
  return {
    put(hash, bytes, contentType) {
      const key = attempt(part, null, () => bodies.put(hash, bytes, contentType));
      return typeof key === 'string' ? key : key.catch(explain);
    },
    get: (key) => bodies.get(key).catch(explain),
    close: () => bodies.close().catch(explain),
  };
}
