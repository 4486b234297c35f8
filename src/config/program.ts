/** What the program calls itself, in one place: it is written into every request and every database. */

declare const __SUMI_VERSION__: string | undefined;

export const PROGRAM_NAME = 'SumiRipple';
/** Where the owner of a site can read about the crawler. */
export const PROGRAM_URL = 'https://github.com/sumi-ripple/sumi-ripple';
/** The build writes the version of package.json in; run from source there is none. */
export const PROGRAM_VERSION = typeof __SUMI_VERSION__ === 'string' ? __SUMI_VERSION__ : 'dev';

export const PROFILE_NAMES = ['site', 'terrain', 'sql', 'conservative', 'balanced', 'aggressive'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];
