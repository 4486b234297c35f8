/** What a crawl would do with a site: asks robots.txt, the home page and sitemaps, and keeps nothing of it. */
import { describePreview } from '../../answers/describe-preview.ts';
import { readSettingsOf } from '../../answers/read-settings.ts';
import { readWebsiteUrl } from '../../answers/read-website-url.ts';
import { NewPreview, Preview } from '../../contract/preview.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';

export function registerPreviewRoute(app: ApiServer, { engine, egress, options }: ApiDeps): void {
  app.post(
    '/preview',
    {
      schema: {
        ...{
          tags: ['Projects'],
          operationId: 'preview',
          summary: 'What a crawl with these settings would do',
        },
        body: NewPreview,
        response: { 200: Preview },
      },
    },
    async ({ body }) => {
      const settings = readSettingsOf(body.settings ?? {}, options);
      const websiteUrl = await readWebsiteUrl(body.website_url, egress);
      return describePreview(await engine.preview(websiteUrl, settings));
    },
  );
}
