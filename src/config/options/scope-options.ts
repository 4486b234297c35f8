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
    doc: 'Start URLs beside those given as arguments; meant for the configuration file.',
  },
  urls: {
    type: 'string',
    nullable: true,
    default: null,
    expected: 'the path of a file, or -',
    placeholder: 'FILE',
    hashed: false,
    doc: 'File with more start URLs, one a line; - is standard input.',
  },
  'fetch-only': {
    type: 'boolean',
    default: false,
    doc: 'Fetch the start URLs and follow no link.',
  },
  'allowed-hosts': {
    type: 'list',
    check: isHostRule,
    expected:
      'host, subdomains, domain, any, or hosts such as example.com, *.example.com and example.com:8080',
    placeholder: 'LIST',
    doc: 'Where links are followed: host (the start hosts, each with its port), subdomains (of the start hosts), domain (their registrable domains), any, or a list of hosts and wildcards: each means every port, unless it names one.',
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
    doc: 'Regular expressions on the absolute URL; what matches one is wanted. Start URLs are exempt.',
  },
  'include-mode': {
    type: 'enum',
    choices: ['strict', 'prefer'],
    default: 'strict',
    doc: 'strict: skip what no include pattern matches. prefer: fetch it after what matches.',
  },
  exclude: {
    type: 'list',
    split: 'pattern',
    default: [],
    placeholder: 'RE',
    doc: 'Regular expressions on the absolute URL; what matches one is skipped. Wins over include; start URLs are exempt.',
  },
  preset: {
    type: 'list',
    default: [],
    placeholder: 'NAME',
    doc: `Named sets of include and exclude patterns added to yours: ${Object.keys(PATTERN_PRESETS).join(', ')}.`,
  },
  'skip-extensions': {
    type: 'list',
    default: [],
    check: isExtension,
    expected: 'file extensions such as pdf or tar.gz',
    placeholder: 'LIST',
    doc: 'Skip URLs whose path ends with one of these extensions, without asking the server for the type; the word usual stands for images, archives, media, scripts and documents.',
  },
  'max-pages': {
    type: 'integer',
    nullable: true,
    default: null,
    min: 1,
    placeholder: 'N',
    doc: 'The most pages fetched in a run; robots.txt does not count.',
  },
  'max-depth': {
    type: 'integer',
    nullable: true,
    min: 0,
    placeholder: 'N',
    doc: 'The most links between a start URL (in a map: a quality domain) and a page.',
  },
  'max-domain-requests': {
    type: 'integer',
    nullable: true,
    min: 1,
    placeholder: 'N',
    doc: 'The most requests to one host in a run.',
  },
  normalize: {
    type: 'enum',
    choices: ['standard', 'terrain', 'path'],
    doc: 'What makes two URLs one page. standard: case, port, fragment, dot segments, order of the query, trailing slash. terrain: also https, www. and tracking parameters. path: also the whole query but for keep-query.',
  },
  'keep-query': {
    type: 'list',
    default: [],
    placeholder: 'LIST',
    doc: 'Query parameters that normalize = path keeps.',
  },
  'drop-query': {
    type: 'list',
    default: [],
    placeholder: 'LIST',
    doc: 'Query parameters dropped besides those that normalize drops, also from paths (;jsessionid=…); a star at the end stands for any ending.',
  },
  'allow-http': {
    type: 'boolean',
    doc: 'Fetch http URLs as such. Without it they are fetched as https.',
  },
} as const satisfies OptionGroup;
