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
  'url-credentials': {
    message: 'User and password in the URL "{url}" cannot be read; expected percent-encoded UTF-8.',
    hint: 'Write a % as %25 and an @ as %40, or give both by --auth USER:PASSWORD, which takes them as they are.',
    exitCode: 2,
    httpStatus: 400,
  },
  'header-refused': {
    message: 'The header {name} cannot be given ({place}): {reason}.',
    hint: 'Leave it out; --header is for headers of the site, such as Authorization or X-Api-Key.',
    exitCode: 2,
    httpStatus: 400,
  },
  'credentials-missing': {
    message:
      'Run {run} was begun with {names}, which the store does not keep; this command does not have them.',
    hint: 'Give them again: {how}.',
    exitCode: 2,
    httpStatus: 400,
  },
  'operator-options-missing': {
    message:
      'Run {run} was begun with {options}; only the operator of a machine may set that, and this command does not have it.',
    hint: 'If the same should hold here, give it with the command: {how}.',
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
    hint: 'Try {nearest}; `sumi config` and docs/options.md list all options.',
    exitCode: 2,
    httpStatus: 400,
  },
  'other-option': {
    message: 'The option {option} is of other commands: {command} does not take it.',
    hint: 'Leave it out; `{command} --help` lists what is taken there, docs/options.md says what it means elsewhere.',
    exitCode: 2,
    httpStatus: 400,
  },
  'not-a-setting': {
    message: 'The option {option} cannot be kept with a project: {reason}.',
    hint: 'Give it with the command, in a file (--config) or in the environment; docs/options.md says who may set which option.',
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
    hint: 'Change the value there; docs/options.md says what {option} means.',
    exitCode: 2,
    httpStatus: 400,
  },
  'bad-flag': {
    message: '{flag} cannot be {value}; expected {expected}.',
    hint: '`{command} --help` says what {flag} means, with examples.',
    exitCode: 2,
    httpStatus: 400,
  },
  'missing-value': {
    message: '{option} is missing ({place}); expected {expected}.',
    hint: 'Add it there; examples/terrain.toml shows every key with a word about it.',
    exitCode: 2,
    httpStatus: 400,
  },
  'option-twice': {
    message: '{option} is given twice ({place}, also as {other}); expected it once.',
    hint: 'Both are names of the same option: keep one of them.',
    exitCode: 2,
    httpStatus: 400,
  },
  'two-stores': {
    message: '{option} and {other} are both given ({place}); expected one of them.',
    hint: 'A crawl is kept in one place: --db FILE for an SQLite file, --store URL for PostgreSQL.',
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
  'seed-elsewhere': {
    message: 'The seed {seed} is not under its domain {domain} ({place}).',
    hint: 'Move it to the [[quality]] section of its own domain, or widen this one, as in *.example.com.',
    exitCode: 2,
    httpStatus: 400,
  },
  'no-map': {
    message: 'The project "{project}" of {file} has had no run.',
    hint: 'Make the map first, with `sumi map FILE`.',
    exitCode: 2,
    httpStatus: 404,
  },
  'no-quality': {
    message: 'No quality domain is named ({place}); a map needs at least one to start from.',
    hint: 'Add a section [[quality]] with domain = "example.com" and seeds = ["https://example.com/"].',
    exitCode: 2,
    httpStatus: 400,
  },
  'terrain-invalid': {
    message: '{file} has {count}:{problems}.',
    hint: 'Correct these lines and run the same command again; examples/terrain.toml shows every key with a word about it.',
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
  'bodies-closed': {
    message: 'The store of bodies was closed while a body was on its way to it.',
    hint: 'Nothing is lost: run the same command again, and the page is fetched again.',
    exitCode: 4,
    httpStatus: 503,
  },
  's3-endpoint-invalid': {
    message: 'AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) is not the address of a server.',
    hint: 'Give one such as http://127.0.0.1:9000, or unset it for AWS itself.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-no-credentials': {
    message: 'No credentials for {address} were found: {reason}.',
    hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile of the shared file.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-credentials': {
    message: '{endpoint} does not accept the credentials for {address}: {reason}.',
    hint: 'Correct them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) and run the same command again: it goes on.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-bucket-missing': {
    message: 'There is no bucket "{bucket}" at {endpoint}.',
    hint: 'Make it with the tool of your store, or correct the name in --bodies s3://BUCKET/PREFIX.',
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
    hint: 'Check AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL): scheme, host and port of the S3 API, not of its web console.',
    exitCode: 4,
    httpStatus: 502,
  },
  's3-denied': {
    message: 'The credentials give no permission to {action} {address}: {reason}.',
    hint: 'Allow s3:PutObject and s3:AbortMultipartUpload (to read also s3:GetObject) for the bucket, or use other credentials.',
    exitCode: 4,
    httpStatus: 500,
  },
  's3-unreachable': {
    message: '{endpoint} did not take bodies for {address} for too long: {reason}.',
    hint: 'Nothing is lost: once it answers, the same command goes on, and pages without their body are fetched again.',
    exitCode: 4,
    httpStatus: 503,
  },
  's3-failed': {
    message: '{endpoint} refused to {action} {address}: {reason}.',
    hint: 'The log of that server says more; once the cause is gone the same command goes on.',
    exitCode: 4,
    httpStatus: 502,
  },
  'db-missing': {
    message: 'There is no database {file}.',
    hint: 'Name the file of a crawl with --db FILE, or make one with `sumi crawl URL` or `sumi map FILE`.',
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
  'list-limit': {
    message: 'A list cannot be answered with {limit} rows at once; expected 1 to {most}.',
    hint: 'Ask for fewer rows and go on with the cursor `next` of the answer.',
    exitCode: 2,
    httpStatus: 400,
  },
  'list-sort': {
    message: 'The list of {list} cannot be sorted by {sort}; expected one of {expected}.',
    hint: 'Leave the sort out, or take one of these: an index serves each of them.',
    exitCode: 2,
    httpStatus: 400,
  },
  'sort-unserved': {
    message: 'Pages cannot be sorted by {sort}: this store has no index for it.',
    hint: 'Make the indexes once with `sumi index sorts`; crawls keep them up to date from then on.',
    exitCode: 2,
    httpStatus: 409,
  },
  'index-busy': {
    message: 'The indexes of project "{project}" cannot be built: a run of it is under way, or was killed.',
    hint: 'Wait for its end (`sumi runs` lists it), or end one that was killed with `sumi resume`.',
    exitCode: 1,
    httpStatus: 409,
  },
  'cursor-unreadable': {
    message: 'The cursor {cursor} cannot be read; expected `next` or `previous` of an answer, unchanged.',
    hint: 'Ask without a cursor for the first rows, and pass on the cursors of the answers as they are.',
    exitCode: 2,
    httpStatus: 400,
  },
  'cursor-version': {
    message: 'The cursor is of version {found}; this program writes version {known}.',
    hint: 'Ask without a cursor for the first rows: cursors do not outlast a change of their version.',
    exitCode: 2,
    httpStatus: 400,
  },
  'cursor-of-other-list': {
    message:
      'The cursor does not belong to this list of {list}; expected one of the same filter, sort and order.',
    hint: 'Ask without a cursor for the first rows, and change the filter, the sort or the order only then.',
    exitCode: 2,
    httpStatus: 400,
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
  'db-open-here': {
    message: 'The database {file} is open for writing in this process already.',
    hint: 'Open a store once and begin all runs on it: it carries several at once, also of several projects.',
    exitCode: 2,
    httpStatus: 409,
  },
  'db-not-writable': {
    message: 'The database {file} cannot be written: {reason}.',
    hint: 'Choose a file in a folder that exists and that this user may write to, with --db FILE.',
    exitCode: 2,
    httpStatus: 500,
  },
  'db-unreadable': {
    message: 'The database {file} cannot be read: {reason}.',
    hint: 'To read a file SQLite writes beside it: copy it, its -wal file too where there is one, to a folder of your own, and name the copy with --db FILE.',
    exitCode: 2,
    httpStatus: 500,
  },
  'disk-full': {
    message: 'The disk is full: {file} could not grow.',
    hint: 'Make room and run the same command again: it goes on from the last commit.',
    exitCode: 4,
    httpStatus: 507,
  },
  'driver-missing': {
    message: 'The SQLite driver (better-sqlite3) is not installed for Node {node}.',
    hint: 'Install the packages again. On Node 22 and newer npm installs the driver ready-made, unless it is told to leave out optional packages (--omit=optional). On Node 20 npm compiles it, and leaves it out where Python, make or a C++ compiler is missing.',
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
    hint: 'Everything up to the last commit is kept; once the cause is gone the same command goes on.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-address': {
    message: '{store} is not the address of a store; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
    hint: 'Signs such as @ / : inside user or password are written %40 %2F %3A; docs/postgresql.md lists what may follow a ?.',
    exitCode: 4,
    httpStatus: 400,
  },
  'store-unreachable': {
    message: 'The store {store} does not answer: {reason}.',
    hint: 'Check that the server runs and that host and port are right; what was crawled is kept, the same command goes on.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-login': {
    message: 'The store {store} refused the login: {reason}.',
    hint: 'Check role and password, in the address or in PGPASSWORD, and that pg_hba.conf lets this machine in.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-no-database': {
    message: 'The store {store} has no such database: {reason}.',
    hint: 'Create it, as with `createdb NAME`, or name another one in the address.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-denied': {
    message: 'The role of the store {store} may not do this: {reason}.',
    hint: 'Let its owner run a crawl once, then grant the rights that docs/postgresql.md lists.',
    exitCode: 4,
    httpStatus: 503,
  },
  'store-foreign': {
    message: 'The database {store} belongs to another program (it has a table or view "{table}").',
    hint: 'Give sumi a database of its own, as with `createdb NAME`; this one was left as it is.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-newer': {
    message: 'The store {store} has schema version {found}; this program knows versions up to {known}.',
    hint: 'Use the newer sumi that made it, or another database; this one was left as it is.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-older': {
    message: 'The store {store} has schema version {found}; this program needs version {known}.',
    hint: 'Let the owner of its tables run `sumi crawl` or `sumi worker` once: that brings it up to date.',
    exitCode: 4,
    httpStatus: 500,
  },
  'store-empty': {
    message: 'The store {store} holds no crawl yet.',
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
    hint: 'Choose another --metrics-port (0 takes a free one) or --metrics-host.',
    exitCode: 2,
    httpStatus: 500,
  },
  'no-sitemap': {
    message: 'No sitemap was found for {url}: {reason}.',
    hint: 'Give the address of the sitemap itself, or more paths to try, such as --sitemap-paths long; -v shows what each one answered.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-answer': {
    message: 'No {page} gave any HTTP answer; the first, {url}, ended with: {reason}.',
    hint: 'Check the address, the network and the proxy; `sumi why {url}{at}` shows what was tried.',
    exitCode: 1,
    httpStatus: 502,
  },
  'start-refused': {
    message: 'No page was read: {reason}{more}.',
    hint: '{advice} `sumi pages{at}` shows what became of each URL.',
    exitCode: 1,
    httpStatus: 502,
  },
  'extension-failed': {
    message: 'The {part} given to crawl() failed{where}: {reason}.',
    hint: 'Correct it and crawl again: the run was interrupted and goes on from where it was.',
    exitCode: 1,
    httpStatus: 500,
  },
  'subscriber-failed': {
    message: 'A subscriber to the events of a run threw on a {event} event and was unsubscribed: {reason}.',
    hint: 'Correct the subscriber and subscribe again. The crawl goes on.',
    exitCode: 1,
    httpStatus: 500,
  },
  'internal-failures': {
    message:
      '{count} pages of this run ended in a defect of sumi itself; the first was {url}, with the reason "{reason}".',
    hint: 'Please report it with the stack that was shown. What was read is kept: the same command goes on with the pages that are left.',
    exitCode: 1,
    httpStatus: 500,
  },
  'nothing-to-resume': {
    message: 'Nothing to resume: {file} holds no unfinished run{of}.',
    hint: 'Start one with `sumi crawl URL` or `sumi map FILE`; `sumi runs` lists the finished ones.',
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
    hint: 'Bodies are kept by a crawl with --bodies files:DIR or --bodies s3://BUCKET/PREFIX.',
    exitCode: 1,
    httpStatus: 404,
  },
  'no-text': {
    message: 'No text of {url} is stored: {reason}.',
    hint: 'A crawl keeps the main text of pages with --store-text; `sumi cat {url}` prints the body, where one is kept.',
    exitCode: 1,
    httpStatus: 404,
  },
  'run-not-steerable': {
    message: 'Run {run} cannot take the order "{order}": it is {status}.',
    hint: 'The order needs a run that is {allowed}. `sumi runs` lists the runs and how they stand.',
    exitCode: 2,
    httpStatus: 409,
  },
  'unknown-run': {
    message: 'There is no run {run} in {file}.',
    hint: '`sumi runs` lists them.',
    exitCode: 2,
    httpStatus: 404,
  },
  'runs-not-comparable': {
    message: 'These two runs cannot be compared: {reason}.',
    hint: '`sumi runs` lists the runs of each project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'project-in-use': {
    message:
      'The project "{project}" is being crawled by worker {worker}; its pages must not be changed or taken away now.',
    hint: 'Stop its workers first (`sumi workers` lists them), or choose another --project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'run-under-way': {
    message: 'The project "{project}" is being crawled in this process already (run {run}).',
    hint: 'Wait for that run to end, or stop it, and try again; or choose another --project.',
    exitCode: 2,
    httpStatus: 409,
  },
  'session-ended': {
    message: 'Nothing more can be done for run {run} here: its session has ended.',
    hint: 'Everything up to its end is kept; begin the run again on the store, and it goes on.',
    exitCode: 4,
    httpStatus: 409,
  },
  'store-closed': {
    message: 'The store {store} was closed.',
    hint: 'Everything up to that moment is kept; open it again, and the same command goes on.',
    exitCode: 4,
    httpStatus: 409,
  },
  'watch-in-use': {
    message: 'The project "{project}" is being watched already ({watcher}, to be heard of until {until}).',
    hint: 'Stop that one first, or wait until then if it is no more; a crawl of the project is allowed beside it.',
    exitCode: 2,
    httpStatus: 409,
  },
  'store-away': {
    message: 'The store {store} did not answer for {seconds} s.',
    hint: 'Everything up to the last commit is kept; once it answers again the same command goes on. --store-patience waits longer.',
    exitCode: 4,
    httpStatus: 503,
  },
  'unknown-project': {
    message: 'There is no project "{project}" in {file}; it holds {known}.',
    hint: 'Name one of these with --project.',
    exitCode: 2,
    httpStatus: 404,
  },
  'several-projects': {
    message: '{file} holds several projects: {known}; expected one to be named.',
    hint: 'Name one of these with --project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-same': {
    message: '{from} and {to} are the same store; expected two.',
    hint: 'Name another file or database with --to.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-names-one': {
    message:
      '{file} holds several projects ({known}), and --as names one project; {name} cannot name them all.',
    hint: 'Say which project to copy with --project.',
    exitCode: 2,
    httpStatus: 400,
  },
  'copy-exists': {
    message: 'The project "{project}" exists already in {store}; a copy changes no project.',
    hint: 'Copy it under another name with --project NAME --as OTHER.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-other': {
    message: 'In {store} an interrupted copy of something else is to become the project "{project}".',
    hint: 'Repeat that copy to finish it, choose another name with --as NAME, or drop it with --restart.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-busy': {
    message: 'The project "{project}" of {store} is being crawled by {workers}.',
    hint: 'Stop it or wait until it has ended, then repeat the command.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-in-use': {
    message: 'Another command is copying the project "{project}" into {store}.',
    hint: 'Wait until it has ended; if it was interrupted, the same command goes on.',
    exitCode: 2,
    httpStatus: 409,
  },
  'copy-differs': {
    message: 'The copy of the project "{project}" differs from its source: {tables}.',
    hint: 'The source is as it was, the copy keeps its name "{copied}"; repeat the command with --restart.',
    exitCode: 1,
    httpStatus: 500,
  },
  'export-unwritable': {
    message: 'The file {file} cannot be written: {reason}.',
    hint: 'Choose a file in a folder that exists, has room, and that this user may write to; nothing was left behind.',
    exitCode: 2,
    httpStatus: 500,
  },
  'export-changed': {
    message: 'Pages were removed while they were exported ({pages} of them).',
    hint: 'A crawl with --fresh has begun on this project: repeat the command when it has ended.',
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

type ErrorDetails<Code extends ErrorCode> = { [Name in DetailName<Code>]: Detail } & Record<string, Detail>;

export class SumiError extends Error {
  override readonly name = 'SumiError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly details: Readonly<Record<string, Detail>>;

  constructor(code: ErrorCode, given: Record<string, Detail>, cause?: unknown) {
    const spec: ErrorSpec = ERRORS[code];
    const details = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, withoutPassword(value)]),
    );
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

/** Wherever the address of a site was written by mistake (as a file, as a database): its password is never repeated. */
function withoutPassword(value: Detail): Detail {
  return typeof value === 'number' ? value : value.replace(/(https?:[/\\]{2})[^\s/?#\\[]*@/gi, '$1***@');
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
