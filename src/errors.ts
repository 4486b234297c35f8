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
    message: 'There is no URL to crawl; expected at least one start URL.',
    hint: 'Add one to the command, for example `sumi crawl https://example.com/`, or give a list with --urls FILE.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-invalid': {
    message: 'The URL "{url}" cannot be read; expected something like https://example.com/.',
    hint: 'Check the spelling. A URL begins with https:// or http://. In a shell, put a URL with & or ? in quotes.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-no-host': {
    message: 'The URL "{url}" has no host name; expected something like https://example.com/.',
    hint: 'Add the host name of the site after the two slashes.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-credentials': {
    message: 'The user and password in the URL "{url}" cannot be decoded; expected percent-encoded UTF-8.',
    hint: 'Write % as %25 and @ as %40. Or use --auth USER:PASSWORD, which needs no encoding.',
    exitCode: 2,
    httpStatus: 400,
  },
  'header-refused': {
    message: 'The header {name} cannot be set ({place}): {reason}.',
    hint: 'Remove it. --header is for headers that the site needs, such as Authorization or X-Api-Key.',
    exitCode: 2,
    httpStatus: 400,
  },
  'credentials-missing': {
    message:
      'Run {run} was started with {names}. The store does not keep them, and this command was not given them.',
    hint: 'Give them again: {how}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'operator-options-missing': {
    message:
      'Run {run} was started with {options}. Only the operator may set that, and this command was not given it.',
    hint: 'To continue the run in the same way on this machine, add: {how}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'url-scheme': {
    message: 'The URL "{url}" has the scheme {scheme}; expected http or https.',
    hint: 'Use the address that a browser shows for the site.',
    exitCode: 2,
    httpStatus: 400,
  },
  usage: {
    message: 'The command cannot be understood: {reason}.',
    hint: 'Run `{command} --help` to see its arguments and flags.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-option': {
    message: 'There is no option {option} ({place}).',
    hint: 'Try {nearest}; `sumi config` and docs/options.md list all options.',
    exitCode: 2,
    httpStatus: 400,
  },
  'other-option': {
    message: 'The option {option} belongs to other commands; {command} does not accept it.',
    hint: 'Remove it. `{command} --help` lists the flags of this command, docs/options.md explains every option.',
    exitCode: 2,
    httpStatus: 400,
  },
  'not-a-setting': {
    message: 'The option {option} cannot be kept with a project: {reason}.',
    hint: 'Set it with a flag, in a file (--config) or in the environment. docs/options.md lists who may set which option.',
    exitCode: 2,
    httpStatus: 400,
  },
  'unknown-command': {
    message: 'There is no command {name}.',
    hint: 'Try `sumi {nearest}`; `sumi --help` lists all commands.',
    exitCode: 2,
    httpStatus: 404,
  },
  'bad-value': {
    message: '{option} cannot be {value} ({place}); expected {expected}.',
    hint: 'Change the value there; docs/options.md explains {option}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'bad-flag': {
    message: '{flag} cannot be {value}; expected {expected}.',
    hint: 'Run `{command} --help` for the meaning of {flag} and for examples.',
    exitCode: 2,
    httpStatus: 400,
  },
  'missing-value': {
    message: '{option} is missing ({place}); expected {expected}.',
    hint: 'Add it there; examples/terrain.toml shows every key with an explanation.',
    exitCode: 2,
    httpStatus: 400,
  },
  'option-twice': {
    message: '{option} is given twice ({place}, also as {other}); expected it once.',
    hint: 'Both are names of the same option. Remove one of them.',
    exitCode: 2,
    httpStatus: 400,
  },
  'two-stores': {
    message: '{option} and {other} are both given ({place}); expected one of them.',
    hint: 'Use --db FILE for an SQLite file, or --store URL for PostgreSQL.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-missing': {
    message: 'There is no configuration file {file}.',
    hint: 'Check the path. It is relative to the folder in which the command runs.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-unreadable': {
    message: 'The configuration file {file} cannot be read: {reason}.',
    hint: 'Use a TOML file in UTF-8 that this user may read.',
    exitCode: 2,
    httpStatus: 400,
  },
  'config-syntax': {
    message: '{file} is not valid TOML at line {line}, column {column}: {reason}.',
    hint: 'Correct that line. Text needs quotes, a list needs brackets, and a section is [name] on its own line.',
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
    hint: 'Use the name alone: no scheme, no path, no port, and a star only as the first label.',
    exitCode: 2,
    httpStatus: 400,
  },
  'seed-elsewhere': {
    message: 'The seed {seed} is not under its domain {domain} ({place}).',
    hint: 'Move it to the [[quality]] section of its own domain, or widen this domain, for example to *.example.com.',
    exitCode: 2,
    httpStatus: 400,
  },
  'no-map': {
    message: 'The project "{project}" in {file} has no run yet; a map needs one.',
    hint: 'Crawl the map first with `sumi map FILE`.',
    exitCode: 2,
    httpStatus: 404,
  },
  'no-quality': {
    message: 'There is no quality domain ({place}); a map needs at least one to start from.',
    hint: 'Add a section [[quality]] with domain = "example.com" and seeds = ["https://example.com/"].',
    exitCode: 2,
    httpStatus: 400,
  },
  'terrain-invalid': {
    message: '{file} has {count}:{problems}.',
    hint: 'Correct these lines and run the same command again; examples/terrain.toml shows every key with an explanation.',
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
    hint: 'ADDRESS is an IP address, for example example.com=127.0.0.1:8080 or example.com=[::1]:8080.',
    exitCode: 2,
    httpStatus: 400,
  },
  'proxy-malformed': {
    message: '"{value}" is not a proxy ({place}); expected http://[USER:PASSWORD@]HOST[:PORT].',
    hint: 'Inside the user and the password, write @ as %40 and : as %3A.',
    exitCode: 2,
    httpStatus: 400,
  },
  'egress-allow-malformed': {
    message: '"{value}" cannot be allowed as a target of the service ({place}): {reason}.',
    hint: 'Write a host name (wiki.example.internal), an address (10.0.0.5) or a network (10.0.0.0/8, fd00::/8), without scheme, port and path.',
    exitCode: 2,
    httpStatus: 400,
  },
  'egress-refused': {
    message: 'The service does not connect to {target}: {reason}.',
    hint: 'The service connects to public addresses only; the operator may allow others with --egress-allow.',
    exitCode: 2,
    httpStatus: 422,
  },
  'urls-unreadable': {
    message: 'The list of URLs {file} cannot be read: {reason}.',
    hint: 'Use a text file with one URL per line, or - for standard input.',
    exitCode: 2,
    httpStatus: 400,
  },
  'bodies-unwritable': {
    message: 'Bodies cannot be written to the folder {folder}: {reason}.',
    hint: 'Choose a folder that this user may write to, for example --bodies files:./bodies, or use --bodies none.',
    exitCode: 2,
    httpStatus: 500,
  },
  'bodies-closed': {
    message: 'The body store was closed before a body was written to it.',
    hint: 'Run the same command again. It requests the page again, so nothing is lost.',
    exitCode: 4,
    httpStatus: 503,
  },
  's3-endpoint-invalid': {
    message:
      'AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) is not the URL of a server; expected http://HOST:PORT or https://HOST.',
    hint: 'Set it to a URL such as http://127.0.0.1:9000, or unset it to use AWS.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-no-credentials': {
    message: 'No credentials for {address} were found: {reason}.',
    hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set AWS_PROFILE to a profile of the shared credentials file.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-credentials': {
    message: '{endpoint} does not accept the credentials for {address}: {reason}.',
    hint: 'Correct them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE), then run the same command again to continue.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-bucket-missing': {
    message: 'There is no bucket "{bucket}" at {endpoint}.',
    hint: 'Create the bucket, or correct its name in --bodies s3://BUCKET/PREFIX.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-region': {
    message: 'The bucket "{bucket}" is in the region {expected}, not in {region}.',
    hint: 'Set AWS_REGION={expected}.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-not-s3': {
    message: '{endpoint} does not answer as an S3 server does: {reason}.',
    hint: 'Check AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL). It needs scheme, host and port of the S3 API, not of the web console.',
    exitCode: 4,
    httpStatus: 502,
  },
  's3-denied': {
    message: 'The credentials do not allow to {action} {address}: {reason}.',
    hint: 'Allow s3:PutObject and s3:AbortMultipartUpload for the bucket (and s3:GetObject to read), or use other credentials.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-unreachable': {
    message: '{endpoint} did not accept bodies for {address} for too long: {reason}.',
    hint: 'Run the same command again when the server answers. It continues the run and requests pages without a stored body again.',
    exitCode: 4,
    httpStatus: 503,
  },
  's3-failed': {
    message: '{endpoint} refused to {action} {address}: {reason}.',
    hint: 'Check the log of that server. When the cause is removed, run the same command again to continue.',
    exitCode: 4,
    httpStatus: 502,
  },
  'db-missing': {
    message: 'There is no database {file}.',
    hint: 'Give the file of a crawl with --db FILE, or create one with `sumi crawl URL` or `sumi map FILE`.',
    exitCode: 2,
    httpStatus: 404,
  },
  'db-is-directory': {
    message: 'The database {file} is a directory; expected a file.',
    hint: 'Give a file inside it, for example --db {file}/sumi.db.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-not-sqlite': {
    message: '{file} is not an SQLite database; expected a file that sumi wrote, or a new name.',
    hint: 'Give another file with --db. This file was not changed.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-foreign': {
    message: '{file} is an SQLite database of another program; expected one that sumi wrote, or a new name.',
    hint: 'Give another file with --db. This file was not changed.',
    exitCode: 2,
    httpStatus: 500,
  },
  'list-limit': {
    message: 'A page of a list cannot have {limit} rows; expected 1 to {most}.',
    hint: 'Request fewer rows, and use the cursor `next` of the answer for more.',
    exitCode: 2,
    httpStatus: 400,
  },
  'record-name': {
    message:
      'The {part} {value} of a {kind} cannot be stored; expected text without NUL and without half a surrogate pair.',
    hint: 'Remove these characters.',
    exitCode: 2,
    httpStatus: 400,
  },
  'list-unknown': {
    message: 'There is no list "{list}"; expected one of {expected}.',
    hint: 'Use one of these names.',
    exitCode: 2,
    httpStatus: 404,
  },
  'list-filter': {
    message: 'The list of {list} cannot be filtered by "{filter}"; expected one of {expected}.',
    hint: 'Remove the filter, or use one of these.',
    exitCode: 2,
    httpStatus: 400,
  },
  'list-order': {
    message: 'A list cannot be read in the order "{order}"; expected asc or desc.',
    hint: 'Remove the order, or use one of these.',
    exitCode: 2,
    httpStatus: 400,
  },
  'list-sort': {
    message: 'The list of {list} cannot be sorted by {sort}; expected one of {expected}.',
    hint: 'Remove the sort, or use one of these.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sort-unserved': {
    message: 'Pages cannot be sorted by {sort}: this store has no index for it.',
    hint: 'Create the indexes once with `sumi index sorts`. Later crawls keep them up to date.',
    exitCode: 2,
    httpStatus: 409,
  },
  'sort-projects': {
    message: 'Pages of more than {most} projects cannot be sorted together.',
    hint: 'Filter the list by one project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'index-busy': {
    message: 'The indexes of the project "{project}" cannot be built: it has a run that is not finished.',
    hint: 'Wait until the run ends (`sumi runs` lists it). If it was killed, finish it with `sumi resume`.',
    exitCode: 1,
    httpStatus: 409,
  },
  'full-text-missing': {
    message: 'Pages cannot be searched for words: their words have not been indexed.',
    hint: 'Index them with `sumi index full-text`, or at the end of each run with --full-text.',
    exitCode: 2,
    httpStatus: 409,
  },
  'cursor-unreadable': {
    message: 'The cursor "{cursor}" cannot be read; expected a cursor of an answer, unchanged.',
    hint: 'Request the first rows without a cursor, and use the cursors of the answers unchanged.',
    exitCode: 2,
    httpStatus: 400,
  },
  'cursor-version': {
    message: 'The cursor is of version {found}; this program writes version {known}.',
    hint: 'Request the first rows without a cursor. Cursors of another version cannot be used.',
    exitCode: 2,
    httpStatus: 400,
  },
  'cursor-of-other-list': {
    message:
      'The cursor does not belong to this list of {list}; expected one of the same filter, sort and order.',
    hint: 'Request the first rows without a cursor whenever the filter, the sort or the order changes.',
    exitCode: 2,
    httpStatus: 400,
  },
  'db-newer': {
    message: '{file} has schema version {found}; this program reads versions up to {known}.',
    hint: 'Use the newer sumi that wrote it, or give another file with --db. This file was not changed.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-locked': {
    message: 'The database {file} is locked by another program.',
    hint: 'Close the program that writes to it (an SQL shell with an open transaction, a backup), then try again.',
    exitCode: 2,
    httpStatus: 503,
  },
  'db-in-use': {
    message:
      'The database {file} is in use by another crawler (process {pid}); only one process can write to a file.',
    hint: 'Wait until that crawler ends, stop it, or use another file with --db. Commands that only read work meanwhile.',
    exitCode: 2,
    httpStatus: 409,
  },
  'mcp-store-held': {
    message: 'The tools cannot open {file}: {reason}.',
    hint: 'If `sumi serve` runs on it, connect the agent to its address with /mcp at the end (MCP over HTTP, with a token if it needs one). Or use another file with --db.',
    exitCode: 2,
    httpStatus: 409,
  },
  'db-open-here': {
    message: 'The database {file} is already open for writing in this process.',
    hint: 'Open a store once and start all runs on it. One store can have several runs at once, also of several projects.',
    exitCode: 2,
    httpStatus: 409,
  },
  'db-not-writable': {
    message: 'The database {file} cannot be written: {reason}.',
    hint: 'Use --db FILE with a file in an existing folder that this user may write to.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-unreadable': {
    message: 'The database {file} cannot be read: {reason}.',
    hint: 'SQLite writes files beside the database even to read it. Copy it, with its -wal file if there is one, to a folder that you may write to, and give the copy with --db FILE.',
    exitCode: 2,
    httpStatus: 500,
  },
  'disk-full': {
    message: 'The disk is full: {file} could not grow.',
    hint: 'Free some space, then run the same command again. It continues from the last commit.',
    exitCode: 4,
    httpStatus: 507,
  },
  'driver-missing': {
    message: 'The SQLite driver (better-sqlite3) is not installed for Node {node}.',
    hint: 'Install the packages again. On Node 22 and newer npm installs a ready-made driver, unless optional packages are left out (--omit=optional). On Node 20 npm compiles the driver, and skips it where Python, make or a C++ compiler is missing.',
    exitCode: 4,
    httpStatus: 503,
  },
  'driver-unfit': {
    message:
      'Node {node} cannot load the installed SQLite driver, better-sqlite3 {version}; expected {expected}.',
    hint: 'Another version of Node installed the packages. Install them again with this one: `npm ci` in a clone of Sumi-Ripple, `npm install --force` elsewhere.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-failed': {
    message: 'The store {file} failed: {reason}.',
    hint: 'Everything up to the last commit is kept. When the cause is removed, run the same command again to continue.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-address': {
    message: '{store} is not the address of a store; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
    hint: 'Inside the user and the password, write @ / : as %40 %2F %3A. docs/postgresql.md lists the parameters after the ?.',
    exitCode: 4,
    httpStatus: 400,
  },
  'store-unreachable': {
    message: 'The store {store} does not answer: {reason}.',
    hint: 'Check that the server runs and that host and port are right. Then run the same command again; what was crawled is kept.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-login': {
    message: 'The store {store} refused the login: {reason}.',
    hint: 'Check the role and the password (in the address or in PGPASSWORD), and that pg_hba.conf allows this machine.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-no-database': {
    message: 'The store {store} has no such database: {reason}.',
    hint: 'Create it, for example with `createdb NAME`, or change the database in the address.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-denied': {
    message: 'The role of the store {store} lacks a permission: {reason}.',
    hint: 'Run one crawl as the owner of the database, then grant the rights that docs/postgresql.md lists.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-foreign': {
    message: 'The database {store} belongs to another program (it has a table or view "{table}").',
    hint: 'Create a database for sumi, for example with `createdb NAME`. This database was not changed.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-newer': {
    message: 'The store {store} has schema version {found}; this program reads versions up to {known}.',
    hint: 'Use the newer sumi that created it, or another database. This database was not changed.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-older': {
    message: 'The store {store} has schema version {found}; this program needs version {known}.',
    hint: 'Run `sumi crawl` or `sumi worker` once as the owner of the tables. That updates the schema.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-empty': {
    message: 'The store {store} has no crawl yet.',
    hint: 'Start one with `sumi crawl URL --store ADDRESS`.',
    exitCode: 4,
    httpStatus: 404,
  },
  'store-pooler': {
    message: 'The store {store} looks like PgBouncer in transaction mode: {reason}.',
    hint: 'Add ?pgbouncer=true to the address (or &pgbouncer=true), or connect to PostgreSQL itself.',
    exitCode: 4,
    httpStatus: 503,
  },
  'metrics-port': {
    message: 'Metrics cannot be served on {address}: {reason}.',
    hint: 'Choose another --metrics-port (0 takes a free port) or another --metrics-host.',
    exitCode: 2,
    httpStatus: 500,
  },
  'no-sitemap': {
    message: 'No sitemap was found for {url}: {reason}.',
    hint: 'Give the URL of the sitemap itself, or try more paths, for example with --sitemap-paths long. -v shows the answer to each request.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-answer': {
    message: 'No {page} gave an HTTP answer; the first, {url}, ended with: {reason}.',
    hint: 'Check the address, the network and the proxy; `sumi why {url}{at}` lists the requests.',
    exitCode: 1,
    httpStatus: 502,
  },
  'start-refused': {
    message: 'No page was read: {reason}{more}.',
    hint: '{advice} `sumi pages{at}` lists every URL with its state and reason.',
    exitCode: 1,
    httpStatus: 502,
  },
  'extension-failed': {
    message: 'The {part} given to crawl() failed{where}: {reason}.',
    hint: 'Correct it and crawl again. The run was interrupted and continues from there.',
    exitCode: 1,
    httpStatus: 500,
  },
  'unknown-topic': {
    message: 'There is no topic "{topic}" of events; expected one of {known}.',
    hint: 'Use one of these topics, or none for all events.',
    exitCode: 2,
    httpStatus: 400,
  },
  'not-adjustable': {
    message: 'The option {option} cannot be adjusted after the start of a run.',
    hint: 'Adjust other options, or cancel the run and start another run with this option.',
    exitCode: 2,
    httpStatus: 409,
  },
  'subscriber-failed': {
    message: 'A subscriber to the events of a run threw on a {event} event and was unsubscribed: {reason}.',
    hint: 'Correct the subscriber and subscribe again. The crawl continues.',
    exitCode: 1,
    httpStatus: 500,
  },
  'internal-failures': {
    message:
      '{count} pages of this run failed because of a defect of sumi; the first was {url}, with the reason "{reason}".',
    hint: 'Please report it with the stack trace above. The pages read so far are kept, and the same command continues with the others.',
    exitCode: 1,
    httpStatus: 500,
  },
  'nothing-to-resume': {
    message: 'There is nothing to resume: {file} has no unfinished run{of}.',
    hint: 'Start one with `sumi crawl URL` or `sumi map FILE`; `sumi runs` lists the finished ones.',
    exitCode: 2,
    httpStatus: 409,
  },
  'unknown-url': {
    message: 'The URL {url} is not known in {file}.',
    hint: 'No page that was read links to it; `sumi pages` lists all known URLs.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-body': {
    message: 'There is no stored body of {url}: {reason}.',
    hint: 'Crawl with --bodies files:DIR or --bodies s3://BUCKET/PREFIX to store bodies.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-text': {
    message: 'There is no stored text of {url}: {reason}.',
    hint: 'Crawl with --store-text to store the main text of pages. `sumi cat {url}` prints the body if one is stored.',
    exitCode: 1,
    httpStatus: 404,
  },
  'run-not-steerable': {
    message: 'Run {run} cannot take the order "{order}": it is {status}.',
    hint: 'The order needs a run that is {allowed}. `sumi runs` lists the runs and how they stand.',
    exitCode: 2,
    httpStatus: 409,
  },
  'live-message': {
    message: 'The message cannot be understood: {reason}.',
    hint: 'Send a JSON object with the type subscribe or unsubscribe and a project_id, or with the type ping.',
    exitCode: 2,
    httpStatus: 400,
  },
  'live-subscriptions': {
    message:
      'This connection is subscribed to {most} projects, which is the most that one connection may have.',
    hint: 'Unsubscribe from a project first, or open another connection.',
    exitCode: 2,
    httpStatus: 429,
  },
  'unknown-run': {
    message: 'There is no run {run} in {file}.',
    hint: '`sumi runs` lists all runs.',
    exitCode: 2,
    httpStatus: 404,
  },
  'runs-not-comparable': {
    message: 'These two runs cannot be compared: {reason}.',
    hint: '`sumi runs` lists the runs of each project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'project-deleted': {
    message: 'The project "{project}" (id {id}) is deleted.',
    hint: 'Restore it with POST /api/v1/projects/{id}/restore of the service, or give another name with --project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'project-exists': {
    message:
      'There is a project "{project}" already, perhaps a deleted one; expected a name that no project has.',
    hint: 'Give another name, or restore or purge the project that has this one.',
    exitCode: 2,
    httpStatus: 409,
  },
  'project-changed': {
    message: 'The project "{project}" was changed by another program since it was read.',
    hint: 'Read the project again, then repeat the change.',
    exitCode: 2,
    httpStatus: 412,
  },
  'project-in-use': {
    message:
      'The project "{project}" is being crawled by worker {worker}; its pages cannot be changed or deleted now.',
    hint: 'Stop its workers first (`sumi workers` lists them), or choose another --project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'run-under-way': {
    message: 'The project "{project}" is already being crawled in this process (run {run}).',
    hint: 'Wait until that run ends, or stop it, then try again. Or use another project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'run-not-under-way': {
    message: 'The project "{project}" has no run that can take the order "{order}": it is {state}.',
    hint: 'The order needs a run that is {allowed}. The status of the crawl says how it stands.',
    exitCode: 2,
    httpStatus: 409,
  },
  'run-elsewhere': {
    message: 'Run {run} was started by another program, and its settings can only be changed there.',
    hint: 'Stop the run, then start it here with the new settings.',
    exitCode: 2,
    httpStatus: 409,
  },
  'project-crawled': {
    message: 'The project "{project}" cannot get another name or address while run {run} is under way.',
    hint: 'Wait until the run ends, or stop it, then try again.',
    exitCode: 2,
    httpStatus: 409,
  },
  'project-without-start': {
    message:
      'The project "{project}" has no website_url and was never crawled, so there is no URL to start from.',
    hint: 'Give the project a website_url.',
    exitCode: 2,
    httpStatus: 409,
  },
  'engine-ended': {
    message: 'The engine of the service has ended: {reason}.',
    hint: 'Start the service again. Runs that were under way continue; every page that was stored is kept.',
    exitCode: 4,
    httpStatus: 503,
  },
  'engine-closing': {
    message: 'The service is being stopped and starts no more runs.',
    hint: 'Try again when it has been started again.',
    exitCode: 2,
    httpStatus: 503,
  },
  'sql-syntax': {
    message: 'The SQL statement cannot be read: {problem}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-failed': {
    message: '{problem}.',
    hint: '{advice}.',
    exitCode: 1,
    httpStatus: 400,
  },
  'selector-invalid': {
    message: 'The CSS selector "{selector}" cannot be used: {problem}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-file-unreadable': {
    message: 'The SQL script {file} cannot be read: {reason}.',
    hint: 'Give a text file in UTF-8 that this user may read, or - for standard input. A database is given without -f.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-shell-command': {
    message: '{problem}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-file-locked': {
    message: 'The file {file} is open in another process{holder}.',
    hint: 'Close it there, or give another file: DuckDB lets one process at a time have a file that is written to.',
    exitCode: 4,
    httpStatus: 409,
  },
  'sql-file-open': {
    message: 'The file {file} is already open in this process; expected one session a file.',
    hint: 'Use that session, or close it first. Two at once would lose rows.',
    exitCode: 4,
    httpStatus: 409,
  },
  'sql-no-folder': {
    message: 'There is no folder {folder} for the file {file}.',
    hint: 'Create the folder, or correct the path. It is relative to the folder in which the command runs.',
    exitCode: 4,
    httpStatus: 500,
  },
  'sql-not-duckdb': {
    message: '{file} is {found}; expected a DuckDB file, or a new name.',
    hint: '{advice}.',
    exitCode: 4,
    httpStatus: 500,
  },
  'sql-file-newer': {
    message: '{file} was written by a newer DuckDB; this program has DuckDB {version}.',
    hint: 'Give another file, or copy the tables with the newer DuckDB into a file with STORAGE_VERSION {version}. This file was not changed.',
    exitCode: 4,
    httpStatus: 500,
  },
  'sql-file-unusable': {
    message: 'The file {file} cannot be opened: {reason}.',
    hint: 'Check that the file is whole and that this user may {access} it, or give another file.',
    exitCode: 4,
    httpStatus: 500,
  },
  'sql-target': {
    message: 'A CRAWL cannot write into {table}: {problem}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 409,
  },
  'sql-target-column': {
    message: 'The column {column} of {table} is {found}; expected {expected}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 409,
  },
  'sql-target-lost': {
    message: 'The table {table} {what} while rows were written into it.',
    hint: 'Every row up to then is kept. Run the same CRAWL again: it reads the table again and continues.',
    exitCode: 1,
    httpStatus: 409,
  },
  'sql-target-unwritable': {
    message: 'Rows cannot be written into {table} any more: {reason}.',
    hint: 'Every row up to then is kept. Remove the cause (often a full disk), open the file again and run the same CRAWL: it continues.',
    exitCode: 4,
    httpStatus: 503,
  },
  'sql-condition': {
    message: 'The condition after WHERE cannot be used: {problem}.',
    hint: '{advice}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-interrupted': {
    message: 'The SQL statement was stopped before its end.',
    hint: 'Run it again. A CRAWL continues where it was stopped.',
    exitCode: 1,
    httpStatus: 409,
  },
  'sql-no-duckdb': {
    message:
      'DuckDB is not installed: the package @duckdb/node-api, or its binary for this machine, is missing.',
    hint: 'Run `npm install` in the folder of Sumi-Ripple, without leaving out optional packages. Other commands work without it.',
    exitCode: 4,
    httpStatus: 500,
  },
  'query-refused': {
    message: 'The query is not answered: {problem}.',
    hint: 'Send one statement that only reads: SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW TABLES, SUMMARIZE or EXPLAIN.',
    exitCode: 2,
    httpStatus: 400,
  },
  'query-no-table': {
    message: 'There is no table "{table}" (line {line}, column {column}); expected one of {expected}.',
    hint: 'SHOW TABLES lists the tables of the project, DESCRIBE and the name of one lists its columns.',
    exitCode: 2,
    httpStatus: 400,
  },
  'query-timeout': {
    message: 'The query was stopped: it had no answer after {seconds} seconds.',
    hint: 'Select less: fewer columns, a condition, or a LIMIT inside of the query.',
    exitCode: 1,
    httpStatus: 408,
  },
  'query-memory': {
    message: 'The query was stopped: it needs more memory than {limit}.',
    hint: 'Select less: fewer columns, a condition, or an aggregate in place of rows.',
    exitCode: 1,
    httpStatus: 408,
  },
  'query-stopped': {
    message: 'The query was stopped before it had an answer.',
    hint: 'Send the query again.',
    exitCode: 1,
    httpStatus: 503,
  },
  'query-failed': {
    message: 'The query ended the process that was to answer it.',
    hint: 'Write it in another way. The log of the service says more.',
    exitCode: 1,
    httpStatus: 400,
  },
  'sql-no-crawl': {
    message: 'No CRAWL INTO {target} is under way in this session.',
    hint: 'SHOW CRAWLS lists the crawls of this session and how they ended.',
    exitCode: 2,
    httpStatus: 404,
  },
  'sql-crawl-under-way': {
    message: 'CRAWL {crawl} already writes into {target}; expected one CRAWL into a table at a time.',
    hint: 'Wait for its end, or stop it: STOP CRAWL INTO {target}.',
    exitCode: 2,
    httpStatus: 409,
  },
  'sql-input-no-select': {
    message: 'The query of CRAWL is a statement of the kind {found}; expected a SELECT.',
    hint: 'Write a query that only reads, with one column of URLs: CRAWL (SELECT url FROM sites) INTO pages.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sql-input-columns': {
    message: 'The query of CRAWL gives {columns} columns; expected one column of URLs.',
    hint: 'Select the column with the URLs alone: CRAWL (SELECT url FROM sites) INTO pages.',
    exitCode: 2,
    httpStatus: 400,
  },
  'session-ended': {
    message: 'Run {run} cannot be continued here: its session has ended.',
    hint: 'Start the run again on the store to continue. Everything up to the end of the session is kept.',
    exitCode: 4,
    httpStatus: 409,
  },
  'store-closed': {
    message: 'The store {store} was closed.',
    hint: 'Open the store again to continue. Everything up to that moment is kept.',
    exitCode: 4,
    httpStatus: 409,
  },
  'watch-in-use': {
    message:
      'The project "{project}" is already being watched ({watcher}; its claim ends at {until} unless it renews it).',
    hint: 'Stop that watch. If it has ended already, wait until that time. A crawl of the project is possible meanwhile.',
    exitCode: 2,
    httpStatus: 409,
  },
  'store-away': {
    message: 'The store {store} did not answer for {seconds} s.',
    hint: 'Everything up to the last commit is kept. When the store answers again, run the same command to continue. --store-patience sets how long to wait.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-lost-commits': {
    message: 'The store {store} no longer has what it confirmed: {what}.',
    hint: 'A standby took over without the last commits, or a backup was restored. Run the same command again: it continues with what the store has.',
    exitCode: 4,
    httpStatus: 503,
  },
  'project-unknown': {
    message: 'There is no project {id}.',
    hint: 'Use the id that GET /api/v1/projects lists. Deleted projects are listed with state=deleted.',
    exitCode: 2,
    httpStatus: 404,
  },
  'page-unknown': {
    message: 'There is no page {id} in this project.',
    hint: 'Use the id that GET pages of the same project lists.',
    exitCode: 2,
    httpStatus: 404,
  },
  'body-missing': {
    message: 'Nothing is stored of the {what} of {url}: {reason}.',
    hint: 'Bodies are stored where the service was started with --bodies files:DIR or s3://BUCKET/PREFIX, main texts unless the project sets store_text to false. The next crawl stores them.',
    exitCode: 1,
    httpStatus: 404,
  },
  'export-format': {
    message: 'The export of {what} cannot have the format {format}; expected one of {expected}.',
    hint: 'Use one of these formats, or export something else.',
    exitCode: 2,
    httpStatus: 400,
  },
  'view-unknown': {
    message: 'There is no view {id} in this project.',
    hint: 'Use the id that GET views of the same project lists.',
    exitCode: 2,
    httpStatus: 404,
  },
  'view-exists': {
    message: 'The project already has a view with the name "{name}".',
    hint: 'Use another name, or change the view that has it.',
    exitCode: 2,
    httpStatus: 409,
  },
  'views-full': {
    message: 'The project has {most} views, which is the most that one project may have.',
    hint: 'Delete a view that is not needed any more.',
    exitCode: 2,
    httpStatus: 409,
  },
  'preview-busy': {
    message:
      'No preview of {host} can be made now: one of the same host, or too many others, are being made.',
    hint: 'Try again in a few seconds: a preview takes 20 seconds at most.',
    exitCode: 2,
    httpStatus: 409,
  },
  'answer-unwanted': {
    message: 'The connection was closed before the answer was ready.',
    hint: 'Keep the connection open until the answer has arrived.',
    exitCode: 1,
    httpStatus: 499,
  },
  'request-invalid': {
    message: 'The request cannot be accepted: {reason}.',
    hint: 'Correct the fields that `errors` lists; /api/openapi.json describes every request.',
    exitCode: 2,
    httpStatus: 400,
  },
  'body-not-json': {
    message: 'The body of the request is not JSON: {reason}.',
    hint: 'Send one JSON object in UTF-8.',
    exitCode: 2,
    httpStatus: 400,
  },
  'body-type': {
    message: 'The body of the request has the type "{type}"; expected application/json.',
    hint: 'Send JSON with the header `Content-Type: application/json`.',
    exitCode: 2,
    httpStatus: 415,
  },
  'body-too-large': {
    message: 'The body of the request is larger than {most} bytes.',
    hint: 'Send less at once.',
    exitCode: 2,
    httpStatus: 413,
  },
  'request-malformed': {
    message: 'The request is not valid HTTP: {reason}.',
    hint: 'Check the address and the headers of the request.',
    exitCode: 2,
    httpStatus: 400,
  },
  'request-too-long': {
    message: 'The address and the headers of the request are longer than {most} bytes.',
    hint: 'Send shorter headers, or put long values into the body.',
    exitCode: 2,
    httpStatus: 431,
  },
  'request-too-slow': {
    message: 'The request did not arrive within {seconds} seconds.',
    hint: 'Send the whole request at once.',
    exitCode: 2,
    httpStatus: 408,
  },
  'route-unknown': {
    message: 'There is nothing at {path}.',
    hint: 'See /api/openapi.json for everything that the service answers.',
    exitCode: 2,
    httpStatus: 404,
  },
  'method-refused': {
    message: '{path} does not accept {method}; expected {allowed}.',
    hint: 'Use one of the methods in the header Allow.',
    exitCode: 2,
    httpStatus: 405,
  },
  'host-refused': {
    message: 'The service is not called "{host}".',
    hint: 'Use the address that `sumi serve` printed. To serve under another name, start it with --allowed-host NAME.',
    exitCode: 2,
    httpStatus: 403,
  },
  'origin-refused': {
    message: 'Requests from the site "{origin}" are refused.',
    hint: 'Only pages of the service itself may use it from a browser. Programs need no Origin header.',
    exitCode: 2,
    httpStatus: 403,
  },
  'token-missing': {
    message: 'The request needs a token.',
    hint: 'Send `Authorization: Bearer TOKEN`. `sumi token create` makes a token.',
    exitCode: 2,
    httpStatus: 401,
  },
  'token-refused': {
    message: 'The token or session is unknown, revoked or expired.',
    hint: 'Make another token with `sumi token create`, or sign in again.',
    exitCode: 2,
    httpStatus: 401,
  },
  'token-in-url': {
    message: 'The address has the parameter "{name}": secrets in addresses end up in logs and histories.',
    hint: 'Send the token as `Authorization: Bearer TOKEN`, and replace it if it was a real one.',
    exitCode: 2,
    httpStatus: 400,
  },
  'token-unknown': {
    message: 'There is no token {id}.',
    hint: 'Use the id that `sumi token list` or GET /api/v1/tokens shows.',
    exitCode: 2,
    httpStatus: 404,
  },
  'scope-missing': {
    message: 'The token may not do this; expected the scope {scope}.',
    hint: 'Use a token that has the scope: `sumi token create --scope {scope}`.',
    exitCode: 2,
    httpStatus: 403,
  },
  'projects-only': {
    message: 'The token is limited to certain projects; expected one for all projects.',
    hint: 'Use a token that was made without --project.',
    exitCode: 2,
    httpStatus: 403,
  },
  'too-many-requests': {
    message: 'There were too many requests; the next one is accepted in {seconds} seconds.',
    hint: 'Wait as long as the header Retry-After says.',
    exitCode: 2,
    httpStatus: 429,
  },
  'precondition-failed': {
    message: '{path} has changed: its ETag is {tag}.',
    hint: 'Get it again, apply the change to what it is now, and send the new ETag in If-Match.',
    exitCode: 2,
    httpStatus: 412,
  },
  'record-changed': {
    message: 'The {what} has changed meanwhile: it has version {version} now.',
    hint: 'Get it again, apply the change to what it is now, and send it again.',
    exitCode: 2,
    httpStatus: 412,
  },
  'webhook-unknown': {
    message: 'The project has no webhook {id}.',
    hint: 'Use an id that GET /api/v1/projects/ID/webhooks lists.',
    exitCode: 2,
    httpStatus: 404,
  },
  'webhooks-most': {
    message: 'The project has {count} webhooks already, which is the most that it may have.',
    hint: 'Delete one that is not needed any more, or let one receiver pass events on.',
    exitCode: 2,
    httpStatus: 409,
  },
  'delivery-unknown': {
    message: 'The webhook has no delivery {id}.',
    hint: 'Use an id that GET …/deliveries lists. The last 500 deliveries are kept, for 30 days.',
    exitCode: 2,
    httpStatus: 404,
  },
  'delivery-gone': {
    message: 'The delivery {id} cannot be sent again: its event is not stored any more.',
    hint: 'The history of the page was cleared since. GET …/changes lists the changes that are kept.',
    exitCode: 2,
    httpStatus: 409,
  },
  'key-file-open': {
    message: 'The key file {file} can be read by others (mode {mode}); expected a file for its owner alone.',
    hint: 'Run `chmod 600 {file}`. If another user could read it, change the secrets of the webhooks.',
    exitCode: 2,
    httpStatus: 500,
  },
  'key-file-broken': {
    message: 'The key file {file} cannot be used: {reason}.',
    hint: 'Put the file back from a backup. Without it, webhooks need their URL and secret again.',
    exitCode: 2,
    httpStatus: 500,
  },
  'idempotency-key-invalid': {
    message: 'The Idempotency-Key cannot be used; expected 1 to 255 visible ASCII characters.',
    hint: 'Use a new UUID for each request that is not a repetition.',
    exitCode: 2,
    httpStatus: 400,
  },
  'idempotency-other-request': {
    message: 'The Idempotency-Key was used for another request.',
    hint: 'Use a new key for a new request; a repetition has the same method, address and body.',
    exitCode: 2,
    httpStatus: 422,
  },
  'idempotency-under-way': {
    message: 'The request with this Idempotency-Key is still being answered.',
    hint: 'Repeat it in a few seconds.',
    exitCode: 2,
    httpStatus: 409,
  },
  'robots-fixed': {
    message: 'respect_robots_txt cannot be false: the operator of this service has not allowed that.',
    hint: 'The operator can start the service with `sumi serve --no-robots`.',
    exitCode: 2,
    httpStatus: 400,
  },
  'serve-needs-token': {
    message: 'Other machines can reach {host}, and there is no token yet.',
    hint: 'Make one first: `sumi token create --name NAME {store}`. Or serve this machine only: --host 127.0.0.1.',
    exitCode: 2,
    httpStatus: 400,
  },
  'serve-address': {
    message: 'The service cannot listen on {address}: {reason}.',
    hint: 'Choose another --port (0 takes a free one) or another --host.',
    exitCode: 2,
    httpStatus: 500,
  },
  'service-defect': {
    message: 'The service failed to answer.',
    hint: 'Try again. If it happens again, report it with the lines that `sumi serve` printed.',
    exitCode: 1,
    httpStatus: 500,
  },
  'unknown-project': {
    message: 'There is no project "{project}" in {file}; it has {known}.',
    hint: 'Choose one of them with --project.',
    exitCode: 2,
    httpStatus: 404,
  },
  'several-projects': {
    message: '{file} has several projects: {known}; expected --project with one of them.',
    hint: 'Choose one of them with --project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-same': {
    message: '{from} and {to} are the same store; expected two different stores.',
    hint: 'Give another file or database with --to.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-names-one': {
    message:
      '{file} holds several projects ({known}), and --as names one project; {name} cannot name them all.',
    hint: 'Choose the project to copy with --project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-exists': {
    message: 'The project "{project}" already exists in {store}; a copy does not change existing projects.',
    hint: 'Copy it under another name with --project NAME --as OTHER.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-other': {
    message: '{store} has an interrupted copy from another source that would become the project "{project}".',
    hint: 'Repeat that copy to finish it, choose another name with --as NAME, or delete it with --restart.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-busy': {
    message: 'The project "{project}" of {store} is being crawled by {workers}.',
    hint: 'Stop the crawl or wait until it ends, then repeat the command.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-in-use': {
    message: 'Another command is copying the project "{project}" into {store}.',
    hint: 'Wait until that command ends. If it was interrupted, run the same command to continue.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-differs': {
    message: 'The copy of the project "{project}" differs from its source: {tables}.',
    hint: 'Repeat the command with --restart. The source was not changed, and the copy is still named "{copied}".',
    exitCode: 1,
    httpStatus: 500,
  },
  'export-unwritable': {
    message: 'The file {file} cannot be written: {reason}.',
    hint: 'Choose a file in an existing folder with free space that this user may write to. No partial file was left.',
    exitCode: 2,
    httpStatus: 500,
  },
  'export-changed': {
    message: '{pages} pages were deleted while they were exported.',
    hint: 'A crawl with --fresh runs on this project. Repeat the command when it has ended.',
    exitCode: 1,
    httpStatus: 409,
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

/** What is wrong with one field of what a program sent: where (a JSON pointer), and what was expected there. */
export interface FieldProblem {
  pointer: string;
  detail: string;
}

/** `errors` is for programs: it is never filled into a sentence. */
type ErrorDetails<Code extends ErrorCode> = { [Name in DetailName<Code>]: Detail } & Given;
type Given = Record<string, Detail | readonly FieldProblem[]>;

export class SumiError extends Error {
  override readonly name = 'SumiError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly details: Readonly<Record<string, Detail>>;
  /** The fields that are wrong, where a program sent several. */
  readonly errors: readonly FieldProblem[];

  constructor(code: ErrorCode, given: Given, cause?: unknown) {
    const spec: ErrorSpec = ERRORS[code];
    const isDetail = (entry: [string, Given[string]]): entry is [string, Detail] => !Array.isArray(entry[1]);
    const details = Object.fromEntries(
      Object.entries(given)
        .filter(isDetail)
        .map(([name, value]) => [name, withoutPassword(value)]),
    );
    super(fill(spec.message, details), cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = fill(spec.hint, details);
    this.exitCode = spec.exitCode;
    this.httpStatus = spec.httpStatus;
    this.details = details;
    this.errors = Array.isArray(given.errors) ? given.errors : [];
  }
}

export function sumiError<Code extends ErrorCode>(
  code: Code,
  ...rest: [DetailName<Code>] extends [never]
    ? [details?: Given, cause?: unknown]
    : [details: ErrorDetails<Code>, cause?: unknown]
): SumiError {
  return new SumiError(code, rest[0] ?? {}, rest[1]);
}

/** Wherever the address of a site was written by mistake (as a file, as a database): its password is never repeated. */
function withoutPassword(value: Detail): Detail {
  return typeof value === 'number' ? value : value.replace(/(https?:[/\\]{2})[^\s/?#\\[]*@/gi, '$1***@');
}

function fill(template: string, details: Record<string, Detail>): string {
  return template.replace(/\{(\w+)\}(\.?)/g, (whole, name: string, stop: string) => {
    const value = details[name];
    if (value === undefined) return whole;
    // What is filled in is often a sentence of its own; ours would end in two full stops.
    if (name === 'reason') return `${String(value).replace(/[.\s]+$/, '')}${stop}`;
    const text = String(value);
    return stop !== '' && /[.!?]$/.test(text) ? text : `${text}${stop}`;
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
