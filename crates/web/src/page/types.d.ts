// Types of the page's state, for `tsc` alone: browsers do not load this file. Those of the API are generated.

import type { Session, Torrent, TorrentDetail } from "./api.js";

export type * from "./api.js";

/** A limit in a request: a number, a word, or null for no limit where no word stands for that. */
export type Target = number | "never" | "inherited" | null;

/** The connection to the program: how it is, and when the last event came. */
export interface Connection {
  kind: "connecting" | "open" | "lost" | "full" | "refused" | "ended";
  reason: string;
  since: Date | null;
}

/** A place of the sidebar: the kind of a group and one of its values. */
export interface Facet {
  group: string;
  value: string;
}

export interface Sort {
  key: string;
  isDescending: boolean;
}

export interface State {
  session: Session;
  connection: Connection;
  torrents: Map<number, Torrent>;
  limits: { max_down: number | null; max_up: number | null };
  acceptsTorrents: boolean;
  /** Whether the program keeps torrents across restarts, with a queue, categories and settings. */
  isDaemon: boolean;
  /** The place of the sidebar whose torrents are listed. */
  facet: Facet;
  search: string;
  sort: Sort;
  /** The numbers of the torrents on which commands act. */
  selected: Set<number>;
  /** The number of the torrent in the pane. */
  chosen: number | null;
  detail: TorrentDetail | null;
  tab: string;
}

export interface Store {
  readonly state: State;
  set(changes: Partial<State>): void;
  subscribe(listener: (state: State) => void): void;
}
