/** The runs of a shared store, for a worker that looks for work. */
export interface RunList {
  /** The ids of the runs under way that anybody may take part in; the last known ones while the store is away. */
  running(): Promise<number[]>;
  /** Hosts of these runs that could be asked now and that nobody holds. */
  hostsWaiting(): Promise<number>;
  /** Calls when a run may have begun. One listener. */
  onChange(listener: () => void): void;
  /** Monotonic milliseconds since the store answered last. */
  readonly silentMs: number;
  close(): Promise<void>;
}
