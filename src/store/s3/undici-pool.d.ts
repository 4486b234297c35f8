/** undici's index loads its fetch, cache and mock code too; this file alone starts in about half the CPU time. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}
