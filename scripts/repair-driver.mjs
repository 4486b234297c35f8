// The PostgreSQL driver (postgres 3.4) does not outlast every cut connection: what is written in the moment of the cut
// is written to nothing, which ends the process (porsager/postgres#1208); or it remembers a write as under way that is
// not, and never sends again; or it waits for an answer that cannot come. Workers must outlast a server that restarts.
// Until the driver is released with that mended, three places of it are changed on their way into the bundle and into
// the tests; what is installed stays as it is. A version that is not known here stops the build.
const CONNECTION = /[\\/]postgres[\\/](?:cjs[\\/])?src[\\/]connection\.js$/;

const REPAIRS = [
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
];

function repair(source) {
  for (const { from, to } of REPAIRS) {
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
    let isRepaired = false;
    onLoad({ filter: CONNECTION }, async ({ path }) => {
      const { readFile } = await import('node:fs/promises');
      isRepaired = true;
      return { contents: repair(await readFile(path, 'utf8')), loader: 'js' };
    });
    onEnd(({ errors }) => {
      if (errors.length === 0 && !isRepaired) throw new Error('the PostgreSQL driver was not repaired');
    });
  },
};

/** For Vite, which the tests run in; the driver must be among what it inlines. */
export const repairDriverTransform = {
  name: 'repair-driver',
  transform: (code, id) => (CONNECTION.test(id.split('?')[0]) ? repair(code) : null),
};
