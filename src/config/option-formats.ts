/** Texts that take more than a regular expression to recognize, by the `format` that JSON Schema gives them. */

import { isStoreAddress } from '../primitives/store-address.ts';
import { isAuthText, isCookieText, isHeaderLine } from './request-headers.ts';
import { isBodiesRule, isFilePath, isHostRule, isHttpUrl } from './text-checks.ts';
import { authorizationOf } from './url-credentials.ts';
import { readHours, readRate, readWords } from './watch-values.ts';

const isWebAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

export const FORMATS = {
  'bodies-rule': isBodiesRule,
  'command-line': (text: string) => readWords(text) !== null,
  cookie: isCookieText,
  'day-hours': (text: string) => readHours(text) !== null,
  /** Passwords of sites go to the origins of the start URLs, by options that are never stored. */
  'feed-address': (text: string) => isWebAddress(text) && authorizationOf(new URL(text)) === null,
  'file-path': isFilePath,
  'header-line': isHeaderLine,
  'host-rule': isHostRule,
  'http-url': isHttpUrl,
  'store-address': isStoreAddress,
  'user-and-password': isAuthText,
  'visit-rate': (text: string) => readRate(text) !== null,
  'web-address': isWebAddress,
} as const satisfies Record<string, (text: string) => boolean>;

export type FormatName = keyof typeof FORMATS;
