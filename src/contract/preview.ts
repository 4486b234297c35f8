/** What a crawl would do with a site, learned from robots.txt, the home page and the sitemaps alone. */
import { z } from 'zod';
import { websiteUrl } from './projects.ts';
import { settingsPatch } from './settings.ts';

export const NewPreview = z
  .strictObject({ website_url: websiteUrl, settings: settingsPatch.optional() })
  .meta({ id: 'NewPreview', description: 'A site, and the settings that a project would have.' });

export const Preview = z
  .strictObject({
    website_url: z.string().describe('As it is requested.'),
    robots: z.strictObject({
      url: z.string(),
      status: z.int().describe('HTTP status of robots.txt; 0: no answer.'),
      found: z.boolean(),
      allowed: z.boolean().describe('Whether our agent may request the home page.'),
      rule: z.string().nullable().describe('The line that decided.'),
      crawl_delay: z.number().nullable().describe('Seconds between two requests that it asks for.'),
      sitemaps: z.array(z.string()).describe('Sitemaps that it names.'),
    }),
    home: z.strictObject({
      url: z.string(),
      status_code: z.int().nullable(),
      title: z.string().nullable(),
      content_type: z.string().nullable(),
      redirects_to: z.string().nullable(),
      links: z.int().describe('Links on it, each URL once.'),
      problem: z.string().nullable(),
    }),
    sitemaps: z.array(
      z.strictObject({
        url: z.string(),
        entries: z.int(),
        problem: z.string().nullable(),
      }),
    ),
    links: z
      .array(
        z.strictObject({
          url: z.string(),
          found_in: z.enum(['home', 'sitemap']),
          verdict: z.enum(['fetched', 'skipped']),
          rule: z.string().nullable().describe('What decides; null where nothing speaks against it.'),
        }),
      )
      .describe('At most 200.'),
    estimate: z.strictObject({
      pages: z.int().describe('Pages that are known to be fetched, within max_pages.'),
      seconds: z.number().describe('How long they take at the pace that is allowed.'),
      is_lower_bound: z.boolean().describe('true: more pages are found on the way, or were not counted.'),
    }),
    problems: z.array(z.string()),
  })
  .meta({
    id: 'Preview',
    description: 'What a crawl with these settings would do. Nothing is stored of it.',
  });
export type Preview = z.infer<typeof Preview>;
