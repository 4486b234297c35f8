/**
 * Every mistake of the operator that Sumi-Ripple reports: one table from code to message, hint, exit code and HTTP
 * status. docs/errors.md is generated from it. What a website does is never an error here: that is an Outcome.
 * A message says what happened, with the value, and what was expected; the hint says what to do next.
 */

export const EXIT_CODES = { done: 0, failed: 1, usage: 2, interrupted: 3, store: 4 } as const;

interface ErrorSpec {
  message: string;
  hint: string;
  exitCode: 1 | 2 | 4;
  httpStatus: number;
}

/** Names in braces are filled from the error's details; the compiler checks that each is given. */
export const ERRORS = {
  'no-url': {
    message: 'No URL to crawl was given.',
    hint: 'Give at least one, as in `sumi crawl https://example.com/`, or a list with --urls FILE.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-invalid': {
    message: 'The URL "{url}" cannot be read; expected something like https://example.com/.',
    hint: 'Check its spelling; a URL begins with https:// or http://, and the shell needs quotes around & and ?.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-no-host': {
    message: 'The URL "{url}" names no host; expected something like https://example.com/.',
    hint: 'Put the name of the site after the two slashes.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-scheme': {
    message: 'The URL "{url}" has the scheme {scheme}; expected http or https.',
    hint: 'Give the address under which a browser shows the site.',
    exitCode: 2,
    httpStatus: 400,
  },
  usage: {
    message: 'The command cannot be understood: {reason}.',
    hint: '`{command} --help` shows what it takes.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-option': {
    message: 'There is no option {option} ({place}).',
    hint: 'The nearest known one is {nearest}; `sumi config` and docs/options.md list them all.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-command': {
    message: 'There is no command {name}.',
    hint: 'The nearest known one is {nearest}; `sumi --help` lists them all.',
    exitCode: 2,
    httpStatus: 404,
  },
  'bad-value': {
    message: '{option} cannot be {value} ({place}); expected {expected}.',
    hint: 'Change the value there; docs/options.md says what {option} means.',
    exitCode: 2,
    httpStatus: 400,
  },
  'option-twice': {
    message: '{option} is given twice ({place}, also as {other}); expected it once.',
    hint: 'Both are names of the same option: keep one of them.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-missing': {
    message: 'There is no configuration file {file}.',
    hint: 'Check the path; it is taken from the folder in which the command runs.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-unreadable': {
    message: 'The configuration file {file} cannot be read: {reason}.',
    hint: 'Give a TOML file in UTF-8 that this user may read.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-syntax': {
    message: '{file} is not valid TOML at line {line}, column {column}: {reason}.',
    hint: 'Correct that line; text needs quotes, a list needs brackets, a section stands as [name] on its own line.',
    exitCode: 2,
    httpStatus: 400,
  },
  'invalid-pattern': {
    message: '{option} has a pattern that cannot be used ({place}): {reason}.',
    hint: 'Correct the pattern: {advice}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'invalid-domain': {
    message: '"{domain}" is not a domain or a wildcard such as *.example.com ({place}).',
    hint: 'Give the bare name: no scheme, no path, no port, a star only as the first label.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-preset': {
    message: 'There is no preset "{name}" ({place}); expected one of {known}.',
    hint: 'The nearest known one is {nearest}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-profile': {
    message: 'There is no profile "{name}" ({place}); expected one of {known}.',
    hint: 'The nearest known one is {nearest}; docs/options.md shows what each profile sets.',
    exitCode: 2,
    httpStatus: 400,
  },
  'resolve-malformed': {
    message:
      '"{value}" cannot be used to resolve a name ({place}); expected NAME=ADDRESS or NAME=ADDRESS:PORT.',
    hint: 'ADDRESS is an IP address, as in example.com=127.0.0.1:8080 or example.com=[::1]:8080.',
    exitCode: 2,
    httpStatus: 400,
  },
  'proxy-malformed': {
    message: '"{value}" is not a proxy ({place}); expected http://[USER:PASSWORD@]HOST[:PORT].',
    hint: 'Characters such as @ and : inside user or password are written %40 and %3A.',
    exitCode: 2,
    httpStatus: 400,
  },
  'urls-unreadable': {
    message: 'The list of URLs {file} cannot be read: {reason}.',
    hint: 'Give a text file with one URL a line, or - for standard input.',
    exitCode: 2,
    httpStatus: 400,
  },
  'bodies-unwritable': {
    message: 'Bodies cannot be written to the folder {folder}: {reason}.',
    hint: 'Choose a folder this user may write to, as in --bodies files:./bodies, or --bodies none.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-missing': {
    message: 'There is no database {file}.',
    hint: 'Name the file of a crawl with --db FILE, or make one with `sumi crawl URL`.',
    exitCode: 2,
    httpStatus: 404,
  },
  'db-is-directory': {
    message: 'The database {file} is a directory; expected a file.',
    hint: 'Name a file inside it, as in --db {file}/sumi.db.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-not-sqlite': {
    message: '{file} is not an SQLite database; expected a file made by sumi, or none yet.',
    hint: 'Name another file with --db; this one was left as it is.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-foreign': {
    message: '{file} is an SQLite database of another program; expected one made by sumi, or no file yet.',
    hint: 'Name another file with --db; this one was left as it is.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-newer': {
    message: '{file} has schema version {found}; this program knows versions up to {known}.',
    hint: 'Use the newer sumi that wrote it, or name another file with --db; this one was left as it is.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-locked': {
    message: 'The database {file} is locked by another program.',
    hint: 'Close what has it open for writing (an SQL shell in a transaction, a backup) and try again.',
    exitCode: 2,
    httpStatus: 503,
  },
  'db-in-use': {
    message: 'The database {file} is in use by another crawler (process {pid}).',
    hint: 'Wait until it has ended or stop it, or crawl into another file with --db; reading is always allowed.',
    exitCode: 2,
    httpStatus: 409,
  },
  'db-not-writable': {
    message: 'The database {file} cannot be written: {reason}.',
    hint: 'Choose a file in a folder that exists and that this user may write to, with --db FILE.',
    exitCode: 2,
    httpStatus: 500,
  },
  'disk-full': {
    message: 'The disk is full: {file} could not grow.',
    hint: 'Make room and run the same command again: it goes on from the last commit.',
    exitCode: 4,
    httpStatus: 507,
  },
  'store-failed': {
    message: 'The store {file} failed: {reason}.',
    hint: 'Everything up to the last commit is kept; once the cause is gone the same command goes on.',
    exitCode: 4,
    httpStatus: 503,
  },
  'no-answer': {
    message: 'No start URL gave any HTTP answer; the first, {url}, ended with: {reason}.',
    hint: 'Check the address, the network and the proxy; `sumi why {url}` shows what was tried.',
    exitCode: 1,
    httpStatus: 502,
  },
  'extension-failed': {
    message: 'The {part} given to crawl() failed{where}: {reason}.',
    hint: 'Correct it and crawl again: the run was interrupted and goes on from where it was.',
    exitCode: 1,
    httpStatus: 500,
  },
  'nothing-to-resume': {
    message: 'Nothing to resume: {file} holds no unfinished run{of}.',
    hint: 'Start one with `sumi crawl URL`; `sumi runs` lists the finished ones.',
    exitCode: 2,
    httpStatus: 409,
  },
  'unknown-url': {
    message: 'The URL {url} is not known in {file}.',
    hint: 'No page that was read links to it; `sumi pages` lists what is known.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-body': {
    message: 'No body of {url} is kept: {reason}.',
    hint: 'Bodies are kept by a crawl with --bodies files:DIR.',
    exitCode: 1,
    httpStatus: 404,
  },
  'unknown-run': {
    message: 'There is no run {run} in {file}.',
    hint: '`sumi runs` lists them.',
    exitCode: 2,
    httpStatus: 404,
  },
  'unknown-project': {
    message: 'There is no project "{project}" in {file}; it holds {known}.',
    hint: 'Name one of these with --project.',
    exitCode: 2,
    httpStatus: 404,
  },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

type DetailName<Code extends ErrorCode> =
  | Placeholders<(typeof ERRORS)[Code]['message']>
  | Placeholders<(typeof ERRORS)[Code]['hint']>;

type Detail = string | number;

type ErrorDetails<Code extends ErrorCode> = { [Name in DetailName<Code>]: Detail } & Record<string, Detail>;

export class SumiError extends Error {
  override readonly name = 'SumiError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly details: Readonly<Record<string, Detail>>;

  constructor(code: ErrorCode, details: Record<string, Detail>, cause?: unknown) {
    const spec: ErrorSpec = ERRORS[code];
    super(fill(spec.message, details), cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = fill(spec.hint, details);
    this.exitCode = spec.exitCode;
    this.httpStatus = spec.httpStatus;
    this.details = details;
  }
}

export function sumiError<Code extends ErrorCode>(
  code: Code,
  ...rest: [DetailName<Code>] extends [never]
    ? [details?: Record<string, Detail>, cause?: unknown]
    : [details: ErrorDetails<Code>, cause?: unknown]
): SumiError {
  return new SumiError(code, rest[0] ?? {}, rest[1]);
}

function fill(template: string, details: Record<string, Detail>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = details[name];
    if (value === undefined) return whole;
    // A reason is often a sentence of the system; ours would end in two full stops.
    return name === 'reason' ? String(value).replace(/[.\s]+$/, '') : String(value);
  });
}

/** For terminals: what happened, what to do next, and the code to look up in docs/errors.md. */
export function formatError(error: unknown): string {
  if (error instanceof SumiError)
    return `sumi: ${error.message}\n      ${error.hint}\n      code: ${error.code}`;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `sumi: unexpected ${text}\n      This is a defect of sumi, not of your command: please report it with the lines above.`;
}

/** The process exit code for anything thrown. */
export function exitCodeOf(error: unknown): number {
  return error instanceof SumiError ? error.exitCode : EXIT_CODES.failed;
}
