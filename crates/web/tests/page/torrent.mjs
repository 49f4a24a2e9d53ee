// @ts-check
// Torrents for the tests of the page.

/** @typedef {import("../../src/page/types.js").Torrent} Torrent */

/**
 * Returns a torrent that is served, with some other fields.
 * @param {number} number
 * @param {Partial<Torrent>} [fields]
 * @returns {Torrent}
 */
export const torrent = (number, fields = {}) => ({
  number,
  torrent: `${number}.torrent`,
  info_hash: null,
  info_hash_v1: null,
  info_hash_v2: null,
  name: `torrent ${number}`,
  content: `/srv/torrent ${number}`,
  folder: "/srv",
  is_folder: false,
  move_to: null,
  activity: "serving",
  download: false,
  complete: true,
  error: null,
  labels: [],
  category: null,
  paused: false,
  forced: false,
  queue_position: null,
  sequential: false,
  super_seeding: false,
  private: false,
  max_down: null,
  max_up: null,
  serve: true,
  seed_ratio: null,
  seed_seconds: null,
  idle_seconds: null,
  added_at: 0,
  completed_at: null,
  active_at: null,
  downloading_seconds: 0,
  serving_seconds: 0,
  files: 1,
  piece_length: 16384,
  pieces: 10,
  trusted_pieces: 0,
  total_bytes: 163840,
  verified_bytes: 0,
  wanted_bytes: 163840,
  done_bytes: 163840,
  downloaded_bytes: 0,
  uploaded_bytes: 0,
  wasted_bytes: 0,
  down_bytes_per_second: 0,
  up_bytes_per_second: 0,
  peers: 0,
  seeds: 0,
  seconds_left: null,
  announces: [],
  ...fields,
});

/**
 * Returns the detail of a torrent without pieces and peers.
 * @param {Torrent} one
 * @returns {import("../../src/page/types.js").TorrentDetail}
 */
export const detailOf = (one) => ({
  ...one,
  have: "",
  wrong: "",
  checked: "",
  rate_history: { interval_seconds: 2, down: [], up: [] },
  peer_list: [],
  comment: null,
  created_at: null,
  created_by: null,
});
