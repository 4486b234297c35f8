/** undici's index also loads its fetch, cache and mock code; this file alone starts in about half the CPU time. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}
