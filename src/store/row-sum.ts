/**
 * Counts rows and adds up their 64-bit hashes, so that two stores can be compared whatever the order in which they give
 * their rows. A row that is missing, changed or there twice gives another sum.
 */
import { hash } from 'node:crypto';

const WORD = 0x1_0000_0000;

export class RowSum {
  rows = 0;
  #high = 0;
  #low = 0;

  add(row: readonly unknown[]): void {
    const digest = hash('sha256', JSON.stringify(row), 'buffer');
    this.rows++;
    const low = this.#low + digest.readUInt32BE(4);
    this.#low = low % WORD;
    this.#high = (this.#high + digest.readUInt32BE(0) + Math.floor(low / WORD)) % WORD;
  }

  /** 16 hex digits. */
  get checksum(): string {
    return [this.#high, this.#low].map((word) => word.toString(16).padStart(8, '0')).join('');
  }
}
