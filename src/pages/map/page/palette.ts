/** The colours of the style sheet, for drawing by script; read again when the page turns light or dark. */
export interface Palette {
  paper: string;
  ink: string;
  grey: string;
  /** Ink as numbers, for washes of it: "29 27 25". */
  wash: string;
  quality: string;
  stub: string;
  blacklist: string;
  incoming: string;
  outgoing: string;
  focus: string;
  /** Discovered domains by depth: the ink thins out with every ring. */
  tones: string[];
  toneUnknown: string;
  sans: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: value('paper'),
    ink: value('ink'),
    grey: value('grey'),
    wash: value('wash'),
    quality: value('quality'),
    stub: value('stub'),
    blacklist: value('blacklist'),
    incoming: value('incoming'),
    outgoing: value('outgoing'),
    focus: value('focus'),
    tones: ['tone-1', 'tone-2', 'tone-3', 'tone-4'].map(value),
    toneUnknown: value('tone-unknown'),
    sans: value('sans'),
  };
}

export function onPaletteChange(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
}
