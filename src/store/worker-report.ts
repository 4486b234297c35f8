/** What a worker tells of itself, for `sumi workers`. */
export interface WorkerReport {
  hosts: number;
  pages: number;
}
