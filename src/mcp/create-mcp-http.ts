/**
 * Tools over HTTP: one request, one server, nothing kept between requests, so that every request is judged by the caller that
 * made it. Who that is, and whether it may ask at all, is decided before (src/api).
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AgentCaller, AgentParts } from './agent.ts';
import { createAgentServer } from './create-agent-server.ts';

export interface McpHttp {
  /** `body`: the parsed JSON of the request, which was read already. */
  answer(request: Request, asked: { caller: AgentCaller; body: unknown }): Promise<Response>;
  /** Ends streams that are open. */
  close(): Promise<void>;
}

/** Without a caller nothing is allowed. */
const NOBODY: AgentCaller = { key: 'nobody', scopes: [], projects: [] };

/** Streams that wait for news; there is no news yet. */
const MOST_STREAMS = 100;

export function createMcpHttp(parts: AgentParts): McpHttp {
  const handler = createMcpHandler(
    ({ authInfo }) => createAgentServer(parts, (authInfo?.extra?.caller as AgentCaller) ?? NOBODY),
    { maxSubscriptions: MOST_STREAMS, onerror: (error) => parts.log(`MCP over HTTP: ${error.message}`) },
  );
  return {
    answer: (request, { caller, body }) =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: '', scopes: [...caller.scopes], extra: { caller } },
        parsedBody: body,
      }),
    close: () => handler.close(),
  };
}
