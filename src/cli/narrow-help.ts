/** Help on a terminal that has no room for two columns: a long flag stands on a line of its own. */
import { type Command, Help } from 'commander';

/** Of flags; those that are longer stand above what is said of them. */
const WIDEST_FLAG = 34;
/** Of what is said, before the flags get less. */
const LEAST_TEXT = 40;
/** Two before the flag, two behind it. */
const GAPS = 4;

const base = Help.prototype;

/** Goes by `helpWidth`; where all fits it changes nothing. */
export const NARROW_HELP: Partial<Help> = {
  minWidthToWrap: 20,
  padWidth(this: Help, command: Command, helper: Help): number {
    const whole = base.padWidth.call(this, command, helper);
    const room = (this.helpWidth ?? 80) - GAPS - LEAST_TEXT;
    return whole <= room ? whole : Math.max(10, Math.min(WIDEST_FLAG, room));
  },
  formatItem(this: Help, term: string, width: number, text: string, helper: Help): string {
    if (helper.displayWidth(term) <= width) return base.formatItem.call(this, term, width, text, helper);
    return `  ${term}\n${base.formatItem.call(this, '', width, text, helper)}`;
  },
};
