// Types of the API (docs/reference/http.md) and of the store, for `tsc` alone: browsers do not load this file.

export interface Announce {
  tracker: string;
  error: string | null;
}

export interface Torrent {
  number: number;
  torrent: string;
  info_hash: string | null;
  info_hash_v1: string | null;
  info_hash_v2: string | null;
  name: string | null;
  content: string | null;
  folder: string | null;
  is_folder: boolean;
  move_to: string | null;
  activity: string;
  download: boolean;
  complete: boolean;
  error: string | null;
  labels: string[];
  category: string | null;
  paused: boolean;
  forced: boolean;
  queue_position: number | null;
  sequential: boolean;
  super_seeding: boolean;
  private: boolean;
  max_down: number | null;
  max_up: number | null;
  serve: boolean;
  seed_ratio: number | null;
  seed_seconds: number | null;
  idle_seconds: number | null;
  added_at: number;
  completed_at: number | null;
  active_at: number | null;
  downloading_seconds: number;
  serving_seconds: number;
  files: number;
  piece_length: number;
  pieces: number;
  trusted_pieces: number;
  total_bytes: number;
  verified_bytes: number;
  wanted_bytes: number;
  done_bytes: number;
  downloaded_bytes: number;
  uploaded_bytes: number;
  wasted_bytes: number;
  down_bytes_per_second: number;
  up_bytes_per_second: number;
  peers: number;
  seeds: number;
  seconds_left: number | null;
  announces: Announce[];
}

export interface Peer {
  address: string;
  client: string;
  progress: number;
  down_bytes_per_second: number;
  up_bytes_per_second: number;
  downloaded_bytes: number;
  uploaded_bytes: number;
  encrypted: boolean;
  utp: boolean;
  outgoing: boolean;
  web_seed: boolean;
}

export interface RateHistory {
  interval_seconds: number;
  down: number[];
  up: number[];
}

export interface Detail extends Torrent {
  have: string;
  wrong: string;
  checked: string;
  rate_history: RateHistory;
  peer_list: Peer[];
  comment: string | null;
  created_at: number | null;
  created_by: string | null;
}

export interface File {
  number: number;
  path: string;
  length_bytes: number;
  done_bytes: number | null;
  priority: string;
  wrong_pieces: number;
}

export interface FileAnswer {
  total: number;
  changeable: boolean;
  files: File[];
}

export interface Tracker {
  url: string;
  tier: number;
  state: string;
  message: string;
  failures: number;
  seeds: number | null;
  leeches: number | null;
  next_seconds: number | null;
}

/** A limit in a request: a number, a word, or null for no limit where no word stands for that. */
export type Target = number | "never" | "inherited" | null;

/** The choices of the page for a torrent that is added. */
export interface NewTorrent {
  folder?: string;
  content?: string;
  content_map?: string;
  layout?: string;
  select?: number[];
  priorities?: [number, string][];
  paused?: boolean;
  set?: { labels?: string[]; category?: string; sequential?: boolean } & Record<string, unknown>;
}

/** A category. A limit that its goal lacks is inherited. */
export interface Category {
  name: string;
  folder: string | null;
  goal: { ratio?: Target; seconds?: Target; idle_seconds?: Target };
  torrents: number;
  configured: boolean;
}

export interface Groups {
  categories: Category[];
  labels: string[];
}

/** A limit of all torrents together, by the name of its option. */
export interface SessionLimit {
  limit: string;
  value: number | null;
  configured: number | null;
  requested: boolean;
}

/** The state of the program, as far as the page uses it. */
export interface Status {
  state: string | null;
  max_down: number | null;
  max_up: number | null;
  alternative: boolean;
  adds_paused: boolean;
}

/** The settings in force, as far as the page uses them. */
export interface Config {
  port: number;
  bind: string | null;
  folders: string[];
}

export interface StreamEvent {
  full: boolean;
  changed: (Partial<Torrent> & { number: number })[];
  removed: number[];
  max_down?: number | null;
  max_up?: number | null;
  accepts_torrents?: boolean;
  detail?: Detail;
}

export interface Session {
  read: boolean;
  change: boolean;
  csrf_token: string | null;
  token_login: boolean;
  password_login: boolean;
}

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
  detail: Detail | null;
  tab: string;
}

export interface Store {
  readonly state: State;
  set(changes: Partial<State>): void;
  subscribe(listener: (state: State) => void): void;
}
