// The types of the API. `cargo xtask describe` generates them. They are for `tsc` alone: browsers do not load this file.

/** The activity of a torrent. */
export type Activity = "waiting" | "metadata" | "verifying" | "confirming" | "downloading" | "moving" | "serving" | "paused" | "queued" | "absent" | "ended" | "failed";

/** The torrent that a request added, or that was present. */
export interface Added {
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** Whether the program had the torrent already. Nothing was changed then. */
  present: boolean;
  /** The name that is shown. */
  title: string;
}

/** A torrent that is added: exactly one of `link` and `metainfo`, and what a person chooses for it. */
export interface Addition {
  /** A magnet link, an info-hash, or the URL (http, https) of a .torrent file. */
  link?: string;
  /** The .torrent file in base 64. */
  metainfo?: string;
  /** What a person chooses. */
  options?: NewTorrent;
}

/** A tracker that a torrent has asked, and its last answer. */
export interface Announce {
  /** The reason why the last announcement failed, without passkeys and of at most 200 characters; null if the tracker answered. */
  error: string | null;
  /** The host of the tracker's URL, with the port if the URL names one. URLs of one host count as one tracker. */
  tracker: string;
}

/** One command for many torrents. */
export interface Batch {
  /** Whether the command is for all torrents, however many. */
  all?: boolean;
  /** The command. */
  change: Command;
  /** The torrents: numbers as integers, or texts: numbers, info-hashes, first digits of info-hashes (at least 4), or exact names. Either this or `all` is present. */
  torrents?: (number | string)[];
}

/** A name for some torrents, which get a common folder and goal. */
export interface Category {
  /** Whether the configuration has the category, so that requests cannot change it. */
  configured: boolean;
  /** Folder for the content of new torrents; null for that of the daemon. */
  folder: string | null;
  /** When its torrents have been served for long enough. */
  goal: Goal;
  /** Name of the category, by which torrents refer to it. */
  name: string;
  /** Number of torrents in the category. */
  torrents: number;
}

/** The changed fields of a torrent; all fields of a new one. */
export interface ChangedTorrent {
  /** The time when content was last received or sent, in seconds since 1970; null before. */
  active_at?: number | null;
  /** The current activity. */
  activity?: Activity;
  /** The time when the torrent was added, in seconds since 1970. */
  added_at?: number;
  /** The trackers that were asked, by host, with their last answers. */
  announces?: Announce[];
  /** The category. */
  category?: string | null;
  /** Whether everything that is wanted is present and was verified. */
  complete?: boolean;
  /** The time when the selected content was first found complete, in seconds since 1970; null before. */
  completed_at?: number | null;
  /** Path of the content; null while the metadata is unknown. */
  content?: string | null;
  /** Bytes of the selected files that are present and right. */
  done_bytes?: number;
  /** Download rate. */
  down_bytes_per_second?: number;
  /** Whether the torrent is downloaded, rather than only served. */
  download?: boolean;
  /** Bytes of content received. */
  downloaded_bytes?: number;
  /** Seconds of downloading in this process, without pauses and verifications. */
  downloading_seconds?: number;
  /** The reason why the torrent failed, or waits for its content; null if neither is the case. */
  error?: string | null;
  /** Number of files without padding; 0 while the metadata is unknown. */
  files?: number;
  /** Folder for the content, under the torrent's name; null for content that is only served under any name. */
  folder?: string | null;
  /** Whether the torrent runs without a place in the queue, which only a daemon has. */
  forced?: boolean;
  /** The torrent is served for this time without an upload; null for no limit. */
  idle_seconds?: number | null;
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1?: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2?: string | null;
  /** Whether the content is a folder, which can have a single file; `false` while the metadata is unknown. */
  is_folder?: boolean;
  /** Labels that were given to the torrent. */
  labels?: string[];
  /** Download limit of the torrent in bytes per second; null for no limit. */
  max_down?: number | null;
  /** Upload limit of the torrent in bytes per second; null for no limit. */
  max_up?: number | null;
  /** The folder that the content is being moved to, or is moved to when it is complete; null if there is none. */
  move_to?: string | null;
  /** The name that a person chose, or that of the metadata, unescaped; null while it is unknown. */
  name?: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** Whether the user paused the torrent, perhaps before its verification. */
  paused?: boolean;
  /** Number of connected peers. */
  peers?: number;
  /** Length of a piece in bytes; 0 while the metadata is unknown. */
  piece_length?: number;
  /** Number of pieces of the whole torrent, selected or not. */
  pieces?: number;
  /** Whether the torrent finds peers only by its trackers (BEP 27). */
  private?: boolean;
  /** The position in the queue of a daemon, from 0; null in other programs. */
  queue_position?: number | null;
  /** Seconds until the download is complete at this rate; null if that is unknown. */
  seconds_left?: number | null;
  /** The torrent is served until this ratio: sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; null for no limit. */
  seed_ratio?: number | null;
  /** The torrent is served for this time, in whole seconds; null for no limit. */
  seed_seconds?: number | null;
  /** Number of connected peers that have all pieces. */
  seeds?: number;
  /** Whether pieces are requested in order. */
  sequential?: boolean;
  /** Whether the content is served when it is complete. */
  serve?: boolean;
  /** Seconds of serving in this process, without pauses and verifications. */
  serving_seconds?: number;
  /** Whether a piece of complete content is offered only after the previous piece has spread (BEP 16). */
  super_seeding?: boolean;
  /** The torrent as the user named it, as in the JSON lines. A magnet link is reduced to its info-hash. */
  torrent?: string;
  /** Length of all files, selected or not. */
  total_bytes?: number;
  /** Number of present pieces that were trusted, not verified (`seed --trust`). */
  trusted_pieces?: number;
  /** Upload rate. */
  up_bytes_per_second?: number;
  /** Bytes of content sent. */
  uploaded_bytes?: number;
  /** Bytes that the running verification has read. */
  verified_bytes?: number;
  /** Length of the selected files. */
  wanted_bytes?: number;
  /** Received bytes that were wrong or already present. */
  wasted_bytes?: number;
}

/** Changes of all torrents, and the detail of one. */
export interface Changes {
  /** Whether torrents can be added. */
  accepts_torrents?: boolean;
  /** The changed fields of torrents, and all fields of new ones. */
  changed: ChangedTorrent[];
  /** The torrent that the query names. */
  detail?: TorrentDetail;
  /** Whether these are all torrents, not only changes. */
  full: boolean;
  /** Download limit in bytes per second; null for no limit. */
  max_down?: number | null;
  /** Upload limit in bytes per second; null for no limit. */
  max_up?: number | null;
  /** The numbers of torrents that were removed. */
  removed: number[];
}

/** An action, with its fields. */
export type Command = CommandPause | CommandResume | CommandEnd | CommandVerify | CommandReannounce | CommandRemove | CommandRelocate | CommandPlace | CommandSet | CommandQueue | CommandPrioritize | CommandRename | CommandAddTracker | CommandSetTrackers | CommandReplaceTracker | CommandRemoveTracker | CommandAddPeer;

/** Connects to a peer. */
export interface CommandAddPeer {
  action: "add_peer";
  /** The IP address and port of the peer: `192.0.2.1:6881` or `[2001:db8::1]:6881`. */
  address: string;
}

/** Adds the tracker with this URL, beside the present ones. */
export interface CommandAddTracker {
  action: "add_tracker";
  /** The announce URL. */
  url: string;
}

/** Ends torrents without removing their content. An incomplete download counts as failed. Only where torrents are not kept. */
export interface CommandEnd {
  action: "end";
}

/** Pauses torrents. */
export interface CommandPause {
  action: "pause";
}

/** Uses content in another folder, where it is already. */
export interface CommandPlace {
  action: "place";
  /** The folder, an absolute path: a folder in which requests may place content, or below one. */
  folder: string;
}

/** Sets the priority of files of a download. */
export interface CommandPrioritize {
  action: "prioritize";
  /** The files, by their positions without padding; empty for all. */
  files: number[];
  /** Their priority. */
  priority: Priority;
}

/** Moves torrents in the queue. */
export interface CommandQueue {
  action: "queue";
  /** Where they go: `top`, `up`, `down`, `bottom`, or a position among the others, from 0. */
  to: QueueMove;
}

/** Announces torrents to their trackers. */
export interface CommandReannounce {
  action: "reannounce";
}

/** Moves content to another folder. */
export interface CommandRelocate {
  action: "relocate";
  /** The folder, an absolute path: a folder in which requests may place content, or below one. It is created if it is absent. */
  folder: string;
}

/** Removes torrents. */
export interface CommandRemove {
  action: "remove";
  /** What becomes of their content. */
  content?: Content;
}

/** Removes a tracker. */
export interface CommandRemoveTracker {
  action: "remove_tracker";
  /** Its URL, as it is or as it is shown, with its secrets masked. */
  url: string;
}

/** Renames a file or folder of the content. Nothing that exists is replaced. */
export interface CommandRename {
  action: "rename";
  /** Its path, which starts with the name of the content. */
  from: string;
  /** Its new path, which can be in another folder. */
  to: string;
}

/** Replaces the URL of a tracker. */
export interface CommandReplaceTracker {
  action: "replace_tracker";
  /** The new URL. */
  new_url: string;
  /** The present URL, as it is or as it is shown, with its secrets masked. */
  url: string;
}

/** Resumes torrents, also those that have ended or failed. */
export interface CommandResume {
  action: "resume";
  /** Whether a daemon runs the torrents at once, without a place in the queue. */
  now?: boolean;
}

/** Changes what a person chose. Absent fields change nothing. */
export interface CommandSet {
  action: "set";
  /** A category that exists; null for none. */
  category?: string | null;
  /** Time of serving without an upload; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  idle_seconds?: number | "never" | "inherited";
  /** Labels in place of all labels before, at most 64. */
  labels?: string[];
  /** Download limit in bytes per second; null for no limit. */
  max_down?: number | null;
  /** Upload limit in bytes per second; null for no limit. */
  max_up?: number | null;
  /** Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  seed_ratio?: number | "never" | "inherited";
  /** Time of serving, without pauses; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  seed_seconds?: number | "never" | "inherited";
  /** Whether pieces are requested in order. */
  sequential?: boolean;
  /** Whether a piece of complete content is offered only after the previous piece has spread (BEP 16). */
  super_seeding?: boolean;
  /** The name to show; null for that of the metadata. */
  title?: string | null;
}

/** Uses these trackers instead of all others. */
export interface CommandSetTrackers {
  action: "set_trackers";
  /** The announce URLs of each tier. Those of one tier are tried in order, and those of the next one if all fail (BEP 12). A present URL is named as it is or with its secrets masked. */
  trackers: string[][];
}

/** Verifies content again, before all other verifications that wait. */
export interface CommandVerify {
  action: "verify";
}

/** The settings in force. */
export interface Config {
  /** The address or the network interface of all connections; null for all addresses. */
  bind: string | null;
  /** Whether peers are searched in the DHT (BEP 5). */
  dht: boolean;
  /** Whether connections to peers are encrypted. */
  encryption: "allowed" | "required" | "off";
  /** Folders in which requests may place content. */
  folders: string[];
  /** The addresses of incoming peers. */
  listen: string[];
  /** Whether peers are searched in the local network (BEP 14). */
  local_discovery: boolean;
  /** Download limit in bytes per second; null for no limit. */
  max_down: number | null;
  /** Maximum number of peers; null for that of libtorrent. */
  max_peers: number | null;
  /** Maximum length of a .torrent file. */
  max_torrent_file_bytes: number;
  /** Upload limit in bytes per second; null for no limit. */
  max_up: number | null;
  /** The port of incoming peers; 0 if the system chose one. */
  port: number;
  /** Whether routers are asked to forward the port. */
  port_mapping: boolean;
  /** The proxy, with its user name and password masked. */
  proxy: string | null;
  /** The protocols of connections to peers. */
  transport: "both" | "tcp" | "utp";
  /** Maximum number of peers that content is sent to; null for that of libtorrent. */
  upload_slots: number | null;
  /** The version of the program. */
  version: string;
}

/** Settings that can change while the client runs: those of the network, and those of all torrents together. */
export interface ConfigChange {
  /** Whether torrents that programs add start paused, if the request does not say. */
  adds_paused?: boolean;
  /** Alternative download limit in bytes per second; `never` or null for no limit, `inherited` for that of the configuration. */
  alt_max_down?: number | "never" | "inherited" | null;
  /** Alternative upload limit in bytes per second; `never` or null for no limit, `inherited` for that of the configuration. */
  alt_max_up?: number | "never" | "inherited" | null;
  /** Whether the alternative rate limits are in force. */
  alternative?: boolean;
  /** An address of this machine, or a network interface that is up; null for all addresses. */
  bind?: string | null;
  /** Time of serving without an upload, for torrents without another one; `never` or null for no limit, `inherited` for that of the configuration. */
  idle_seconds?: number | "never" | "inherited" | null;
  /** Maximum number of active downloads; `never` or null for no limit, `inherited` for that of the configuration. */
  max_active_downloads?: number | "never" | "inherited" | null;
  /** Maximum number of complete torrents that are served; `never` or null for no limit, `inherited` for that of the configuration. */
  max_active_uploads?: number | "never" | "inherited" | null;
  /** Download limit in bytes per second; `never` or null for no limit, `inherited` for that of the configuration. */
  max_down?: number | "never" | "inherited" | null;
  /** Upload limit in bytes per second; `never` or null for no limit, `inherited` for that of the configuration. */
  max_up?: number | "never" | "inherited" | null;
  /** The port of incoming peers; 0 lets the system choose. */
  port?: number;
  /** Ratio for torrents without another one: sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` or null for no limit, `inherited` for that of the configuration. */
  seed_ratio?: number | "never" | "inherited" | null;
  /** Time of serving, for torrents without another one; `never` or null for no limit, `inherited` for that of the configuration. */
  seed_seconds?: number | "never" | "inherited" | null;
}

/** Whether the content of a torrent that is removed stays on the disk. */
export type Content = "keep" | "delete";

/** Whether content has a folder of its own. */
export type ContentLayout = "original" | "subfolder" | "no_subfolder";

/** A file of a torrent. Padding is left out. */
export interface File {
  /** Bytes that are present and right; null if the torrent is not in the session and not complete. */
  done_bytes: number | null;
  /** Length in the torrent, not on disk. */
  length_bytes: number;
  /** The position among the files without padding. */
  number: number;
  /** Path below the folder of the torrent. */
  path: string;
  /** The priority. Files of a torrent that is only served are normal. */
  priority: Priority;
  /** Number of pieces with bytes of the file whose content was wrong at the last verification or on arrival, and that are not right again. */
  wrong_pieces: number;
}

/** Some files of a torrent. */
export interface Files {
  /** Whether priorities can be changed, as for a download. */
  changeable: boolean;
  /** Files in the order of the torrent. */
  files: File[];
  /** Number of all files, without padding. */
  total: number;
}

/** Limits of serving. The first one that is reached ends it. An absent limit is that of the labels or the daemon, and `never` is no limit. */
export interface Goal {
  /** Time of serving without an upload. */
  idle_seconds?: number | "never";
  /** Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received. */
  ratio?: number | "never";
  /** Time of serving. */
  seconds?: number | "never";
}

/** A change of the categories or labels: an action, with its fields. */
export type GroupChange = GroupChangeSetCategory | GroupChangeRemoveCategories | GroupChangeAddLabels | GroupChangeRemoveLabels;

/** Makes labels that do not exist. */
export interface GroupChangeAddLabels {
  action: "add_labels";
  /** The labels. */
  labels: string[];
}

/** Removes categories. Their torrents stay, without a category. */
export interface GroupChangeRemoveCategories {
  action: "remove_categories";
  /** Names of categories. */
  names: string[];
}

/** Removes labels, from their torrents too. */
export interface GroupChangeRemoveLabels {
  action: "remove_labels";
  /** The labels. */
  labels: string[];
}

/** Makes a category, or changes it. Absent fields change nothing. */
export interface GroupChangeSetCategory {
  action: "set_category";
  /** Folder for the content of new torrents, an absolute path in which requests may place content; null for that of the daemon. */
  folder?: string | null;
  /** Time of serving without an upload; `never` for no limit, `inherited` for that of the labels or the daemon. */
  idle_seconds?: number | "never" | "inherited";
  /** The name, which is not empty, and has no commas and no control characters. A category that does not exist is made. */
  name?: string;
  /** Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` for no limit, `inherited` for that of the labels or the daemon. */
  seed_ratio?: number | "never" | "inherited";
  /** Time of serving, without pauses; `never` for no limit, `inherited` for that of the labels or the daemon. */
  seed_seconds?: number | "never" | "inherited";
}

/** Categories and labels by name, also those without torrents. */
export interface Groups {
  /** The categories, by their names. */
  categories: Category[];
  /** The labels, by their names. */
  labels: string[];
}

/** A torrent that is added from a URL. */
export interface Job {
  /** The reason why the torrent was not added. */
  error: string | null;
  /** The number of the job. */
  id: number;
  /** How far the job is. */
  state: Progress;
  /** The torrent, if the program has it now. */
  torrent: Named | null;
}

/** A limit of all torrents together. */
export interface Limit {
  /** The limit of the options and the configuration; null for no limit. */
  configured: number | null;
  /** The long name of its option, such as `max-down`. */
  limit: string;
  /** Whether a request has set the limit, which then wins over the configuration. */
  requested: boolean;
  /** The limit in the unit of the option, seconds for a time; null for no limit. */
  value: number | null;
}

/** A link that needs no further credentials. */
export interface Link {
  /** The time after which the token is refused. */
  lifetime_seconds: number;
  /** The URL, with a token in its query. */
  url: string;
}

/** What a link leads to. */
export interface LinkRequest {
  /** The number of a file; without it, the largest audio or video file. */
  file?: number;
  /** Whether the link leads to the playlist of all audio and video files. Then `file` is absent. */
  playlist?: boolean;
}

/** The credentials of a login. */
export type Login = TokenLogin | PasswordLogin;

/** A torrent as answers name it. */
export interface Named {
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** The name that is shown. */
  title: string;
}

/** Choices for a torrent that is added. Absent fields leave the choice to the program. */
export interface NewTorrent {
  /** The content itself under any name, an absolute path. It is served, and never written. Not with `folder`. */
  content?: string;
  /** At the socket of a daemon: the text of a content map with the torrent, in base 64. The files that it names are read, and never written. Not with `content`. */
  content_map?: string;
  /** Folder for the content, under the torrent's name: an absolute path. Requests may place content there, or in a folder above it. Without this field, it is that of the category, or of the program. */
  folder?: string;
  /** Whether the content has a folder of its own. */
  layout?: ContentLayout;
  /** Whether the torrent starts paused. Without this field, `adds_paused` of the settings decides. */
  paused?: boolean;
  /** Priorities of files, each with the position of the file, without padding. */
  priorities?: ([number, Priority])[];
  /** Positions of the selected files of a .torrent file, without padding. All files without this field. Not for a link. */
  select?: number[];
  /** What can be changed later, too. */
  set?: Patch;
}

export interface PasswordLogin {
  /** The password. */
  password: string;
  /** The user name. */
  user: string;
}

/** Changes of what a person chose for a torrent. Absent fields change nothing. */
export interface Patch {
  /** A category that exists; null for none. */
  category?: string | null;
  /** Time of serving without an upload; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  idle_seconds?: number | "never" | "inherited";
  /** Labels in place of all labels before, at most 64. */
  labels?: string[];
  /** Download limit in bytes per second; null for no limit. */
  max_down?: number | null;
  /** Upload limit in bytes per second; null for no limit. */
  max_up?: number | null;
  /** Sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  seed_ratio?: number | "never" | "inherited";
  /** Time of serving, without pauses; `never` for no limit, `inherited` for that of the category, the labels or the daemon. */
  seed_seconds?: number | "never" | "inherited";
  /** Whether pieces are requested in order. */
  sequential?: boolean;
  /** Whether a piece of complete content is offered only after the previous piece has spread (BEP 16). */
  super_seeding?: boolean;
  /** The name to show; null for that of the metadata. */
  title?: string | null;
}

/** A connected peer. */
export interface Peer {
  /** The address of the peer. */
  address: string;
  /** The client's name, as the peer reports it, of at most 500 characters. */
  client: string;
  /** Payload received from the peer, in bytes per second. */
  down_bytes_per_second: number;
  /** Bytes of payload received from the peer. */
  downloaded_bytes: number;
  /** Whether the connection is encrypted. */
  encrypted: boolean;
  /** Whether this session opened the connection. The peer then listens on this address. */
  outgoing: boolean;
  /** The peer's share of the torrent, from 0 to 1. */
  progress: number;
  /** Payload sent to the peer, in bytes per second. */
  up_bytes_per_second: number;
  /** Bytes of payload sent to the peer. */
  uploaded_bytes: number;
  /** Whether the connection uses uTP. */
  utp: boolean;
  /** Whether the peer is a web seed (BEP 19). */
  web_seed: boolean;
}

/** The priority of a file. */
export type Priority = "skip" | "low" | "normal" | "high";

/** The body of every error (RFC 9457). `type` is absent: the status says what the error is. */
export interface Problem {
  /** The reason of this error, for people. */
  detail: string;
  /** The status. */
  status: number;
  /** The name of the status. */
  title: string;
}

/** How far a job is. */
export type Progress = "fetching" | "added" | "present" | "failed";

/** Where torrents are moved in the queue. They keep the order that they have among each other. */
export type QueueMove = "top" | "up" | "down" | "bottom" | number;

/** Rates of the last minutes in bytes per second, the oldest first. */
export interface RateHistory {
  /** Download rates. */
  down: number[];
  /** Time between two values. */
  interval_seconds: number;
  /** Upload rates. */
  up: number[];
}

/** The answer to another reading of the configuration. */
export interface Reloaded {
  /** Long names of the options that have changed since the start and need a restart. */
  restart: string[];
}

/** What became of one torrent of a batch. */
export interface Result {
  /** The reason why nothing changed. */
  error: string | null;
  /** The torrent; null if there is none, or if several fit. */
  found: Named | null;
  /** The status that a request for this torrent alone would have had. */
  status: number;
  /** The torrent as the request named it, or its number. */
  torrent: string;
}

/** The answer to a batch. */
export interface Results {
  /** The result of each torrent, in the order of the request. */
  results: Result[];
}

/** Something that a rule sets for a torrent. */
export interface RuleEffect {
  /** Whether a person chose another value for the torrent, which wins. */
  overridden: boolean;
  /** The name of the rule: the first one that sets it. */
  rule: string;
  /** The key of the configuration: `seed-ratio`, `seed-time`, `idle-time`, `max-down`, `max-up`, `throttle`, `keep-seeders`, `category` or `label`. */
  setting: string;
  /** The value: times in seconds, rates in bytes per second; `never` for no limit. */
  value: string;
}

/** The rules of a daemon, and what they set. */
export interface Rules {
  /** The names of the rules, in their order. */
  rules: string[];
  /** The torrents for which a rule sets something, in the order of the queue. */
  torrents: TorrentRules[];
}

/** What the program that asks may do, and how it can log in. */
export interface Session {
  /** Whether requests may change something. */
  change: boolean;
  /** The value of the header `X-CSRF-Token` of this session. */
  csrf_token: string | null;
  /** Whether a user name and a password are accepted. */
  password_login: boolean;
  /** Whether requests may read. */
  read: boolean;
  /** Whether a token is accepted. */
  token_login: boolean;
}

/** The space of the file system of a folder. */
export interface Space {
  /** Bytes that can be written. */
  free_bytes: number;
  /** All bytes. */
  total_bytes: number;
}

export interface Statistics {
  /** Bytes of content received, in a daemon across restarts. */
  all_downloaded_bytes: number;
  /** Bytes of content sent, in a daemon across restarts. */
  all_uploaded_bytes: number;
  /** Number of known nodes of the DHT, at most 5 seconds old; null if the DHT is off. */
  dht_nodes: number | null;
  /** Bytes of content received since the start. */
  downloaded_bytes: number;
  /** Whether a peer has connected since the start from an address that is not of a local network. */
  incoming_connections: boolean;
  /** Addresses with ports on which peers are accepted now. */
  listening: string[];
  /** Seconds since the start. */
  seconds: number;
  /** Bytes of content sent since the start. */
  uploaded_bytes: number;
}

/** The state of a program that has torrents. */
export interface Status {
  /** Whether torrents that programs add start paused, if the request does not say. */
  adds_paused: boolean;
  /** Whether the alternative rate limits are on. */
  alternative: boolean;
  /** Download rate of all torrents. */
  down_bytes_per_second: number;
  /** Number of torrents that are downloaded now. */
  downloading: number;
  /** Number of torrents that failed, have ended, or wait because of an error or for their content. */
  failed: number;
  /** Download limit in force in bytes per second, with the schedule and the alternative limits; null for no limit. */
  max_down: number | null;
  /** Upload limit in force in bytes per second, with the schedule and the alternative limits; null for no limit. */
  max_up: number | null;
  /** Number of torrents that are paused. */
  paused: number;
  /** Files of the state folder that cannot be used, and the reason why there are no connections. */
  problems: string[];
  /** Process ID of the program. */
  process: number;
  /** Number of torrents that wait for their turn in the queue. */
  queued: number;
  /** Bytes of content received, in a daemon since its state folder was made. */
  received_bytes: number;
  /** The limits that requests have set, which win over the configuration, by the long names of their options. */
  requested_limits: string[];
  /** Bytes of content sent, in a daemon since its state folder was made. */
  sent_bytes: number;
  /** Number of torrents that are served now. */
  serving: number;
  /** The state folder of a daemon; null in other programs. */
  state: string | null;
  /** Number of torrents, whatever they do. */
  torrents: number;
  /** Upload rate of all torrents. */
  up_bytes_per_second: number;
  /** Number of torrents that are verified now, or wait for it. */
  verifying: number;
  /** The version of the program. */
  version: string;
}

export interface TokenLogin {
  /** The token. */
  token: string;
}

/** The state of one torrent. */
export interface Torrent {
  /** The time when content was last received or sent, in seconds since 1970; null before. */
  active_at: number | null;
  /** The current activity. */
  activity: Activity;
  /** The time when the torrent was added, in seconds since 1970. */
  added_at: number;
  /** The trackers that were asked, by host, with their last answers. */
  announces: Announce[];
  /** The category. */
  category: string | null;
  /** Whether everything that is wanted is present and was verified. */
  complete: boolean;
  /** The time when the selected content was first found complete, in seconds since 1970; null before. */
  completed_at: number | null;
  /** Path of the content; null while the metadata is unknown. */
  content: string | null;
  /** Bytes of the selected files that are present and right. */
  done_bytes: number;
  /** Download rate. */
  down_bytes_per_second: number;
  /** Whether the torrent is downloaded, rather than only served. */
  download: boolean;
  /** Bytes of content received. */
  downloaded_bytes: number;
  /** Seconds of downloading in this process, without pauses and verifications. */
  downloading_seconds: number;
  /** The reason why the torrent failed, or waits for its content; null if neither is the case. */
  error: string | null;
  /** Number of files without padding; 0 while the metadata is unknown. */
  files: number;
  /** Folder for the content, under the torrent's name; null for content that is only served under any name. */
  folder: string | null;
  /** Whether the torrent runs without a place in the queue, which only a daemon has. */
  forced: boolean;
  /** The torrent is served for this time without an upload; null for no limit. */
  idle_seconds: number | null;
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2: string | null;
  /** Whether the content is a folder, which can have a single file; `false` while the metadata is unknown. */
  is_folder: boolean;
  /** Labels that were given to the torrent. */
  labels: string[];
  /** Download limit of the torrent in bytes per second; null for no limit. */
  max_down: number | null;
  /** Upload limit of the torrent in bytes per second; null for no limit. */
  max_up: number | null;
  /** The folder that the content is being moved to, or is moved to when it is complete; null if there is none. */
  move_to: string | null;
  /** The name that a person chose, or that of the metadata, unescaped; null while it is unknown. */
  name: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** Whether the user paused the torrent, perhaps before its verification. */
  paused: boolean;
  /** Number of connected peers. */
  peers: number;
  /** Length of a piece in bytes; 0 while the metadata is unknown. */
  piece_length: number;
  /** Number of pieces of the whole torrent, selected or not. */
  pieces: number;
  /** Whether the torrent finds peers only by its trackers (BEP 27). */
  private: boolean;
  /** The position in the queue of a daemon, from 0; null in other programs. */
  queue_position: number | null;
  /** Seconds until the download is complete at this rate; null if that is unknown. */
  seconds_left: number | null;
  /** The torrent is served until this ratio: sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; null for no limit. */
  seed_ratio: number | null;
  /** The torrent is served for this time, in whole seconds; null for no limit. */
  seed_seconds: number | null;
  /** Number of connected peers that have all pieces. */
  seeds: number;
  /** Whether pieces are requested in order. */
  sequential: boolean;
  /** Whether the content is served when it is complete. */
  serve: boolean;
  /** Seconds of serving in this process, without pauses and verifications. */
  serving_seconds: number;
  /** Whether a piece of complete content is offered only after the previous piece has spread (BEP 16). */
  super_seeding: boolean;
  /** The torrent as the user named it, as in the JSON lines. A magnet link is reduced to its info-hash. */
  torrent: string;
  /** Length of all files, selected or not. */
  total_bytes: number;
  /** Number of present pieces that were trusted, not verified (`seed --trust`). */
  trusted_pieces: number;
  /** Upload rate. */
  up_bytes_per_second: number;
  /** Bytes of content sent. */
  uploaded_bytes: number;
  /** Bytes that the running verification has read. */
  verified_bytes: number;
  /** Length of the selected files. */
  wanted_bytes: number;
  /** Received bytes that were wrong or already present. */
  wasted_bytes: number;
}

/** A torrent with its pieces and peers. */
export interface TorrentDetail {
  /** The time when content was last received or sent, in seconds since 1970; null before. */
  active_at: number | null;
  /** The current activity. */
  activity: Activity;
  /** The time when the torrent was added, in seconds since 1970. */
  added_at: number;
  /** The trackers that were asked, by host, with their last answers. */
  announces: Announce[];
  /** The category. */
  category: string | null;
  /** While the torrent is verified, a bit for each piece, set if its state is known; then `have` and `wrong` are those of this verification. Empty at other times. */
  checked: string;
  /** The comment in the .torrent file, at most 2,000 characters. */
  comment: string | null;
  /** Whether everything that is wanted is present and was verified. */
  complete: boolean;
  /** The time when the selected content was first found complete, in seconds since 1970; null before. */
  completed_at: number | null;
  /** Path of the content; null while the metadata is unknown. */
  content: string | null;
  /** The time when the torrent was made, in seconds since 1970, as its author says. */
  created_at: number | null;
  /** The program that made the torrent, at most 2,000 characters. */
  created_by: string | null;
  /** Bytes of the selected files that are present and right. */
  done_bytes: number;
  /** Download rate. */
  down_bytes_per_second: number;
  /** Whether the torrent is downloaded, rather than only served. */
  download: boolean;
  /** Bytes of content received. */
  downloaded_bytes: number;
  /** Seconds of downloading in this process, without pauses and verifications. */
  downloading_seconds: number;
  /** The reason why the torrent failed, or waits for its content; null if neither is the case. */
  error: string | null;
  /** Number of files without padding; 0 while the metadata is unknown. */
  files: number;
  /** Folder for the content, under the torrent's name; null for content that is only served under any name. */
  folder: string | null;
  /** Whether the torrent runs without a place in the queue, which only a daemon has. */
  forced: boolean;
  /** A bit for each piece, set if the piece is present, in base 64. The first piece is the highest bit of the first byte. */
  have: string;
  /** The torrent is served for this time without an upload; null for no limit. */
  idle_seconds: number | null;
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2: string | null;
  /** Whether the content is a folder, which can have a single file; `false` while the metadata is unknown. */
  is_folder: boolean;
  /** Labels that were given to the torrent. */
  labels: string[];
  /** Download limit of the torrent in bytes per second; null for no limit. */
  max_down: number | null;
  /** Upload limit of the torrent in bytes per second; null for no limit. */
  max_up: number | null;
  /** The folder that the content is being moved to, or is moved to when it is complete; null if there is none. */
  move_to: string | null;
  /** The name that a person chose, or that of the metadata, unescaped; null while it is unknown. */
  name: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** Whether the user paused the torrent, perhaps before its verification. */
  paused: boolean;
  /** The peers with the highest rates. */
  peer_list: Peer[];
  /** Number of connected peers. */
  peers: number;
  /** Length of a piece in bytes; 0 while the metadata is unknown. */
  piece_length: number;
  /** Number of pieces of the whole torrent, selected or not. */
  pieces: number;
  /** Whether the torrent finds peers only by its trackers (BEP 27). */
  private: boolean;
  /** The position in the queue of a daemon, from 0; null in other programs. */
  queue_position: number | null;
  /** Rates of the last minutes. */
  rate_history: RateHistory;
  /** Seconds until the download is complete at this rate; null if that is unknown. */
  seconds_left: number | null;
  /** The torrent is served until this ratio: sent bytes as a multiple of the received bytes, or of the selected files if fewer bytes were received; null for no limit. */
  seed_ratio: number | null;
  /** The torrent is served for this time, in whole seconds; null for no limit. */
  seed_seconds: number | null;
  /** Number of connected peers that have all pieces. */
  seeds: number;
  /** Whether pieces are requested in order. */
  sequential: boolean;
  /** Whether the content is served when it is complete. */
  serve: boolean;
  /** Seconds of serving in this process, without pauses and verifications. */
  serving_seconds: number;
  /** Whether a piece of complete content is offered only after the previous piece has spread (BEP 16). */
  super_seeding: boolean;
  /** The torrent as the user named it, as in the JSON lines. A magnet link is reduced to its info-hash. */
  torrent: string;
  /** Length of all files, selected or not. */
  total_bytes: number;
  /** Number of present pieces that were trusted, not verified (`seed --trust`). */
  trusted_pieces: number;
  /** Upload rate. */
  up_bytes_per_second: number;
  /** Bytes of content sent. */
  uploaded_bytes: number;
  /** Bytes that the running verification has read. */
  verified_bytes: number;
  /** Length of the selected files. */
  wanted_bytes: number;
  /** Received bytes that were wrong or already present. */
  wasted_bytes: number;
  /** A bit for each piece, set if its content was wrong at the last verification or on arrival. */
  wrong: string;
}

/** An info-hash of version 1 or 2, or the number of the torrent. */
export type TorrentId = string;

/** What rules set for a torrent. */
export interface TorrentRules {
  /** What is set, and by which rule. */
  effects: RuleEffect[];
  /** The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown. */
  info_hash: string | null;
  /** The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown. */
  info_hash_v1: string | null;
  /** The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown. */
  info_hash_v2: string | null;
  /** Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets the number. */
  number: number;
  /** Whether the torrent runs and has reached its goal, so that the daemon pauses it, or limits its uploads (`throttle`). */
  reached_goal: boolean;
  /** The name that is shown. */
  title: string;
}

/** The state of all torrents of a client. */
export interface Torrents {
  /** Whether torrents can be added. */
  accepts_torrents: boolean;
  /** Download limit in bytes per second; null for no limit. */
  max_down: number | null;
  /** Upload limit in bytes per second; null for no limit. */
  max_up: number | null;
  /** The torrents in the order of their numbers. Numbers of torrents that were removed are missing. */
  torrents: Torrent[];
}

/** A tracker of a torrent. */
export interface Tracker {
  /** Number of failed announcements since the last answer. */
  failures: number;
  /** Peers without all pieces, if the tracker has reported their number. */
  leeches: number | null;
  /** The tracker's message or the error, without passwords and passkeys, of at most 500 characters. */
  message: string;
  /** Seconds until the next announcement. */
  next_seconds: number | null;
  /** Peers with all pieces, if the tracker has reported their number. */
  seeds: number | null;
  /** Whether the tracker answers. */
  state: TrackerState;
  /** Trackers of a higher tier are contacted if all lower ones fail (BEP 12). */
  tier: number;
  /** The URL, without passwords and passkeys. */
  url: string;
}

/** What became of the last announcements to a tracker, which is asked from each address of this machine. */
export type TrackerState = "unused" | "failed" | "updating" | "working";

/** Some trackers of a torrent, without passwords and passkeys. */
export interface Trackers {
  /** Number of all trackers. */
  total: number;
  /** The trackers. */
  trackers: Tracker[];
}
