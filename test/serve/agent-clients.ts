// The official clients of the Model Context Protocol, old and new, over standard input and output of a real `sumi mcp` and over
// HTTP: one face for all of them. Every answer is checked against the schema that the tool has announced.
import { resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

const ROOT = resolve(import.meta.dirname, '../..');
export const SUMI = ['--import', 'tsx', resolve(ROOT, 'src/cli/sumi.ts')];

// biome-ignore lint/suspicious/noExplicitAny: JSON as a program has it that does not know the schemas.
export type Loose = any;

export interface ToolResult {
  isError: boolean;
  /** Checked against the announced schema; of an error what its text says. */
  data: Loose;
  text: string;
  /** The whole result as it came. */
  whole: Loose;
}

export interface TestAgent {
  tools: Loose[];
  instructions: string | undefined;
  version: string | undefined;
  call(name: string, args?: object): Promise<ToolResult>;
  /** The data of a call that has to work. */
  get(name: string, args?: object): Promise<Loose>;
  close(): Promise<void>;
}

export const CLIENTS = ['client 2026-07-28', 'client initialize', 'sdk 1'] as const;
export type ClientKind = (typeof CLIENTS)[number];
export type Way = { stdio: string[] } | { url: string; token?: string };

const WHO = { name: 'test', version: '1' };

/** `stdio`: arguments of `sumi mcp`. */
export async function connectAgent(kind: ClientKind, way: Way): Promise<TestAgent> {
  const client = kind === 'sdk 1' ? await connectFirst(way) : await connectNew(kind, way);
  const { tools } = (await client.listTools()) as { tools: Loose[] };
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  const checks = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
  const agent: TestAgent = {
    tools,
    instructions: client.getInstructions(),
    version: kind === 'sdk 1' ? undefined : (client as Client).getNegotiatedProtocolVersion?.(),
    async call(name, args = {}) {
      const whole = (await client.callTool({ name, arguments: args as Record<string, unknown> })) as Loose;
      const [{ text }] = whole.content;
      const isError = whole.isError === true;
      const check = checks.get(name);
      if (!isError && check !== undefined && !check(whole.structuredContent))
        throw new Error(`${name}: ${JSON.stringify(check.errors)}\n${text}`);
      return { isError, data: isError ? JSON.parse(text).error : whole.structuredContent, text, whole };
    },
    async get(name, args) {
      const { isError, data, text } = await agent.call(name, args);
      if (isError) throw new Error(`${name}: ${text}`);
      return data;
    },
    close: () => client.close(),
  };
  return agent;
}

async function connectNew(kind: ClientKind, way: Way): Promise<Client> {
  const mode = kind === 'client 2026-07-28' ? { pin: '2026-07-28' } : ('legacy' as const);
  const client = new Client(WHO, { versionNegotiation: { mode } });
  await client.connect(
    'stdio' in way
      ? new StdioClientTransport({
          command: process.execPath,
          args: argsOf(way.stdio),
          stderr: 'inherit',
          cwd: ROOT,
        })
      : new StreamableHTTPClientTransport(new URL(way.url), { requestInit: { headers: headersOf(way) } }),
  );
  return client;
}

async function connectFirst(way: Way): Promise<FirstClient> {
  const client = new FirstClient(WHO);
  await client.connect(
    'stdio' in way
      ? new FirstStdio({ command: process.execPath, args: argsOf(way.stdio), stderr: 'inherit', cwd: ROOT })
      : new FirstHttp(new URL(way.url), { requestInit: { headers: headersOf(way) } }),
  );
  return client;
}

const argsOf = (flags: readonly string[]) => [...SUMI, 'mcp', ...flags];
const headersOf = ({ token }: { token?: string }): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Every row of a list, by its cursors; the limits are checked on the way. */
export async function everyRow(
  agent: TestAgent,
  name: string,
  args: object,
  field: string,
): Promise<{ rows: Loose[]; calls: number }> {
  const rows: Loose[] = [];
  let cursor: string | undefined;
  let calls = 0;
  do {
    const { data, whole, isError, text } = await agent.call(name, {
      ...args,
      ...(cursor !== undefined && { cursor }),
    });
    if (isError) throw new Error(text);
    if (data[field].length > 50) throw new Error(`${name} gave ${data[field].length} rows`);
    if (
      JSON.stringify({ content: whole.content, structuredContent: whole.structuredContent }).length > 25_000
    )
      throw new Error(`${name} gave ${JSON.stringify(whole).length} characters`);
    rows.push(...data[field]);
    cursor = data.next_cursor ?? undefined;
    calls++;
  } while (cursor !== undefined);
  return { rows, calls };
}
