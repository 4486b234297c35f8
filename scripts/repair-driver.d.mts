import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin as VitePlugin } from 'vitest/config';

export const repairDriverPlugin: EsbuildPlugin;
export const repairDriverTransform: VitePlugin;
