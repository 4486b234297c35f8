/** Named lists of patterns. Plain data; a preset adds to the patterns of the user. */
export interface PatternPreset {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

const NON_CONTENT = ['/products/', '/account/', '/cart/', '/checkout/', '/policies/', '/apps/'];

export const PATTERN_PRESETS = {
  shopify: { include: ['/collections/', '/pages/'], exclude: NON_CONTENT },
  'non-content': { include: [], exclude: NON_CONTENT },
} as const satisfies Readonly<Record<string, PatternPreset>>;

export type PatternPresetName = keyof typeof PATTERN_PRESETS;
