// A folder as a web site, in a process of its own: with ETags, or with no validators at all and noise in every answer
// (a nonce, a token, the time in the footer, other white space), as pages made by a program have. Talks to its parent
// over IPC: the port once, then for every message how many bytes of bodies went out since the last. Ends with its parent.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const [folder, kind] = process.argv.slice(2);
let bytes = 0;
let answers = 0;

/** Other bytes for each answer, and nothing of it is content. */
function withNoise(html: string): string {
  const token = createHash('sha1').update(String(answers)).digest('hex');
  return html
    .replace(
      '</head>',
      `<meta name="csrf-token" content="${token}"><script nonce="${token}">1</script></head>`,
    )
    .replace('<footer>', `<footer>Served at ${new Date().toISOString()}, number ${answers}. `)
    .replace('</html>', `</html>${'\n'.repeat(answers % 7)}`);
}

const server = createServer((request, response) => {
  const path = request.url!.endsWith('/') ? `${request.url}index.html` : request.url!;
  const file = join(folder, decodeURIComponent(path));
  if (!existsSync(file)) {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<title>Not found</title>');
    return;
  }
  answers++;
  const plain = readFileSync(file);
  const etag = `"${createHash('sha1').update(plain).digest('hex')}"`;
  if (kind === 'etags' && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  const body = kind === 'etags' ? plain : Buffer.from(withNoise(plain.toString('latin1')), 'latin1');
  bytes += body.length;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length };
  response.writeHead(200, kind === 'etags' ? { ...headers, etag } : headers).end(body);
});

server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('message', () => {
  process.send!(bytes);
  bytes = 0;
});
process.once('disconnect', () => process.exit(0));
