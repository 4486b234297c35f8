/** Options that say what of a page is obeyed and kept. */

import type { OptionGroup } from '../option-spec.ts';
import { isBodiesRule } from '../text-checks.ts';

export const pageOptions = {
  'respect-nofollow': {
    type: 'boolean',
    doc: 'Do not follow links marked nofollow, by themselves or by their page. The mark is recorded either way.',
  },
  'respect-noindex': {
    type: 'boolean',
    doc: 'Keep no text and no body of a page marked noindex. The mark is recorded either way.',
  },
  'follow-canonical': {
    type: 'boolean',
    default: true,
    doc: 'Offer the canonical URL of a page as a link.',
    offDoc: 'Record the canonical URL of a page but do not follow it.',
  },
  'follow-frames': {
    type: 'enum',
    choices: ['none', 'frameset', 'all'],
    default: 'frameset',
    doc: 'Which frames are followed as links are: those of a frameset, all (iframes too), or none. All are recorded as links, with frame or iframe as their rel.',
  },
  'meta-refresh': {
    type: 'boolean',
    default: true,
    doc: 'Treat <meta http-equiv=refresh> with 0 seconds as a redirect.',
    offDoc: 'Do not treat <meta http-equiv=refresh> as a redirect.',
  },
  'anchor-text': { type: 'boolean', default: false, doc: 'Record the text of links.' },
  'store-text': {
    type: 'boolean',
    doc: 'Keep the main text of pages in the database.',
  },
  bodies: {
    type: 'string',
    default: 'none',
    check: isBodiesRule,
    expected: 'none, files:DIR or s3://BUCKET/PREFIX',
    placeholder: 'none|files:DIR|s3://BUCKET/PREFIX',
    doc: 'Where bodies are kept: a folder, or a bucket of any S3-compatible store (endpoint, region and credentials from AWS_… variables). Compressed, equal bodies once.',
  },
} as const satisfies OptionGroup;
