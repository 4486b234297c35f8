// The PostgreSQL driver (postgres 3.4) does not outlast every cut connection: what is written in the moment of the cut
// is written to nothing, which ends the process (porsager/postgres#1208); or it remembers a write as under way that is
// not, and never sends again; or it waits for an answer that cannot come. Workers must outlast a server that restarts.
// And it knows values as text alone, where a group of pages is bytes. Until the driver is released with that mended, a few
// places of it are changed on their way into the bundle and into the tests; what is installed stays as it is. A version that
// is not known here stops the build.
const CHANGED = /[\\/]postgres[\\/](?:cjs[\\/])?src[\\/](connection|bytes)\.js$/;

const CONNECTION = [
  {
    // A query for a connection that is gone fails, as any other on it.
    from: '    if (terminated)\n      return queryError(q, Errors.',
    to: `    if (!terminated && socket === null) {
      queryError(q, Errors.connection('CONNECTION_CLOSED', options))
      return true
    }

    if (terminated)
      return queryError(q, Errors.`,
  },
  {
    // What was not sent before the cut is not sent after it, and stands in nothing's way.
    from: '    incomings = null\n    clearImmediate(nextWriteTimer)\n',
    to: '    incomings = null\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n',
  },
  {
    // Also what was sent between the error and the end of the connection gets its answer.
    from: '    !hadError && (query || sent.length) && error(',
    to: '    ;(query || sent.length) && error(',
  },
  {
    // Values that are bytes already go as they are (PostgreSQL's binary format); the driver knows text alone.
    from: '.str(statement + b.N).i16(0).i16(parameters.length)',
    to: `.str(statement + b.N).i16(parameters.length)
    parameters.forEach(x => b.i16(x instanceof Uint8Array ? 1 : 0))
    b.i16(parameters.length)`,
  },
  {
    from: '        return b.i32(0xFFFFFFFF)\n',
    to: `        return b.i32(0xFFFFFFFF)

      if (x instanceof Uint8Array)
        return b.i32(x.length).raw(x)
`,
  },
];
const BYTES = [
  {
    // As the other writers do, and not by a copy of all that was written before.
    from: '    buffer = Buffer.concat([buffer.subarray(0, b.i), x])\n    b.i = buffer.length\n',
    to: '    fit(x.length)\n    buffer.set(x, b.i)\n    b.i += x.length\n',
  },
];
const REPAIRS = { connection: CONNECTION, bytes: BYTES };

function repair(source, path) {
  for (const { from, to } of REPAIRS[CHANGED.exec(path)[1]]) {
    if (source.split(from).length !== 2)
      throw new Error(
        `scripts/repair-driver.mjs does not know this version of postgres: no “${from.trim()}”`,
      );
    source = source.replace(from, () => to);
  }
  return source;
}

/** For esbuild. */
export const repairDriverPlugin = {
  name: 'repair-driver',
  setup({ onLoad, onEnd }) {
    const repaired = new Set();
    onLoad({ filter: CHANGED }, async ({ path }) => {
      const { readFile } = await import('node:fs/promises');
      repaired.add(path);
      return { contents: repair(await readFile(path, 'utf8'), path), loader: 'js' };
    });
    onEnd(({ errors }) => {
      if (errors.length === 0 && repaired.size !== Object.keys(REPAIRS).length)
        throw new Error('the PostgreSQL driver was not repaired');
    });
  },
};

/** For Vite, which the tests run in; the driver must be among what it inlines. */
export const repairDriverTransform = {
  name: 'repair-driver',
  transform: (code, id) => (CHANGED.test(id.split('?')[0]) ? repair(code, id.split('?')[0]) : null),
};
