/* SHA-1, SHA-2, MD5 and HMAC of one message or of many at once, tree hashes, torrents, and Base58Check, for C99 and C++.
 *
 * Every function that can fail returns HASHLANE_ERROR_NONE, which is 0, or the reason. hashlane_error_message() describes
 * the reason. A pointer to data may be NULL if its length is 0. All lengths are in bytes.
 *
 * Functions without handles can be called from any thread. Engines, HMAC keys, torrents and reports never change: any
 * number of threads may use one at the same time. One call at a time uses a hasher, a MAC in progress or a queue. Another
 * call with the same handle, on another thread or in a callback, changes nothing and returns HASHLANE_ERROR_BUSY.
 *
 * Each handle is freed once, by the function `..._free` of its type, after its last use. Freeing NULL does nothing. No thread
 * uses a handle while another one frees it.
 *
 * Arguments have one order: the handle that the function works on, or the engine and then the algorithm; the `tag` or what is
 * passed to callbacks with a message; other handles; the input, each pointer before its length; callbacks and their context;
 * the results.
 *
 * Structures that the caller allocates start with `struct_size`, which the caller sets to `sizeof` the structure. All other
 * bytes are 0: `hashlane_counts counts = {.struct_size = sizeof counts};`. Versions of the library only append fields, so a
 * program and a library of different versions understand each other. The library writes no byte beyond `struct_size`, and
 * leaves fields that it does not know at 0. A function fails with HASHLANE_ERROR_STRUCT_SIZE if `struct_size` is 0 or
 * otherwise the size of no version, or if a byte beyond the fields that it knows is not 0.
 *
 * This file is generated: HASHLANE_UPDATE=1 cargo test --package hashlane-capi --test it abi::
 */

#ifndef HASHLANE_H
#define HASHLANE_H

#include <stddef.h>
#include <stdint.h>

/**
 * The length of a SHA-1 digest in bytes.
 */
#define HASHLANE_SHA1_LEN 20

/**
 * The length of a SHA-256 digest in bytes.
 */
#define HASHLANE_SHA256_LEN 32

/**
 * The length of a SHA-224 digest in bytes.
 */
#define HASHLANE_SHA224_LEN 28

/**
 * The length of a SHA-384 digest in bytes.
 */
#define HASHLANE_SHA384_LEN 48

/**
 * The length of a SHA-512 digest in bytes.
 */
#define HASHLANE_SHA512_LEN 64

/**
 * The length of an MD5 digest in bytes.
 */
#define HASHLANE_MD5_LEN 16

/**
 * The length of the longest digest of all algorithms in bytes.
 */
#define HASHLANE_MAX_DIGEST_LEN 64

/**
 * The maximum length of a .torrent file that `hashlane_torrent_open()` reads, in bytes.
 */
#define HASHLANE_MAX_TORRENT_LEN (32 << 20)

/**
 * The maximum length in bytes of a payload and of a text to encode or decode. The time grows with
 * the square of the length.
 */
#define HASHLANE_BASE58_MAX_LEN 1024

/**
 * Letters may have lost their case. A flag of `hashlane_recover()`.
 */
#define HASHLANE_DAMAGE_CASE 1

/**
 * Characters may have been replaced by similar ones. A flag of `hashlane_recover()`.
 */
#define HASHLANE_DAMAGE_GLYPHS 2

/**
 * The reason why a call failed. `HASHLANE_ERROR_NONE` is 0. Later versions may add codes.
 */
typedef enum {
    /**
     * The call succeeded.
     */
    HASHLANE_ERROR_NONE = 0,
    /**
     * A pointer is NULL but must not be.
     */
    HASHLANE_ERROR_NULL_POINTER = 1,
    /**
     * A length is greater than `PTRDIFF_MAX`, which no object in memory can have.
     */
    HASHLANE_ERROR_LENGTH_TOO_LARGE = 2,
    /**
     * The number names no algorithm.
     */
    HASHLANE_ERROR_UNKNOWN_ALGORITHM = 3,
    /**
     * The text names no backend.
     */
    HASHLANE_ERROR_UNKNOWN_BACKEND = 4,
    /**
     * This CPU lacks a feature that the backend needs.
     */
    HASHLANE_ERROR_UNAVAILABLE_BACKEND = 5,
    /**
     * The tag belongs to another message or to another key.
     */
    HASHLANE_ERROR_TAG_MISMATCH = 6,
    /**
     * The tag is not as long as a MAC of the algorithm, or as the truncated tags of the protocol.
     */
    HASHLANE_ERROR_TAG_LENGTH = 7,
    /**
     * The length of the messages is 0, so their number is unknown.
     */
    HASHLANE_ERROR_ZERO_MESSAGE_LENGTH = 8,
    /**
     * The number of digests or elements is wrong.
     */
    HASHLANE_ERROR_WRONG_COUNT = 9,
    /**
     * There is not enough memory for the work space of the call.
     */
    HASHLANE_ERROR_OUT_OF_MEMORY = 10,
    /**
     * Another call uses the handle: on another thread, or the call whose callback is running. Or a
     * queue has a part of the hasher's message. The call has changed nothing.
     */
    HASHLANE_ERROR_BUSY = 11,
    /**
     * An internal error. Free the handles of the call and do not use them otherwise.
     */
    HASHLANE_ERROR_INTERNAL = 12,
    /**
     * The hasher belongs to another algorithm than the queue.
     */
    HASHLANE_ERROR_WRONG_ALGORITHM = 13,
    /**
     * The buffer is too small for the text or for the bytes. Nothing is written to it.
     */
    HASHLANE_ERROR_BUFFER_TOO_SMALL = 14,
    /**
     * The index is not less than the number of elements.
     */
    HASHLANE_ERROR_INDEX_TOO_LARGE = 15,
    /**
     * The system cannot read a file. `hashlane_error_details()` names the file.
     */
    HASHLANE_ERROR_SYSTEM = 16,
    /**
     * The bytes are not a torrent, or the torrent cannot be used. `hashlane_error_details()` names
     * the place.
     */
    HASHLANE_ERROR_INVALID_TORRENT = 17,
    /**
     * The torrent has no hashes of this algorithm.
     */
    HASHLANE_ERROR_NO_SUCH_HASHES = 18,
    /**
     * The callback cancelled the call.
     */
    HASHLANE_ERROR_CANCELLED = 19,
    /**
     * The number names no alphabet of Base58.
     */
    HASHLANE_ERROR_UNKNOWN_ALPHABET = 20,
    /**
     * The text is not Base58Check, or not a pattern of a Base58Check string.
     * `hashlane_error_details()` names the place.
     */
    HASHLANE_ERROR_INVALID_TEXT = 21,
    /**
     * The text names no kind of Base58Check string.
     */
    HASHLANE_ERROR_UNKNOWN_KIND = 22,
    /**
     * The search has too many candidates or too many matches.
     */
    HASHLANE_ERROR_SEARCH_TOO_LARGE = 23,
    /**
     * The length of truncated tags is below the minimum of RFC 2104, or above the length of a MAC.
     */
    HASHLANE_ERROR_TRUNCATED_LENGTH = 24,
    /**
     * A pointer is not aligned for the type that it points to.
     */
    HASHLANE_ERROR_MISALIGNED_POINTER = 25,
    /**
     * `struct_size` is 0 or otherwise the size of no version of the structure, or a byte beyond
     * the fields that this library knows is not 0.
     */
    HASHLANE_ERROR_STRUCT_SIZE = 26,
    /**
     * The number has a bit that is none of the flags `HASHLANE_DAMAGE_...` of this library.
     */
    HASHLANE_ERROR_UNKNOWN_DAMAGE = 27,
    /**
     * The text names no tree hash.
     */
    HASHLANE_ERROR_UNKNOWN_TREE = 28,
    /**
     * The tree hash does not have such parameters. `hashlane_error_details()` has the reason.
     */
    HASHLANE_ERROR_TREE_PARAMETER = 29,
    /**
     * A file is too short or too long for the tree hash, or changed while it was read. Or an entry
     * cannot be part of the result of a folder, or a hash device has no usable superblock.
     * `hashlane_error_details()` names the file.
     */
    HASHLANE_ERROR_UNUSABLE_FILE = 30,
    /**
     * The digest belongs to another file or folder. `hashlane_error_details()` names the file.
     */
    HASHLANE_ERROR_DIGEST_MISMATCH = 31,
} hashlane_error;

/**
 * A choice of kernels, one for each number of messages. An engine never changes, and threads may
 * share it.
 *
 * Functions with an engine accept NULL for the best engine of this CPU, which is chosen once per
 * process.
 */
typedef struct hashlane_engine hashlane_engine;

/**
 * The state of one message that arrives in parts. One call at a time uses a hasher.
 *
 * While another thread uses the hasher, and while a part of the message is in a queue, all
 * functions but `hashlane_hasher_free()` fail with `HASHLANE_ERROR_BUSY`: see
 * `hashlane_queue_submit_part()`.
 */
typedef struct hashlane_hasher hashlane_hasher;

/**
 * A key for any number of messages. It never changes, and threads may share it.
 */
typedef struct hashlane_hmac_key hashlane_hmac_key;

/**
 * A queue that hashes messages as they arrive: SHA-1 and SHA-256 as many at once as there are
 * lanes, other algorithms one by one as soon as they are submitted. One call at a time uses a
 * queue: calls on other threads, and calls in the callback, fail with `HASHLANE_ERROR_BUSY`.
 */
typedef struct hashlane_queue hashlane_queue;

/**
 * The MAC of one message that arrives in parts. One call at a time uses it: other calls fail with
 * `HASHLANE_ERROR_BUSY`.
 */
typedef struct hashlane_mac hashlane_mac;

/**
 * The result of a verification. It never changes, and threads may share it.
 */
typedef struct hashlane_report hashlane_report;

/**
 * A torrent. It never changes, and threads may share it.
 */
typedef struct hashlane_torrent hashlane_torrent;

/**
 * The result of `hashlane_verity_check()` and `hashlane_idsig_check()`. It never changes, and
 * threads may share it.
 */
typedef struct hashlane_verity_report hashlane_verity_report;

/**
 * The number of an algorithm, for example `HASHLANE_SHA256`.
 *
 * All functions accept all algorithms. `hashlane_digest_many()`, `hashlane_digest_chunks()` and
 * `hashlane_hmac_many()` hash many messages at once, each in a lane of a vector. Queues do so for
 * SHA-1 and SHA-256, and hash one message at a time for the others.
 */
typedef uint32_t hashlane_algorithm;

/**
 * The parameters of tree hashes, and how they are computed. A field that is 0 or NULL has its
 * usual value.
 */
typedef struct {
    /**
     * Set by the caller: the size of this structure in bytes.
     */
    size_t struct_size;
    /**
     * The salt of `fsverity`, `fsverity-sha512` and `dmverity`. Usually none.
     */
    const uint8_t *salt;
    /**
     * The length of the salt in bytes.
     */
    size_t salt_len;
    /**
     * The number of threads that read and hash. Usually one for each CPU.
     */
    size_t n_threads;
    /**
     * The length of a block of `fsverity`, `fsverity-sha512` and `dmverity` in bytes. Usually
     * 4096.
     */
    uint64_t block_len;
    /**
     * The length of a part of `s3-etag`, `s3-sha1` and `s3-sha256` in bytes. Usually 8 MiB, and
     * for `hashlane_tree_check()` what follows from the number of parts.
     */
    uint64_t part_len;
    /**
     * The length of a block of the hash device of `dmverity` in bytes. Usually `block_len`.
     */
    uint64_t hash_block_len;
    /**
     * The number of blocks of `dmverity` at the start of the file. Bytes after them are not hashed.
     * Usually all: a file whose length is no multiple of that of a block is then an error.
     */
    uint64_t data_blocks;
    /**
     * The position of the superblock in the `hash_device` to write in bytes: a multiple of 512.
     */
    uint64_t hash_offset;
    /**
     * The hash function of `dmverity`: `HASHLANE_SHA1`, `HASHLANE_SHA256` or `HASHLANE_SHA512`.
     * Usually SHA-256. fs-verity with SHA-512 has the name `fsverity-sha512`.
     */
    hashlane_algorithm hash;
    /**
     * 1 for format 0 of `dmverity`, that of Chrome OS. Usually format 1.
     */
    uint32_t is_chrome_os;
    /**
     * The 16 bytes of the UUID of the `hash_device` to write. Usually made of the root hash.
     */
    const uint8_t *uuid;
    /**
     * The patterns of files and folders to leave out of a folder, as of the option `-x` of the
     * command `hashlane sum`, in UTF-8: of `git`, `git-sha256` and the names with `cid`.
     */
    const char *const *excludes;
    /**
     * The number of patterns.
     */
    size_t n_excludes;
    /**
     * The path of a file to write the tree of `fsverity`, `fsverity-sha512` or `apk-idsig` to.
     */
    const char *out_merkle_tree;
    /**
     * The path of a file to write the descriptor of `fsverity` or `fsverity-sha512` to.
     */
    const char *out_descriptor;
    /**
     * The path of a file to write the hash device of `dmverity` to: the superblock and the tree.
     */
    const char *hash_device;
    /**
     * 1 to replace files that exist. Usually such a file is an error. The number has 64 bits, so
     * that the structure does not end with padding.
     */
    uint64_t overwrite;
} hashlane_tree_options;

/**
 * The numbers of a report.
 */
typedef struct {
    /**
     * Set by the caller: the size of this structure in bytes.
     */
    size_t struct_size;
    /**
     * The number of blocks of the data that the device has digests of.
     */
    uint64_t n_blocks;
    /**
     * The number of bytes of the data that the device has no digests of.
     */
    uint64_t bytes_beyond;
    /**
     * The number of blocks of the data whose digests differ from those in the device.
     */
    uint64_t n_damaged;
    /**
     * The number of blocks of the device whose digests differ from those in the blocks above them.
     */
    uint64_t n_device_damaged;
} hashlane_verity_counts;

/**
 * A function that receives the digest of a message, with the `tag`, the `message` and the
 * `message_len` that were submitted. `digest` has `hashlane_digest_len()` bytes, and
 * is valid until the function returns. `digest` is NULL if the message is a part and not the last
 * one. The library does not use the bytes of the message any more, so the function may free or
 * change them.
 *
 * The function must return. It must not throw an exception through the library or leave with
 * `longjmp()`. Calls with the same queue fail inside the function with `HASHLANE_ERROR_BUSY`,
 * except `hashlane_queue_free()`.
 */
typedef void (*hashlane_digest_callback)(void *tag,
                                         const void *message,
                                         size_t message_len,
                                         const uint8_t *digest);

/**
 * Lengths and counts, by which a caller sizes its buffers.
 */
typedef struct {
    /**
     * Set by the caller: the size of this structure in bytes.
     */
    size_t struct_size;
    /**
     * The length of the content in bytes, including padding.
     */
    uint64_t content_len;
    /**
     * The length of a piece in bytes. The last piece can be shorter; in version 2, the last piece
     * of each file can be shorter.
     */
    uint64_t piece_len;
    /**
     * The number of files, including padding and symbolic links.
     */
    size_t n_files;
    /**
     * Number of bits of a bitfield of the torrent.
     */
    size_t n_pieces;
} hashlane_torrent_sizes;

/**
 * The number of pieces in each state. Every piece has one of these states.
 */
typedef struct {
    /**
     * Set by the caller, or by the library in `hashlane_verify_progress`: the size of this
     * structure in bytes.
     */
    size_t struct_size;
    /**
     * Not verified, because the verification was cancelled.
     */
    uint32_t n_unchecked;
    /**
     * Present and correct.
     */
    uint32_t n_have;
    /**
     * Present and wrong, with at least one byte that is not zero.
     */
    uint32_t n_bad;
    /**
     * Present, but in a file that is wrong at an unknown position.
     */
    uint32_t n_unproven;
    /**
     * Missing, because a file does not exist or is too short, or wrong and all zeros on the disk.
     */
    uint32_t n_missing;
    /**
     * The system could not read a file.
     */
    uint32_t n_unreadable;
} hashlane_counts;

/**
 * The progress of a verification. Later versions may append fields.
 *
 * The structure has no `struct_size`, because the library allocates it. A program that reads a
 * field of a later version needs that version of the library.
 */
typedef struct {
    /**
     * The number of verified bytes.
     */
    uint64_t done_bytes;
    /**
     * The number of bytes to verify.
     */
    uint64_t total_bytes;
    /**
     * The number of pieces in each state.
     */
    const hashlane_counts *counts;
} hashlane_verify_progress;

/**
 * A function that receives the progress of a verification, with the `context` of the call.
 * `progress` is valid until the function returns. The function returns 0 to continue, and any
 * other number to cancel the verification. It runs on the thread of the call.
 *
 * The function must return. It must not throw an exception through the library or leave with
 * `longjmp()`.
 */
typedef int (*hashlane_verify_callback)(void *context, const hashlane_verify_progress *progress);

/**
 * The state of a piece: one of `HASHLANE_PIECE_...`.
 */
typedef uint8_t hashlane_piece_state;

/**
 * The state of a file: one of `HASHLANE_FILE_...`.
 */
typedef uint32_t hashlane_file_state;

/**
 * The state of one file.
 */
typedef struct {
    /**
     * Set by the caller: the size of this structure in bytes.
     */
    size_t struct_size;
    /**
     * The index of the file in the torrent, for `hashlane_torrent_file_path()`.
     */
    size_t file;
    /**
     * The length in bytes according to the torrent.
     */
    uint64_t len;
    /**
     * The length in bytes on the disk, or 0 if the file does not exist or was not opened.
     */
    uint64_t len_on_disk;
    /**
     * The first piece with bytes of the file.
     */
    uint32_t first_piece;
    /**
     * The number of pieces with bytes of the file. Neighbouring files can share pieces.
     */
    uint32_t n_pieces;
    /**
     * The number of these pieces that are present and correct.
     */
    uint32_t n_have;
    /**
     * One of `HASHLANE_FILE_...`.
     */
    hashlane_file_state state;
} hashlane_file_report;

/**
 * The number of an alphabet: `HASHLANE_BASE58_BITCOIN` or `HASHLANE_BASE58_RIPPLE`.
 */
typedef uint32_t hashlane_alphabet;

/**
 * A string whose checksum matches. The pointers are valid until the callback returns. Later
 * versions may append fields.
 *
 * The structure has no `struct_size`, because the library allocates it. A program that reads a
 * field of a later version needs that version of the library.
 */
typedef struct {
    /**
     * The string, followed by a NUL.
     */
    const char *text;
    /**
     * The name of the kind, for example `p2pkh`, followed by a NUL.
     */
    const char *kind;
    /**
     * The payload, version first, without the checksum.
     */
    const uint8_t *payload;
    /**
     * The length of the payload in bytes.
     */
    size_t payload_len;
    /**
     * The number of characters that differ from the damaged text, not counting letter case and
     * unknown characters.
     */
    uint32_t n_edits;
    /**
     * 1 if the string is a private key or a seed, otherwise 0.
     */
    int is_secret;
} hashlane_recover_hit;

/**
 * A function that receives the hits and the progress of a search, with the `context` of the call.
 * `hit` is NULL if there is only progress. `progress` is the completed fraction of the work (0 to
 * 1). The function returns 0 to continue, and any other number to cancel the search. It runs on
 * the thread of the call.
 *
 * The function must return. It must not throw an exception through the library or leave with
 * `longjmp()`.
 */
typedef int (*hashlane_recover_callback)(void *context,
                                         const hashlane_recover_hit *hit,
                                         double progress);

/**
 * SHA-1 (FIPS 180-4). Attackers can make messages with equal digests.
 */
#define HASHLANE_SHA1 1

/**
 * SHA-256 (FIPS 180-4).
 */
#define HASHLANE_SHA256 2

/**
 * SHA-224 (FIPS 180-4).
 */
#define HASHLANE_SHA224 3

/**
 * SHA-384 (FIPS 180-4).
 */
#define HASHLANE_SHA384 4

/**
 * SHA-512 (FIPS 180-4).
 */
#define HASHLANE_SHA512 5

/**
 * MD5 (RFC 1321). Attackers can make messages with equal digests.
 */
#define HASHLANE_MD5 6

/**
 * Not verified, because the verification was cancelled.
 */
#define HASHLANE_PIECE_UNCHECKED 0

/**
 * Present and correct.
 */
#define HASHLANE_PIECE_HAVE 1

/**
 * Present and wrong, with at least one byte that is not zero.
 */
#define HASHLANE_PIECE_BAD 2

/**
 * Present, but in a file that is wrong at an unknown position: the torrent has one hash for the
 * whole file (BEP 52).
 */
#define HASHLANE_PIECE_UNPROVEN 3

/**
 * Missing, because a file does not exist or is too short, or wrong and all zeros on the disk.
 */
#define HASHLANE_PIECE_MISSING 4

/**
 * The system could not read a file.
 */
#define HASHLANE_PIECE_UNREADABLE 5

/**
 * Not verified, because the verification was cancelled.
 */
#define HASHLANE_FILE_UNCHECKED 0

/**
 * All pieces are present and correct, or the symbolic link has the target in the torrent.
 */
#define HASHLANE_FILE_WHOLE 1

/**
 * The file exists, but some of its pieces are missing or wrong, or the symbolic link has another
 * target.
 */
#define HASHLANE_FILE_PARTIAL 2

/**
 * The file does not exist.
 */
#define HASHLANE_FILE_MISSING 3

/**
 * The system could not open or read the file.
 */
#define HASHLANE_FILE_UNREADABLE 4

/**
 * The alphabet of Bitcoin and of nearly all other systems.
 */
#define HASHLANE_BASE58_BITCOIN 1

/**
 * The alphabet of the XRP Ledger.
 */
#define HASHLANE_BASE58_RIPPLE 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the English message of an error code, in lower case and without a full stop. The text is
 * constant and is never freed. Unknown codes also have a message.
 *
 * Thread-safe.
 */
const char *hashlane_error_message(int error);

/**
 * Returns the detailed message of the last failed call on this thread. Pass the error that the
 * call returned. The message names the file, the place and the reason if they are known; otherwise
 * it is the message of `hashlane_error_message()`, as always in destructors at the end of the
 * thread. It is valid until the next failed call on this thread, and until the thread ends.
 *
 * Thread-safe.
 */
const char *hashlane_error_details(int error);

/**
 * Returns the version of the library, for example `0.1.0`. The text is constant and is never
 * freed.
 *
 * Thread-safe.
 */
const char *hashlane_version(void);

/**
 * Returns the length in bytes of a digest or MAC of the algorithm, or 0 if no algorithm has this
 * number.
 *
 * Thread-safe.
 */
size_t hashlane_digest_len(hashlane_algorithm algorithm_id);

/**
 * Returns the name of a backend, for example `sha-ni`, or NULL if `index` is not less than the
 * number of backends. Indexes from 0 on list every backend of the library, including those that
 * this CPU cannot run. The text is constant and is never freed.
 *
 * Thread-safe.
 */
const char *hashlane_backend_name(size_t index);

/**
 * Writes a new engine to `*engine`. The engine uses the backend with this name, and `portable` for
 * the numbers of messages for which `portable` is faster. If `backend` is NULL, the engine uses
 * the best backends of this CPU.
 *
 * Fails with `HASHLANE_ERROR_UNKNOWN_BACKEND` or `HASHLANE_ERROR_UNAVAILABLE_BACKEND`. `*engine`
 * is then NULL. Free the engine with `hashlane_engine_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `backend` is NULL or ends with a NUL. `engine` points to a writable pointer.
 */
hashlane_error hashlane_engine_new(const char *backend, hashlane_engine **engine);

/**
 * Frees an engine. Hashers, keys and queues that were made with the engine stay usable. NULL is
 * ignored.
 *
 * # Safety
 * `engine` comes from `hashlane_engine_new()`, is freed once, and is not used afterwards.
 */
void hashlane_engine_free(hashlane_engine *engine);

/**
 * Returns the name of the backend that hashes `n_messages` available messages at once, for example
 * `avx512`, or NULL if the engine does not hash with this algorithm. The text is constant and is
 * never freed.
 *
 * Thread-safe.
 *
 * # Safety
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
const char *hashlane_engine_backend(const hashlane_engine *engine,
                                    hashlane_algorithm algorithm_id,
                                    size_t n_messages);

/**
 * Returns the number of messages that keep every lane busy, at least 1, or 0 if no algorithm has
 * this number. `hashlane_digest_many()` is fastest with at least this many messages. The number is
 * 1 for algorithms other than SHA-1 and SHA-256.
 *
 * Thread-safe.
 *
 * # Safety
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
size_t hashlane_engine_lanes(const hashlane_engine *engine, hashlane_algorithm algorithm_id);

/**
 * Writes the digest of the `message_len` bytes at `message` to `digest`, `hashlane_digest_len()`
 * bytes. The digest may overwrite the message. `engine` may be NULL.
 *
 * Thread-safe.
 *
 * # Safety
 * `message` points to `message_len` readable bytes, and `digest` to as many writable bytes as a
 * digest has. `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_digest(const hashlane_engine *engine,
                               hashlane_algorithm algorithm_id,
                               const void *message,
                               size_t message_len,
                               uint8_t *digest);

/**
 * Writes the digest of the bytes of a file to `digest`, `hashlane_digest_len()` bytes. `engine`
 * may be NULL. The file may be a pipe or a device, which is read to its end.
 *
 * Fails with `HASHLANE_ERROR_SYSTEM`, with details, if the file cannot be read. Nothing is written
 * to `digest` then.
 *
 * Thread-safe.
 *
 * # Safety
 * `path` ends with a NUL. `digest` points to as many writable bytes as a digest has.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_digest_file(const hashlane_engine *engine,
                                    hashlane_algorithm algorithm_id,
                                    const char *path,
                                    uint8_t *digest);

/**
 * Writes the tree hash of a file or folder as text to the `capacity` bytes at `text`, followed by
 * a NUL. Sets `*text_len` to the length of the text without the NUL, even if the text does not
 * fit; `text_len` may be NULL. No text is longer than 255 bytes.
 *
 * `name` is the name of the tree hash, as for the option `-a` of the command `hashlane sum`, for
 * example `fsverity`, `dmverity`, `cid`, `git` or `s3-etag`. `path` is the path of a regular file.
 * For `git`, `git-sha256` and the names with `cid`, it may be that of a folder: the text is then
 * that of the tree that Git gives to the folder without `.git`, or the CID of the folder.
 * `options` may be NULL for the usual parameters, and `engine` may be NULL.
 *
 * The files that `options` names are written as a whole and on the disk when the function
 * succeeds. If it fails with another error than `HASHLANE_ERROR_BUFFER_TOO_SMALL`, they are not
 * written, except that the first of two stays if the second one cannot get its name.
 *
 * Fails with `HASHLANE_ERROR_UNKNOWN_TREE`, `HASHLANE_ERROR_UNKNOWN_ALGORITHM`,
 * `HASHLANE_ERROR_TREE_PARAMETER`, `HASHLANE_ERROR_UNUSABLE_FILE`, `HASHLANE_ERROR_SYSTEM`,
 * `HASHLANE_ERROR_STRUCT_SIZE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`. The details of
 * `HASHLANE_ERROR_UNUSABLE_FILE` and `HASHLANE_ERROR_SYSTEM` name the file, also in a folder.
 * `HASHLANE_ERROR_SYSTEM` is also that of a file that cannot be written, or exists and may not be
 * replaced.
 *
 * Thread-safe.
 *
 * # Safety
 * `name` and `path` end with a NUL. `options` is NULL or points to `struct_size` readable bytes.
 * Its `salt` is NULL or points to `salt_len` readable bytes, its `uuid` is NULL or points to 16
 * readable bytes, and its `excludes` is NULL or points to `n_excludes` texts. Its paths are NULL or
 * end with a NUL, and the texts end with a NUL. `text` points to `capacity`
 * writable bytes. `text_len` is NULL or points to a writable number. `engine` is NULL or comes
 * from `hashlane_engine_new()`.
 */
hashlane_error hashlane_tree_digest(const hashlane_engine *engine,
                                    const char *name,
                                    const char *path,
                                    const hashlane_tree_options *options,
                                    char *text,
                                    size_t capacity,
                                    size_t *text_len);

/**
 * Checks that a file or folder has the tree hash `expected`. The case of hexadecimal digits makes
 * no difference, and neither do quotes around an `ETag`. The other arguments are those of
 * `hashlane_tree_digest()`.
 *
 * Fails with `HASHLANE_ERROR_DIGEST_MISMATCH` if the file or folder has another tree hash, with
 * `HASHLANE_ERROR_TREE_PARAMETER` if `expected` is no result of the tree hash with these
 * parameters or if `options` names files to write, with `HASHLANE_ERROR_UNUSABLE_FILE` also if several lengths of parts are possible,
 * so that `part_len` is needed, and otherwise as `hashlane_tree_digest()` does.
 *
 * Thread-safe.
 *
 * # Safety
 * `name`, `path` and `expected` end with a NUL. `options` is as for `hashlane_tree_digest()`. `engine` is NULL
 * or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_tree_check(const hashlane_engine *engine,
                                   const char *name,
                                   const char *path,
                                   const hashlane_tree_options *options,
                                   const char *expected);

/**
 * Checks data against a hash device of dm-verity, as `veritysetup verify` does, and writes the
 * report to `*report`, or NULL if the function fails. Free it with `hashlane_verity_report_free()`.
 * Damaged blocks are part of the report, not errors.
 *
 * The superblock of the hash device has the parameters. The `root_len` bytes at `root` are the
 * root hash that the device must have, from a trusted place; `root` may be NULL. Without it, the
 * report only says that data and device belong together. Data of one block needs it. The root hash
 * does not cover the number of blocks: compare the length of the data, too. `hash_offset` is the
 * position of the superblock in bytes, usually 0. The device can be the file of the data.
 * `n_threads` is the number of threads, and 0 one for each CPU. `engine` may be NULL.
 *
 * Fails with `HASHLANE_ERROR_TREE_PARAMETER` if `root` has another length than the digests of the
 * device, or is needed and NULL, with `HASHLANE_ERROR_UNUSABLE_FILE` if a file is too short or
 * changed, or if the device has no usable superblock, or with `HASHLANE_ERROR_SYSTEM`. All have
 * details.
 *
 * Thread-safe.
 *
 * # Safety
 * `data_path` and `device_path` end with a NUL. `root` is NULL or points to `root_len` readable
 * bytes. `report` points to a writable pointer. `engine` is NULL or comes from
 * `hashlane_engine_new()`.
 */
hashlane_error hashlane_verity_check(const hashlane_engine *engine,
                                     const char *data_path,
                                     const char *device_path,
                                     uint64_t hash_offset,
                                     const uint8_t *root,
                                     size_t root_len,
                                     size_t n_threads,
                                     hashlane_verity_report **report);

/**
 * Checks a package of Android against the root hash and the tree in its signature file of version
 * 4 (`.apk.idsig`), and writes the report to `*report`, or NULL if the function fails. Free it with
 * `hashlane_verity_report_free()`. The device of the report is the tree, whose block 0 is its
 * first one. Damaged blocks are part of the report, not errors.
 *
 * The signatures are not checked, so the report only says that package and signature file belong
 * together. Without a tree, which is optional, only the root hash shows damage. `n_threads` is the
 * number of threads, and 0 one for each CPU. `engine` may be NULL.
 *
 * Fails with `HASHLANE_ERROR_UNUSABLE_FILE` if a file changed or `idsig_path` is no signature file,
 * has the tree of a package of another length, or a root hash with a salt, or with
 * `HASHLANE_ERROR_SYSTEM`. Both have details.
 *
 * Thread-safe.
 *
 * # Safety
 * `package_path` and `idsig_path` end with a NUL. `report` points to a writable pointer. `engine` is
 * NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_idsig_check(const hashlane_engine *engine,
                                    const char *package_path,
                                    const char *idsig_path,
                                    size_t n_threads,
                                    hashlane_verity_report **report);

/**
 * Frees a report. NULL is ignored.
 *
 * # Safety
 * `report` comes from this library, is freed once, and is not used afterwards.
 */
void hashlane_verity_report_free(hashlane_verity_report *report);

/**
 * Returns 1 if no block is damaged, the root hash is the expected one or none is expected, and the
 * device has digests of all bytes of the data. Otherwise, and for NULL, returns 0.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` is NULL or comes from this library.
 */
int hashlane_verity_report_is_right(const hashlane_verity_report *report);

/**
 * Writes the numbers of a report to `*counts`, whose `struct_size` the caller has set.
 *
 * Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `counts` points to `struct_size` readable and writable bytes.
 */
hashlane_error hashlane_verity_report_counts(const hashlane_verity_report *report,
                                             hashlane_verity_counts *counts);

/**
 * Writes the root hash of the device in hexadecimal digits to the `capacity` bytes at `text`,
 * followed by a NUL. Sets `*text_len` to the length of the text without the NUL, even if the text
 * does not fit; `text_len` may be NULL. The text has at most 128 digits.
 *
 * Fails with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `text` points to `capacity` writable bytes. `text_len` is NULL
 * or points to a writable number.
 */
hashlane_error hashlane_verity_report_root(const hashlane_verity_report *report,
                                           char *text,
                                           size_t capacity,
                                           size_t *text_len);

/**
 * Writes the first block of a range of damaged blocks to `*first`, and the last one to `*last`.
 * `in_device` is 0 for blocks of the data, and otherwise for those of the device. Block 0 of a hash
 * device starts with the superblock. To list all ranges, increment `index` from 0 until the function
 * fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`. At most 1000 ranges of each are kept.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `first` and `last` point to writable numbers.
 */
hashlane_error hashlane_verity_report_damaged(const hashlane_verity_report *report,
                                              int in_device,
                                              size_t index,
                                              uint64_t *first,
                                              uint64_t *last);

/**
 * Writes a new hasher with an empty message to `*hasher`, or NULL if the function fails. `engine`
 * may be NULL. Free the hasher with `hashlane_hasher_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `hasher` points to a writable pointer.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_hasher_new(const hashlane_engine *engine,
                                   hashlane_algorithm algorithm_id,
                                   hashlane_hasher **hasher);

/**
 * Appends the `part_len` bytes at `part` to the message.
 *
 * # Safety
 * `hasher` comes from this library. `part` points to `part_len` readable bytes.
 */
hashlane_error hashlane_hasher_update(hashlane_hasher *hasher, const void *part, size_t part_len);

/**
 * Writes the digest of the message to `digest`, `hashlane_digest_len()` bytes. The
 * message of the hasher is empty afterwards. If the function fails, the hasher keeps its message.
 *
 * # Safety
 * `hasher` comes from this library. `digest` points to as many writable bytes as a digest has.
 */
hashlane_error hashlane_hasher_finish(hashlane_hasher *hasher, uint8_t *digest);

/**
 * Makes the message of the hasher empty.
 *
 * # Safety
 * `hasher` comes from this library.
 */
hashlane_error hashlane_hasher_reset(hashlane_hasher *hasher);

/**
 * Writes a copy of the hasher with its message to `*copy`, or NULL if the function fails. Free the
 * copy with `hashlane_hasher_free()`.
 *
 * # Safety
 * `hasher` comes from this library. `copy` points to a writable pointer.
 */
hashlane_error hashlane_hasher_clone(const hashlane_hasher *hasher, hashlane_hasher **copy);

/**
 * Frees a hasher. If a queue has a part of its message, the part stays in the queue, and the
 * callback receives it. NULL is ignored.
 *
 * # Safety
 * `hasher` comes from this library, is freed once, and is not used afterwards.
 */
void hashlane_hasher_free(hashlane_hasher *hasher);

/**
 * Writes the MAC of the `message_len` bytes at `message` under the `key_len` bytes at `key` to
 * `mac`, `hashlane_digest_len()` bytes. `engine` may be NULL. For a key that is used more than
 * once, `hashlane_hmac_key_new()` is faster.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` points to `key_len` readable bytes, `message` to `message_len` readable bytes, and `mac`
 * to as many writable bytes as a digest has. `engine` is NULL or comes from
 * `hashlane_engine_new()`.
 */
hashlane_error hashlane_hmac(const hashlane_engine *engine,
                             hashlane_algorithm algorithm_id,
                             const void *key,
                             size_t key_len,
                             const void *message,
                             size_t message_len,
                             uint8_t *mac);

/**
 * Writes a new key of the `key_len` bytes at `key` to `*hmac_key`, or NULL if the function fails.
 * The bytes are not needed afterwards. FIPS 198-1 requires at least half as many bytes as a digest
 * has; this function accepts any length. `engine` may be NULL. Free the key with
 * `hashlane_hmac_key_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` points to `key_len` readable bytes, and `hmac_key` to a writable pointer.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_hmac_key_new(const hashlane_engine *engine,
                                     hashlane_algorithm algorithm_id,
                                     const void *key,
                                     size_t key_len,
                                     hashlane_hmac_key **hmac_key);

/**
 * Wipes a key from memory and frees it. A MAC in progress has a copy of the key and stays usable.
 * NULL is ignored.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`, is freed once, and is not used afterwards.
 */
void hashlane_hmac_key_free(hashlane_hmac_key *key);

/**
 * Writes the MAC of the `message_len` bytes at `message` to `mac`, `hashlane_digest_len()` bytes.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` readable bytes,
 * and `mac` to as many writable bytes as a digest has.
 */
hashlane_error hashlane_hmac_key_mac(const hashlane_hmac_key *key,
                                     const void *message,
                                     size_t message_len,
                                     uint8_t *mac);

/**
 * Checks that the `tag_len` bytes at `tag` are the whole MAC of the `message_len` bytes at
 * `message`. The comparison takes constant time. Fails with `HASHLANE_ERROR_TAG_MISMATCH` or
 * `HASHLANE_ERROR_TAG_LENGTH`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to
 * `tag_len` readable bytes.
 */
hashlane_error hashlane_hmac_key_verify(const hashlane_hmac_key *key,
                                        const void *message,
                                        size_t message_len,
                                        const uint8_t *tag,
                                        size_t tag_len);

/**
 * Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of a
 * message, for protocols that truncate MACs. The comparison takes constant time. `truncated_len`
 * comes from the protocol, not from the sender, who chooses `tag_len`.
 *
 * Fails with `HASHLANE_ERROR_TRUNCATED_LENGTH` if `truncated_len` is less than 10 bytes or than
 * half of a MAC (RFC 2104, section 5), or more than the length of a MAC. Otherwise it fails like
 * `hashlane_hmac_key_verify()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to
 * `tag_len` readable bytes.
 */
hashlane_error hashlane_hmac_key_verify_truncated(const hashlane_hmac_key *key,
                                                  const void *message,
                                                  size_t message_len,
                                                  const uint8_t *tag,
                                                  size_t tag_len,
                                                  size_t truncated_len);

/**
 * Writes a new MAC in progress with an empty message to `*hmac`, or NULL if the function fails.
 * Free it with `hashlane_mac_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `hmac` points to a writable pointer.
 */
hashlane_error hashlane_mac_new(const hashlane_hmac_key *key, hashlane_mac **hmac);

/**
 * Appends the `part_len` bytes at `part` to the message.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `part` points to `part_len` readable bytes.
 */
hashlane_error hashlane_mac_update(hashlane_mac *hmac, const void *part, size_t part_len);

/**
 * Writes the MAC of the message to `mac`, `hashlane_digest_len()` bytes. The message is
 * empty afterwards. If the function fails, the message is kept.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `mac` points to as many writable bytes as a digest has.
 */
hashlane_error hashlane_mac_finish(hashlane_mac *hmac, uint8_t *mac);

/**
 * Checks that the `tag_len` bytes at `tag` are the whole MAC of the message. The comparison takes
 * constant time. Fails like `hashlane_hmac_key_verify()`. The message is empty afterwards.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `tag` points to `tag_len` readable bytes.
 */
hashlane_error hashlane_mac_verify(hashlane_mac *hmac, const uint8_t *tag, size_t tag_len);

/**
 * Checks that the `tag_len` bytes at `tag` are the first `truncated_len` bytes of the MAC of the
 * message. Fails like `hashlane_hmac_key_verify_truncated()`. The message is empty afterwards.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `tag` points to `tag_len` readable bytes.
 */
hashlane_error hashlane_mac_verify_truncated(hashlane_mac *hmac,
                                             const uint8_t *tag,
                                             size_t tag_len,
                                             size_t truncated_len);

/**
 * Wipes a MAC in progress from memory and frees it. NULL is ignored.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`, is freed once, and is not used afterwards.
 */
void hashlane_mac_free(hashlane_mac *hmac);

/**
 * Writes the digests of many messages, in the order of the messages. Message `i` has the
 * `message_lens[i]` bytes at `messages[i]`. Its digest starts at `digests + i * n`, where `n` is
 * `hashlane_digest_len()`. Messages are hashed in lanes, many at once: the function is fastest
 * with at least `hashlane_engine_lanes()` messages, the longest first. `engine` may be NULL.
 *
 * The function allocates at most 88 bytes of work space per message on 64-bit systems. If it
 * fails, no digest is written.
 *
 * Thread-safe.
 *
 * # Safety
 * `messages` and `message_lens` point to `n_messages` elements, and each message to as many
 * readable bytes as its length states. `digests` points to `n_messages * n` writable bytes.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_digest_many(const hashlane_engine *engine,
                                    hashlane_algorithm algorithm_id,
                                    const void *const *messages,
                                    const size_t *message_lens,
                                    size_t n_messages,
                                    uint8_t *digests);

/**
 * Writes the digests of consecutive messages of `message_len` bytes in the `len` bytes at `bytes`.
 * The last message may be shorter. `n_digests` must be `len / message_len`, rounded up. Digest `i`
 * starts at `digests + i * n`, where `n` is `hashlane_digest_len()`. Messages are hashed in lanes,
 * many at once. Lengths that are multiples of 64 are fastest. `engine` may be NULL.
 *
 * The function allocates at most 72 bytes of work space per message. If it fails, no digest is
 * written.
 *
 * Thread-safe.
 *
 * # Safety
 * `bytes` points to `len` readable bytes, and `digests` to `n_digests * n` writable bytes.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_digest_chunks(const hashlane_engine *engine,
                                      hashlane_algorithm algorithm_id,
                                      const void *bytes,
                                      size_t len,
                                      size_t message_len,
                                      uint8_t *digests,
                                      size_t n_digests);

/**
 * Writes the MACs of many messages under one key, in the order of the messages. The arguments and
 * the use of lanes are the same as for `hashlane_digest_many()`, with a key instead of an
 * algorithm. The engine of this call is used, not the engine of the key.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `messages` and `message_lens` meet the conditions of
 * `hashlane_digest_many()`, and `macs` those of its `digests`.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_hmac_many(const hashlane_engine *engine,
                                  const hashlane_hmac_key *key,
                                  const void *const *messages,
                                  const size_t *message_lens,
                                  size_t n_messages,
                                  uint8_t *macs);

/**
 * Writes a new queue to `*queue`, or NULL if the function fails. The queue calls `callback` with
 * each digest. `engine` may be NULL. Free the queue with `hashlane_queue_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `callback` may be called as its type describes as long as the queue exists. `queue` points to a
 * writable pointer. `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_queue_new(const hashlane_engine *engine,
                                  hashlane_algorithm algorithm_id,
                                  hashlane_digest_callback callback,
                                  hashlane_queue **queue);

/**
 * Adds the `message_len` bytes at `message`. The bytes are not copied: keep them unchanged until
 * the callback receives them. `tag` is passed to the callback, and may be NULL. If the message
 * fills the last lane, all lanes run until at least one message ends. The callback then gets every
 * message that has ended, in unspecified order.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`. `message` points to `message_len` readable bytes
 * until the callback receives them or the queue is freed.
 */
hashlane_error hashlane_queue_submit(hashlane_queue *queue,
                                     void *tag,
                                     const void *message,
                                     size_t message_len);

/**
 * Adds the `part_len` bytes at `part` to the message of `hasher`, after the earlier parts.
 * `is_last` is not 0 for the last part, which may be empty. The bytes are not copied: keep them
 * unchanged until the callback receives them. Until then, other calls with the hasher fail with
 * `HASHLANE_ERROR_BUSY`. Afterwards the hasher can take the next part, or the first part of
 * another message if this was the last part. `tag` is passed to the callback, and may be NULL.
 * Parts whose lengths are multiples of 64 are fastest.
 *
 * Fails with `HASHLANE_ERROR_WRONG_ALGORITHM` if the hasher belongs to another algorithm than the
 * queue, and with `HASHLANE_ERROR_BUSY` if an earlier part of the hasher is still in a queue.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`, and `hasher` from `hashlane_hasher_new()`. Until the
 * callback receives the part or the queue is freed, `part` points to `part_len` readable bytes.
 */
hashlane_error hashlane_queue_submit_part(hashlane_queue *queue,
                                          void *tag,
                                          hashlane_hasher *hasher,
                                          const void *part,
                                          size_t part_len,
                                          int is_last);

/**
 * Runs all lanes until every message has ended and the callback has received its digest. The queue
 * is then empty and can be used again.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`.
 */
hashlane_error hashlane_queue_flush(hashlane_queue *queue);

/**
 * Frees a queue. The callback does not receive the messages that are still in the queue: call
 * `hashlane_queue_flush()` first. The hashers of parts that are still in the queue lose their
 * messages and stay busy: they can only be freed. If the queue is freed in its callback, the call
 * that runs the callback still completes. NULL is ignored.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`, is freed once, and is not used afterwards.
 */
void hashlane_queue_free(hashlane_queue *queue);

/**
 * Reads a .torrent file of at most `HASHLANE_MAX_TORRENT_LEN` bytes, and writes the torrent to
 * `*torrent`, or NULL if the function fails. Free it with `hashlane_torrent_free()`.
 *
 * Fails with `HASHLANE_ERROR_SYSTEM` or `HASHLANE_ERROR_INVALID_TORRENT`, with details.
 *
 * Thread-safe.
 *
 * # Safety
 * `path` ends with a NUL. `torrent` points to a writable pointer.
 */
hashlane_error hashlane_torrent_open(const char *path, hashlane_torrent **torrent);

/**
 * Reads a torrent from the `len` bytes at `bytes`, which are copied, and writes it to `*torrent`,
 * or NULL if the function fails. Free it with `hashlane_torrent_free()`.
 *
 * Fails with `HASHLANE_ERROR_INVALID_TORRENT`, with details.
 *
 * Thread-safe.
 *
 * # Safety
 * `bytes` points to `len` readable bytes. `torrent` points to a writable pointer.
 */
hashlane_error hashlane_torrent_parse(const void *bytes, size_t len, hashlane_torrent **torrent);

/**
 * Frees a torrent. Reports made with it stay usable. NULL is ignored.
 *
 * # Safety
 * `torrent` comes from `hashlane_torrent_open()` or `hashlane_torrent_parse()`, is freed once, and
 * is not used afterwards.
 */
void hashlane_torrent_free(hashlane_torrent *torrent);

/**
 * Writes the name of the torrent to the `capacity` bytes at `name`, followed by a NUL. Sets
 * `*name_len` to the length of the name without the NUL, even if the name does not fit; `name_len`
 * may be NULL. The name contains no `/` and is not `..`. It need not be UTF-8.
 *
 * Fails with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
 *
 * Thread-safe.
 *
 * # Safety
 * `torrent` comes from this library. `name` points to `capacity` writable bytes.
 * `name_len` is NULL or points to a writable number.
 */
hashlane_error hashlane_torrent_name(const hashlane_torrent *torrent,
                                     char *name,
                                     size_t capacity,
                                     size_t *name_len);

/**
 * Writes the info-hash to `info_hash`: for `HASHLANE_SHA1` the 20 bytes of version 1 (BEP 3), for
 * `HASHLANE_SHA256` the 32 bytes of version 2 (BEP 52). A hybrid torrent has both.
 *
 * Fails with `HASHLANE_ERROR_NO_SUCH_HASHES` if the torrent has only the other version, and for
 * other algorithms.
 *
 * Thread-safe.
 *
 * # Safety
 * `torrent` comes from this library. `info_hash` points to as many writable bytes as a digest has.
 */
hashlane_error hashlane_torrent_info_hash(const hashlane_torrent *torrent,
                                          hashlane_algorithm algorithm_id,
                                          uint8_t *info_hash);

/**
 * Writes the sizes of a torrent to `*sizes`, whose `struct_size` the caller has set.
 *
 * Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
 *
 * Thread-safe.
 *
 * # Safety
 * `torrent` comes from this library. `sizes` points to `struct_size` readable and writable bytes.
 */
hashlane_error hashlane_torrent_get_sizes(const hashlane_torrent *torrent,
                                          hashlane_torrent_sizes *sizes);

/**
 * Writes the path of a file to the `capacity` bytes at `path`, followed by a NUL. Files are
 * numbered from 0 in the order of the torrent. The path is relative to the content folder, and its
 * components are separated by `/`. In a single-file torrent the path is the name. Sets `*path_len`
 * to the length of the path without the NUL, even if the path does not fit; `path_len` may be
 * NULL.
 *
 * Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
 *
 * Thread-safe.
 *
 * # Safety
 * `torrent` comes from this library. `path` points to `capacity` writable bytes.
 * `path_len` is NULL or points to a writable number.
 */
hashlane_error hashlane_torrent_file_path(const hashlane_torrent *torrent,
                                          size_t file,
                                          char *path,
                                          size_t capacity,
                                          size_t *path_len);

/**
 * Verifies the content of a torrent, and writes the report to `*report`, or NULL if the function
 * fails. Free the report with `hashlane_report_free()`. The function only reads files, and changes
 * no signal handler. Files that are missing or cannot be read are part of the report, not errors.
 *
 * `content_path` is the path of the folder that contains the torrent's files, or of the file in a
 * single-file torrent. Its last component need not be the torrent's name. For a single-file
 * torrent, `content_path` may also be the folder that contains the file under the torrent's name.
 * `engine` may be NULL. `n_threads` is the number of threads that read and hash, or 0 for one per
 * CPU. `callback` may be NULL; otherwise it receives the progress about fifty times per second for
 * each thread.
 *
 * If the callback cancels, the function fails with `HASHLANE_ERROR_CANCELLED`, and `*report`
 * contains the states that are known. `HASHLANE_ERROR_SYSTEM` has details.
 *
 * Thread-safe.
 *
 * # Safety
 * `torrent` comes from this library. `content_path` ends with a NUL. `callback` may be called as
 * its type describes until the function returns. `report` points to a writable pointer.
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
hashlane_error hashlane_torrent_verify(const hashlane_engine *engine,
                                       const hashlane_torrent *torrent,
                                       const char *content_path,
                                       size_t n_threads,
                                       hashlane_verify_callback callback,
                                       void *context,
                                       hashlane_report **report);

/**
 * Frees a report. NULL is ignored.
 *
 * # Safety
 * `report` comes from `hashlane_torrent_verify()`, is freed once, and is not used afterwards.
 */
void hashlane_report_free(hashlane_report *report);

/**
 * Returns 1 if all pieces are present and correct, and all empty files and symbolic links exist.
 * Returns 0 otherwise, and for NULL.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` is NULL or comes from this library.
 */
int hashlane_report_is_complete(const hashlane_report *report);

/**
 * Writes the number of pieces in each state to `*counts`, whose `struct_size` the caller has set.
 *
 * Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `counts` points to `struct_size` readable and writable bytes.
 */
hashlane_error hashlane_report_counts(const hashlane_report *report, hashlane_counts *counts);

/**
 * Writes the state of each piece to the array `states`. `n_states` must be the number of pieces.
 *
 * Fails with `HASHLANE_ERROR_WRONG_COUNT`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `states` points to `n_states` writable bytes.
 */
hashlane_error hashlane_report_piece_states(const hashlane_report *report,
                                            hashlane_piece_state *states,
                                            size_t n_states);

/**
 * Writes the present and correct pieces as a bitfield. The first piece is the highest bit of the
 * first byte, and spare bits at the end are 0 (BEP 3). `len` must be the number of pieces divided
 * by 8, rounded up.
 *
 * Fails with `HASHLANE_ERROR_WRONG_COUNT`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `bitfield` points to `len` writable bytes.
 */
hashlane_error hashlane_report_bitfield(const hashlane_report *report,
                                        uint8_t *bitfield,
                                        size_t len);

/**
 * Writes the state of a file to `*file`, whose `struct_size` the caller has set. To list all
 * files, increment `index` from 0 until the function fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`.
 * Padding is omitted.
 *
 * Fails also with `HASHLANE_ERROR_STRUCT_SIZE`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `file` points to `struct_size` readable and writable bytes.
 */
hashlane_error hashlane_report_file(const hashlane_report *report,
                                    size_t index,
                                    hashlane_file_report *file);

/**
 * Writes to `*n_pieces` the number of missing pieces of a file whose bytes on the disk are all
 * zeros. A download has not written such pieces yet, or the disk has lost them. The number is 0 if
 * the file is shorter than in the torrent. `index` is the same as for `hashlane_report_file()`.
 *
 * Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `n_pieces` points to a writable number.
 */
hashlane_error hashlane_report_file_zero_pieces(const hashlane_report *report,
                                                size_t index,
                                                uint32_t *n_pieces);

/**
 * Writes the system's error for a file to the `capacity` bytes at `text`, followed by a NUL. The
 * text is empty if there was no error. `index` is the same as for `hashlane_report_file()`. Sets
 * `*text_len` to the length of the text without the NUL, even if the text does not fit; `text_len`
 * may be NULL.
 *
 * Fails with `HASHLANE_ERROR_INDEX_TOO_LARGE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
 *
 * Thread-safe.
 *
 * # Safety
 * `report` comes from this library. `text` points to `capacity` writable bytes.
 * `text_len` is NULL or points to a writable number.
 */
hashlane_error hashlane_report_file_error(const hashlane_report *report,
                                          size_t index,
                                          char *text,
                                          size_t capacity,
                                          size_t *text_len);

/**
 * Writes the Base58Check string of the `payload_len` bytes at `payload` (version first) to the
 * `capacity` bytes at `text`, followed by a NUL. Sets `*text_len` to the length of the string
 * without the NUL, even if the string does not fit; `text_len` may be NULL.
 *
 * Fails with `HASHLANE_ERROR_LENGTH_TOO_LARGE` for more than `HASHLANE_BASE58_MAX_LEN` bytes, or
 * with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
 *
 * Thread-safe.
 *
 * # Safety
 * `payload` points to `payload_len` readable bytes, and `text` to `capacity` writable bytes.
 * `text_len` is NULL or points to a writable number.
 */
hashlane_error hashlane_base58check_encode(hashlane_alphabet alphabet_id,
                                           const void *payload,
                                           size_t payload_len,
                                           char *text,
                                           size_t capacity,
                                           size_t *text_len);

/**
 * Writes the payload of a Base58Check string (version first, without the checksum) to the
 * `capacity` bytes at `payload`. Sets `*payload_len` to the length of the payload, even if the
 * payload does not fit; `payload_len` may be NULL.
 *
 * Fails with `HASHLANE_ERROR_LENGTH_TOO_LARGE` for more than `HASHLANE_BASE58_MAX_LEN` characters,
 * or with `HASHLANE_ERROR_BUFFER_TOO_SMALL`. Fails with `HASHLANE_ERROR_INVALID_TEXT`, with
 * details, if the checksum does not match or a character is not in the alphabet.
 *
 * Thread-safe.
 *
 * # Safety
 * `text` ends with a NUL. `payload` points to `capacity` writable bytes.
 * `payload_len` is NULL or points to a writable number.
 */
hashlane_error hashlane_base58check_decode(hashlane_alphabet alphabet_id,
                                           const char *text,
                                           void *payload,
                                           size_t capacity,
                                           size_t *payload_len);

/**
 * Searches for all Base58Check strings that a damaged text can have been. In the text, `?` is an
 * unknown character, and `[abc]` is one of several characters. `damage` is 0 or a combination of
 * flags `HASHLANE_DAMAGE_...`. `n_errors` is the number of wrong, missing, extra or transposed
 * characters to allow: at most 2 at unknown positions, and characters that no such string has, for
 * example `0`, `O`, `I` and `l`. `kinds` are `n_kinds` names, for example `wif`; if `n_kinds` is 0,
 * all kinds are searched. `n_threads` is the number of threads, or 0 for one per CPU. `callback`
 * receives each hit.
 *
 * Returns `HASHLANE_ERROR_NONE` if everything was searched, even without a hit. Fails with
 * `HASHLANE_ERROR_CANCELLED`, or, with details, with `HASHLANE_ERROR_UNKNOWN_KIND`, with
 * `HASHLANE_ERROR_INVALID_TEXT` if the text is not a pattern, or with
 * `HASHLANE_ERROR_SEARCH_TOO_LARGE` if there are too many candidates or too many hits.
 *
 * Thread-safe.
 *
 * # Safety
 * `text` and the names end with a NUL, and `kinds` points to `n_kinds` pointers. `callback` may be
 * called as its type describes until the function returns.
 */
hashlane_error hashlane_recover(const char *text,
                                uint32_t damage,
                                uint32_t n_errors,
                                const char *const *kinds,
                                size_t n_kinds,
                                size_t n_threads,
                                hashlane_recover_callback callback,
                                void *context);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HASHLANE_H */
