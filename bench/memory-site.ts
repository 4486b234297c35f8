// A synthetic site of one host that answers from memory, in a process of its own: every page is written out before the
// first request. Two cores are little for a crawler, its database and a server that makes pages; where the store is what
// is measured, this one takes as little of them as it can. Ends when its parent does.
import { createServer, type Socket } from 'node:net';
import { createSiteGraph } from '../src/demo/site-graph.ts';

const HEAD_END = '\r\n\r\n';
const MISSING = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n');

function writeOut(seed: number, pages: number): Map<string, Buffer> {
  const graph = createSiteGraph({ seed, pages });
  const answers = new Map<string, Buffer>();
  for (let index = 0; index < pages; index++) {
    const body = graph.render(index);
    const head =
      'HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n' +
      `etag: ${graph.etagOf(index)}\r\nlast-modified: ${graph.lastModifiedOf(index)}\r\n` +
      `date: ${new Date().toUTCString()}\r\nconnection: keep-alive\r\ncontent-length: ${body.length}${HEAD_END}`;
    answers.set(graph.pathOf(index), Buffer.concat([Buffer.from(head), body]));
  }
  return answers;
}

/** One request after the other: nobody pipelines, but a head may come in parts. */
function serve(socket: Socket, answers: ReadonlyMap<string, Buffer>): void {
  let begun = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1').on('data', (text: string) => {
    begun += text;
    if (!begun.endsWith(HEAD_END)) return;
    const path = begun.slice(begun.indexOf(' ') + 1, begun.indexOf(' ', begun.indexOf(' ') + 1));
    begun = '';
    socket.write(answers.get(path) ?? MISSING);
  });
  // A crawler that was killed leaves no goodbye.
  socket.on('error', () => socket.destroy());
}

const [seed, pages] = process.argv.slice(2, 4).map(Number);
const host = process.argv[4] ?? '127.0.0.1';
const answers = writeOut(seed, pages);
const server = createServer((socket) => serve(socket, answers)).listen(0, host, () => {
  process.send!((server.address() as { port: number }).port);
});
process.once('disconnect', () => process.exit(0));
