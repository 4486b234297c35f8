/** An answer waits for what it has ordered only for a moment, whatever comes of it. */
import type { Clock } from '../primitives/clock.ts';

const PATIENCE_MS = 1_500;

export async function soonOver(work: Promise<unknown>, clock: Clock): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(PATIENCE_MS, resolve);
  });
  await Promise.race([work.catch(() => {}), late]);
  cancel();
}
