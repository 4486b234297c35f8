/** Every route there is. Paths in the route files are relative to /api/v1. */
import { z } from 'zod';
import type { AccessTokens } from '../answers/access-tokens.ts';
import type { ApiDeps, ApiServer } from './api-deps.ts';
import { registerAboutRoutes } from './routes/about.ts';
import { registerChangeRoutes } from './routes/changes.ts';
import { registerExportRoute } from './routes/export.ts';
import { registerFacetRoutes } from './routes/facets.ts';
import { registerLiveRoutes } from './routes/live.ts';
import { registerMcpRoute } from './routes/mcp.ts';
import { registerPageRoutes } from './routes/pages.ts';
import { registerPhaseRoutes } from './routes/phases.ts';
import { registerPreviewRoute } from './routes/preview.ts';
import { registerProjectRoutes } from './routes/projects.ts';
import { registerQueryRoutes } from './routes/query.ts';
import { registerRunRoutes } from './routes/runs.ts';
import { registerScheduleRoutes } from './routes/schedule.ts';
import { registerSessionRoutes } from './routes/session.ts';
import { registerSiteRoutes } from './routes/site.ts';
import { registerTokenRoutes } from './routes/tokens.ts';
import { registerViewRoutes } from './routes/views.ts';
import { registerWebhookRoutes } from './routes/webhooks.ts';
import type { WhoAsks } from './who-asks.ts';

export interface Access {
  tokens: AccessTokens;
  whoAsks: WhoAsks;
}

const OPEN_API_SCHEMA = {
  ...{ tags: ['Service'], operationId: 'getOpenApi', summary: 'This description', security: [] },
  response: { 200: z.record(z.string(), z.unknown()) },
};

export async function registerRoutes(
  app: ApiServer,
  deps: ApiDeps,
  { tokens, whoAsks }: Access,
): Promise<void> {
  app.get(
    '/api/openapi.json',
    { config: { scope: 'public', hasTag: true }, schema: OPEN_API_SCHEMA },
    async () => ({ ...app.swagger() }),
  );
  registerMcpRoute(app, deps);
  await app.register(
    async (api) => {
      const v1 = api as unknown as ApiServer;
      // First: it also ends WebSocket upgrades of the routes after it.
      await registerLiveRoutes(v1, deps, whoAsks);
      registerProjectRoutes(v1, deps);
      registerPhaseRoutes(v1, deps);
      registerTokenRoutes(v1, deps, tokens);
      registerSessionRoutes(v1, deps, tokens);
      registerQueryRoutes(v1, deps);
      registerPageRoutes(v1, deps);
      registerFacetRoutes(v1, deps);
      registerRunRoutes(v1, deps);
      registerChangeRoutes(v1, deps);
      registerSiteRoutes(v1, deps);
      registerExportRoute(v1, deps);
      registerPreviewRoute(v1, deps);
      registerViewRoutes(v1, deps);
      registerScheduleRoutes(v1, deps);
      registerWebhookRoutes(v1, deps);
      registerAboutRoutes(v1, deps);
    },
    { prefix: '/api/v1' },
  );
}
