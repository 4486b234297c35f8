/** The numbers that the kernel shares with its caller, see kernel-layout.ts. */

import { STATE } from '../kernel-layout';

export function get(index: i32): i32 {
  return load<i32>(STATE + (index << 2));
}

export function set(index: i32, value: i32): void {
  store<i32>(STATE + (index << 2), value);
}

/** Four bytes as they are in memory. */
export function four(a: u32, b: u32, c: u32, d: u32): u32 {
  return a | (b << 8) | (c << 16) | (d << 24);
}
