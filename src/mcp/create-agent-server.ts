/**
 * The server that agents talk to: one for a connection or a request, with all tools. What goes wrong is an answer with code,
 * message and hint, never an exception and never a stack. The protocol itself, in both of its eras, is the SDK's.
 */
import { McpServer } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { PROGRAM_VERSION } from '../config/program.ts';
import { SumiError, sumiError } from '../errors.ts';
import { type AgentCaller, type AgentParts, type AgentTool, checkScope } from './agent.ts';
import { checkedWith } from './check-input.ts';
import { cleanData } from './clean-text.ts';
import { cutText, resultOf } from './fit-answer.ts';
import { UNTRUSTED_NOTE } from './page-facts.ts';
import { TOOLS } from './tool-list.ts';

const INSTRUCTIONS = `Sumi-Ripple crawls websites and keeps what it finds in projects. start_crawl answers at once with a project_id; call crawl_status until its phase is completed, then list_pages, search, get_page, changes, query and why tell what was found. Lists have at most 50 rows; call again with next_cursor for more. ${UNTRUSTED_NOTE}`;

export function createAgentServer(parts: AgentParts, caller: AgentCaller): McpServer {
  const server = new McpServer(
    { name: 'sumi-ripple', title: 'Sumi-Ripple', version: PROGRAM_VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of TOOLS) register(server, tool, parts, caller);
  return server;
}

function register(server: McpServer, tool: AgentTool, parts: AgentParts, caller: AgentCaller): void {
  const { name, title, about, input, output, hints, scope } = tool;
  server.registerTool(
    name,
    {
      ...{ title, description: about },
      outputSchema: { '~standard': standardOf(output) },
      inputSchema: told(input),
      annotations: { title, ...hints },
    },
    async (given: unknown, context) => {
      try {
        checkScope(caller, scope);
        const call = { parts, caller, signal: context.mcpReq.signal };
        return resultOf(await tool.run(checkedWith(input, given), call));
      } catch (error) {
        return failure(error, name, parts);
      }
    },
  );
}

/** For clients the schema, for the SDK no check: our own says what is wrong with code, hint and places. */
function told(input: z.ZodObject) {
  const validate = (value: unknown) => ({ value });
  return { '~standard': { ...standardOf(input), validate } };
}

type JsonSchema = Record<string, unknown>;

/** Made once: over HTTP there is a server for each request. */
const made = new WeakMap<z.ZodObject, Map<string, JsonSchema>>();

function standardOf(schema: z.ZodObject) {
  const { version, jsonSchema, validate } = schema['~standard'];
  const known = made.get(schema) ?? new Map<string, JsonSchema>();
  made.set(schema, known);
  const once = (io: 'input' | 'output') => (options: Parameters<typeof jsonSchema.input>[0]) => {
    const key = `${io} ${options.target}`;
    const found = known.get(key) ?? jsonSchema[io](options);
    known.set(key, found);
    return found;
  };
  return { version, vendor: 'sumi', validate, jsonSchema: { input: once('input'), output: once('output') } };
}

const MOST_OF_MESSAGE = 2000;

function failure(error: unknown, tool: string, { log }: AgentParts) {
  const known = error instanceof SumiError && (error.httpStatus < 500 || error.httpStatus === 503);
  if (!known) log(`The tool ${tool} failed: ${error instanceof Error ? error.stack : String(error)}`);
  const { code, message, hint, errors } = known ? error : sumiError('service-defect');
  const text = (words: string) => cutText(words, MOST_OF_MESSAGE);
  const shown = cleanData({
    error: {
      ...{ code, message: text(message), hint: text(hint) },
      ...(errors.length > 0 && { errors: errors.slice(0, 20).map((one) => ({ ...one })) }),
    },
  });
  return { content: [{ type: 'text' as const, text: JSON.stringify(shown) }], isError: true };
}
