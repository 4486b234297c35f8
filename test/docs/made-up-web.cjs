// For the process of a command in tests (node --require): connections to made-up hosts go to a server on this machine, and
// a CRAWL makes no pause between its requests, which a server on this machine does not need. What is printed stays what
// it would be.
const { Socket } = require('node:net');

const [port, ...hosts] = (process.env.MADE_UP_WEB ?? '0').split(' ');
const connect = Socket.prototype.connect;

Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (hosts.includes(options?.host)) Object.assign(options, { host: '127.0.0.1', port: Number(port) });
  return connect.apply(this, args);
};

const NO_PAUSE = 'default_crawl_delay 0';
const STATEMENT = /(EXPLAIN )?\bCRAWL\s*\([^;]*?\)\s+INTO\s+\w+[^;]*/g;
const OPTIONS = /\bWITH\s*\([^()]*/;

/** Statements that say what they do, and those in the background, stay as they are: the pause keeps them under way. */
const withoutPauses = (text) =>
  text.replace(STATEMENT, (statement, explain) => {
    if (explain !== undefined || statement.includes('background true')) return statement;
    // At the end, so that places in errors stay.
    if (OPTIONS.test(statement)) return statement.replace(OPTIONS, (found) => `${found}, ${NO_PAUSE}`);
    return `${statement.trimEnd()} WITH (${NO_PAUSE})`;
  });
process.argv = process.argv.map(withoutPauses);
module.exports = { withoutPauses };
