/** What a schema found wrong, as fields with JSON pointers; for an unknown name the nearest known one is named. */
import type { z } from 'zod';
import { nearestName } from '../config/nearest-name.ts';
import { sayIssue } from '../contract/say-issue.ts';
import type { FieldProblem } from '../errors.ts';

const MOST_UNKNOWN = 50;

export function fieldsOfIssues(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): FieldProblem[] {
  return issues.flatMap((issue): FieldProblem[] => {
    const base = pointerTo(issue.path);
    if (issue.code === 'unrecognized_keys') {
      const known = namesAt(schema, issue.path);
      return issue.keys.slice(0, MOST_UNKNOWN).map((key) => ({
        pointer: `${base}/${escapePointer(key)}`,
        detail: unknownName(key, known),
      }));
    }
    return [{ pointer: base, detail: sayIssue(issue.message) }];
  });
}

export function unknownName(name: string, known: readonly string[]): string {
  const nearest = known.length === 0 ? '' : `; the nearest is ${nearestName(name.slice(0, 100), known)}`;
  return `There is no such field${nearest}.`;
}

function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${escapePointer(String(key))}`).join('');
}

export function escapePointer(key: string): string {
  return key.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The names of the object that stands there in the schema; none where it cannot be told. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    const def = innerDef(at);
    if (def?.shape !== undefined) at = def.shape[String(key)];
    else at = def?.element ?? def?.valueType;
  }
  return Object.keys(innerDef(at)?.shape ?? {});
}

interface SchemaDef {
  type: string;
  shape?: Record<string, unknown>;
  element?: unknown;
  valueType?: unknown;
  innerType?: unknown;
  in?: unknown;
}

/** Without what is put around a schema: optional, nullable, default, pipes. */
function innerDef(schema: unknown): SchemaDef | undefined {
  const def = (schema as { _zod?: { def: SchemaDef } } | undefined)?._zod?.def;
  if (def?.innerType !== undefined) return innerDef(def.innerType);
  return def?.type === 'pipe' ? innerDef(def.in) : def;
}
