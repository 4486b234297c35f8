/** Options that say which URLs a crawl takes and under which identity. */

import { PATTERN_PRESETS } from '../../scope/pattern-presets.ts';
import type { OptionGroup } from '../option-spec.ts';
import { isExtension, isHostRule, isPathPrefix } from '../text-checks.ts';

export const scopeOptions = {
  'start-urls': {
    type: 'list',
    split: 'space',
    default: [],
    expected: 'http or https URLs separated by spaces',
    placeholder: 'URL',
    hashed: false,
    doc: 'More start URLs, besides those given as arguments. Meant for the TOML file.',
  },
  urls: {
    type: 'string',
    nullable: true,
    default: null,
    expected: 'the path of a file, or -',
    placeholder: 'FILE',
    hashed: false,
    doc: 'A file with more start URLs, one per line. - is standard input.',
  },
  'fetch-only': {
    type: 'boolean',
    default: false,
    doc: 'Request the start URLs only, and follow no links.',
  },
  'allowed-hosts': {
    type: 'list',
    check: isHostRule,
    expected:
      'host, subdomains, domain, any, or hosts such as example.com, *.example.com and example.com:8080',
    placeholder: 'LIST',
    doc: 'Which hosts are crawled. host: those of the start URLs, each with its port. subdomains: these and their subdomains. domain: their whole domains (example.com). any: all hosts. Or a list of hosts and wildcards (*.example.com): each means every port, unless it names one.',
  },
  path: {
    type: 'list',
    default: [],
    check: isPathPrefix,
    expected: 'paths that begin with /',
    placeholder: 'PREFIX',
    doc: 'Follow only URLs whose path begins with one of these.',
  },
  include: {
    type: 'list',
    split: 'pattern',
    default: [],
    placeholder: 'RE',
    doc: 'Crawl URLs that match one of these regular expressions (on the whole URL). Start URLs are always crawled.',
  },
  'include-mode': {
    type: 'enum',
    choices: ['strict', 'prefer'],
    default: 'strict',
    doc: 'What to do with URLs that match no --include. strict: skip them. prefer: crawl them later.',
  },
  exclude: {
    type: 'list',
    split: 'pattern',
    default: [],
    placeholder: 'RE',
    doc: 'Skip URLs that match one of these regular expressions (on the whole URL), even where --include matches. Start URLs are always crawled.',
  },
  preset: {
    type: 'list',
    default: [],
    placeholder: 'NAME',
    doc: `Add a named set of include and exclude patterns: ${Object.keys(PATTERN_PRESETS).join(', ')}.`,
  },
  'skip-extensions': {
    type: 'list',
    default: [],
    check: isExtension,
    expected: 'file extensions such as pdf or tar.gz',
    placeholder: 'LIST',
    doc: 'Skip URLs whose path ends with one of these extensions, without a request. The word usual stands for images, archives, media, scripts and documents.',
  },
  'max-pages': {
    type: 'integer',
    nullable: true,
    default: null,
    min: 1,
    placeholder: 'N',
    doc: 'Stop after so many pages (robots.txt and sitemaps do not count).',
  },
  'max-depth': {
    type: 'integer',
    nullable: true,
    min: 0,
    placeholder: 'N',
    doc: 'Follow at most so many links from a start URL (in a map: from a quality domain).',
  },
  'max-domain-requests': {
    type: 'integer',
    nullable: true,
    min: 1,
    placeholder: 'N',
    doc: 'Send at most so many requests to one host in a run.',
  },
  normalize: {
    type: 'enum',
    choices: ['standard', 'terrain', 'path'],
    doc: 'Which differences between two URLs are ignored. standard: upper case, default port, #fragment, ../, order of the query, last slash. terrain: also http or https, www. and tracking parameters. path: also the query, except for --keep-query.',
  },
  'keep-query': {
    type: 'list',
    default: [],
    placeholder: 'LIST',
    doc: 'Query parameters to keep with --normalize path.',
  },
  'drop-query': {
    type: 'list',
    default: [],
    placeholder: 'LIST',
    doc: 'More query parameters to ignore, also in paths (;jsessionid=…). A star at the end stands for any ending.',
  },
  'allow-http': {
    type: 'boolean',
    doc: 'Request http URLs by http. Without it they are requested by https.',
  },
} as const satisfies OptionGroup;
