/** Mouse, pen and fingers on the map: one drags, two pinch, a press that does not move chooses, the wheel zooms. */
import type { Camera } from './camera.ts';

/** A hand is never quite still. */
const STILL_PX = 4;

export interface PointerWishes {
  hover(x: number, y: number): void;
  leave(): void;
  choose(x: number, y: number): void;
}

export function listenToPointers(canvas: HTMLElement, camera: Camera, wishes: PointerWishes): void {
  const down = new Map<number, { x: number; y: number }>();
  let travelled = 0;

  const placeOf = (event: MouseEvent) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, placeOf(event));
  });

  canvas.addEventListener('pointermove', (event) => {
    const now = placeOf(event);
    const last = down.get(event.pointerId);
    if (last === undefined) {
      if (event.pointerType !== 'touch') wishes.hover(now.x, now.y);
      return;
    }
    travelled += Math.hypot(now.x - last.x, now.y - last.y);
    down.set(event.pointerId, now);
    if (travelled < STILL_PX) return;
    wishes.leave();
    canvas.classList.add('is-held');
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      camera.pan(now.x - last.x, now.y - last.y);
      return;
    }
    const distance = (place: { x: number; y: number }) => Math.hypot(place.x - other.x, place.y - other.y);
    camera.pan((now.x - last.x) / 2, (now.y - last.y) / 2);
    camera.zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, distance(now) / Math.max(1, distance(last)));
  });

  const release = (event: PointerEvent) => {
    const last = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (down.size === 0) canvas.classList.remove('is-held');
    if (event.type === 'pointerup' && last !== undefined && down.size === 0 && travelled < STILL_PX) {
      wishes.choose(last.x, last.y);
    }
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => wishes.leave());
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const { x, y } = placeOf(event);
      // Lines and pages to pixels; a pinch on a touchpad comes as a wheel with small steps.
      const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      camera.zoomAt(x, y, Math.exp(-Math.max(-300, Math.min(300, pixels)) * speed));
    },
    { passive: false },
  );
}
