/** The numbers that the kernel shares with its caller, see kernel-layout.ts. */

import { STATE } from '../kernel-layout';

export function get(index: i32): i32 {
  return load<i32>(STATE + (index << 2));
}

export function set(index: i32, value: i32): void {
  store<i32>(STATE + (index << 2), value);
}
