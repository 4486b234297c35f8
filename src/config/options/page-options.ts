/** Options for pages: which of their marks are obeyed, and what of them is stored. */

import type { OptionGroup } from '../option-spec.ts';

export const pageOptions = {
  'respect-nofollow': {
    setBy: 'project',
    type: 'boolean',
    doc: 'Do not follow links marked nofollow (the link itself or its whole page). The mark is always recorded.',
  },
  'respect-noindex': {
    setBy: 'project',
    type: 'boolean',
    doc: 'Do not store the text and the body of a page marked noindex. The mark is always recorded.',
  },
  'follow-canonical': {
    setBy: 'project',
    type: 'boolean',
    default: true,
    doc: 'Follow the canonical URL of a page as if it were a link.',
    offDoc: 'Record the canonical URL of a page, but do not follow it.',
  },
  'follow-frames': {
    setBy: 'project',
    type: 'enum',
    choices: ['none', 'frameset', 'all'],
    default: 'frameset',
    doc: 'Which frames to follow like links: those of a frameset, all (also iframes), or none. All are recorded as links with the rel frame or iframe.',
  },
  'meta-refresh': {
    setBy: 'project',
    type: 'boolean',
    default: true,
    doc: 'Treat <meta http-equiv=refresh> with 0 seconds as a redirect.',
    offDoc: 'Do not treat <meta http-equiv=refresh> as a redirect.',
  },
  'anchor-text': { setBy: 'project', type: 'boolean', default: false, doc: 'Store the text of links.' },
  'store-text': {
    setBy: 'project',
    type: 'boolean',
    doc: 'Store the main text of pages in the database.',
  },
  bodies: {
    setBy: 'operator',
    type: 'string',
    default: 'none',
    format: 'bodies-rule',
    expected: 'none, files:DIR or s3://BUCKET/PREFIX',
    placeholder: 'none|files:DIR|s3://BUCKET/PREFIX',
    doc: 'Where to store response bodies: a folder, or a bucket of an S3-compatible store (endpoint, region and credentials from AWS_… variables). Bodies are compressed, and equal bodies are stored once.',
  },
} as const satisfies OptionGroup;
