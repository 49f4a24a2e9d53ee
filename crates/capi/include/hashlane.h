/* SHA-1, SHA-256 and HMAC of one message or of many at once. C99 and C++.
 *
 * Every function that can fail returns HASHLANE_ERROR_NONE, which is 0, or the reason. hashlane_error_message() describes
 * the reason. A pointer to data may be NULL if its length is 0. All lengths are in bytes.
 *
 * Functions without handles can be called from any thread. An engine and an HMAC key never change: any number of threads
 * may use one at the same time. A hasher, an HMAC in progress and a queue are used by one thread at a time.
 *
 * Each handle is freed once, by the function `..._free` of its type, after its last use. Freeing NULL does nothing.
 *
 * This file is generated: HASHLANE_UPDATE=1 cargo test --package hashlane-capi --test abi
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
 * The length of the longest digest of all algorithms in bytes.
 */
#define HASHLANE_MAX_DIGEST_LEN 32

/**
 * Reasons why a call failed. `HASHLANE_ERROR_NONE` is 0. Later versions may add codes.
 */
typedef enum {
    /**
     * The call succeeded.
     */
    HASHLANE_ERROR_NONE = 0,
    /**
     * A pointer is NULL that must not be.
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
     * The tag is not as long as a MAC of the algorithm.
     */
    HASHLANE_ERROR_TAG_LENGTH = 7,
    /**
     * The length of the messages is 0, so their number is unknown.
     */
    HASHLANE_ERROR_ZERO_MESSAGE_LENGTH = 8,
    /**
     * The number of digests is not the number of messages.
     */
    HASHLANE_ERROR_WRONG_COUNT = 9,
    /**
     * There is not enough memory for the work space of the call.
     */
    HASHLANE_ERROR_OUT_OF_MEMORY = 10,
    /**
     * The queue is running its callback.
     */
    HASHLANE_ERROR_IN_CALLBACK = 11,
    /**
     * An internal error. Free the handles of the call and do not use them otherwise.
     */
    HASHLANE_ERROR_INTERNAL = 12,
} hashlane_error;

/**
 * A choice of the code that hashes: a kernel for each number of messages. It never changes, and threads may share it.
 *
 * Functions with an engine take NULL for the best engine of this CPU. That engine is chosen once per process; the
 * environment variable `HASHLANE_BACKEND` overrides the choice.
 */
typedef struct hashlane_engine hashlane_engine;

/**
 * The state of one message that comes in parts. One thread at a time uses it.
 */
typedef struct hashlane_hasher hashlane_hasher;

/**
 * A key for any number of messages. It never changes, and threads may share it.
 */
typedef struct hashlane_hmac_key hashlane_hmac_key;

/**
 * A queue that hashes messages as they come, as many at once as there are lanes. One thread at a time uses it.
 */
typedef struct hashlane_queue hashlane_queue;

/**
 * The MAC of one message that comes in parts. One thread at a time uses it.
 */
typedef struct hashlane_mac hashlane_mac;

/**
 * The number of an algorithm: `HASHLANE_SHA1` or `HASHLANE_SHA256`.
 */
typedef uint32_t hashlane_algorithm;

/**
 * A function that gets the digest of a message: the `tag` and the `message` with its `message_len` bytes, as they were
 * submitted, and the `digest`. The digest has 20 bytes for SHA-1 and 32 bytes for SHA-256, and is valid until the function
 * returns. The message is not used any more: the function may free or change it.
 *
 * The function must return. It must not throw an exception through the library or leave by `longjmp()`. Calls with the
 * same queue fail in it with `HASHLANE_ERROR_IN_CALLBACK`.
 */
typedef void (*hashlane_digest_callback)(void *tag,
                                         const void *message,
                                         size_t message_len,
                                         const uint8_t *digest);

/**
 * SHA-1 (FIPS 180-4). Its digests have 20 bytes.
 */
#define HASHLANE_SHA1 1

/**
 * SHA-256 (FIPS 180-4). Its digests have 32 bytes.
 */
#define HASHLANE_SHA256 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns a message in English for an error code, in lower case and without a full stop. The text is constant and is
 * never freed. An unknown code gets a message too.
 *
 * Thread-safe.
 */
const char *hashlane_error_message(int error);

/**
 * Returns the version of the library, for example `0.1.0`. The text is constant and is never freed.
 *
 * Thread-safe.
 */
const char *hashlane_version(void);

/**
 * Returns the length in bytes of a digest or MAC of the algorithm, or 0 if no algorithm has this number.
 *
 * Thread-safe.
 */
size_t hashlane_digest_len(hashlane_algorithm algorithm);

/**
 * Returns the name of a backend, for example `sha-ni`, or NULL if `index` is not less than the number of backends. Count
 * `index` from 0 to see every backend of the library, available or not. The text is constant and is never freed.
 *
 * Thread-safe.
 */
const char *hashlane_backend_name(size_t index);

/**
 * Writes a new engine to `*engine`. It uses the backend with this name, and `portable` where that is faster. If `backend`
 * is NULL, the engine uses the backend that the environment variable `HASHLANE_BACKEND` names, or the best backends of
 * this CPU if the variable is unset or empty.
 *
 * Fails with `HASHLANE_ERROR_UNKNOWN_BACKEND` or `HASHLANE_ERROR_UNAVAILABLE_BACKEND`, also if the variable is wrong.
 * `*engine` is then NULL. Free the engine with `hashlane_engine_free()`.
 *
 * Thread-safe, unless another thread changes the environment.
 *
 * # Safety
 * `backend` is NULL or ends with a NUL. `engine` points to a writable pointer.
 */
hashlane_error hashlane_engine_new(const char *backend,
                                   hashlane_engine **engine);

/**
 * Frees an engine. Hashers, keys and queues that were made with the engine stay usable. NULL is ignored.
 *
 * # Safety
 * `engine` comes from `hashlane_engine_new()`, is freed once, and is not used afterwards.
 */
void hashlane_engine_free(hashlane_engine *engine);

/**
 * Returns the name of the backend that hashes `n_messages` available messages at once, for example `avx512`, or NULL if no
 * algorithm has this number. The text is constant and is never freed.
 *
 * Thread-safe.
 *
 * # Safety
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
const char *hashlane_engine_backend(const hashlane_engine *engine,
                                    hashlane_algorithm algorithm,
                                    size_t n_messages);

/**
 * Returns the number of messages that keep every lane busy, at least 1, or 0 if no algorithm has this number. At least so
 * many messages make `hashlane_digest_many()` fastest.
 *
 * Thread-safe.
 *
 * # Safety
 * `engine` is NULL or comes from `hashlane_engine_new()`.
 */
size_t hashlane_engine_lanes(const hashlane_engine *engine,
                             hashlane_algorithm algorithm);

/**
 * Writes the digest of the `message_len` bytes at `message` to `digest`: 20 bytes for SHA-1, 32 bytes for SHA-256. The
 * digest may overwrite the message. `engine` may be NULL.
 *
 * Thread-safe.
 *
 * # Safety
 * `message` points to `message_len` readable bytes, and `digest` to as many writable bytes as a digest has.
 */
hashlane_error hashlane_digest(const hashlane_engine *engine,
                               hashlane_algorithm algorithm,
                               const void *message,
                               size_t message_len,
                               uint8_t *digest);

/**
 * Writes a new hasher with an empty message to `*hasher`, or NULL if the function fails. `engine` may be NULL. Free the
 * hasher with `hashlane_hasher_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `hasher` points to a writable pointer.
 */
hashlane_error hashlane_hasher_new(const hashlane_engine *engine,
                                   hashlane_algorithm algorithm,
                                   hashlane_hasher **hasher);

/**
 * Appends the `part_len` bytes at `part` to the message.
 *
 * One thread at a time for each hasher.
 *
 * # Safety
 * `hasher` comes from this library. `part` points to `part_len` readable bytes.
 */
hashlane_error hashlane_hasher_update(hashlane_hasher *hasher, const void *part, size_t part_len);

/**
 * Writes the digest of the message to `digest`: 20 bytes for SHA-1, 32 bytes for SHA-256. The hasher then has an empty
 * message again. If the function fails, the hasher keeps its message.
 *
 * One thread at a time for each hasher.
 *
 * # Safety
 * `hasher` comes from this library. `digest` points to as many writable bytes as a digest has.
 */
hashlane_error hashlane_hasher_finish(hashlane_hasher *hasher,
                                      uint8_t *digest);

/**
 * Makes the message of the hasher empty.
 *
 * One thread at a time for each hasher.
 *
 * # Safety
 * `hasher` comes from this library.
 */
hashlane_error hashlane_hasher_reset(hashlane_hasher *hasher);

/**
 * Writes a copy of the hasher with its message to `*copy`, or NULL if the function fails. Free the copy with
 * `hashlane_hasher_free()`.
 *
 * One thread at a time for each hasher.
 *
 * # Safety
 * `hasher` comes from this library. `copy` points to a writable pointer.
 */
hashlane_error hashlane_hasher_clone(const hashlane_hasher *hasher,
                                     hashlane_hasher **copy);

/**
 * Frees a hasher. NULL is ignored.
 *
 * # Safety
 * `hasher` comes from this library, is freed once, and is not used afterwards.
 */
void hashlane_hasher_free(hashlane_hasher *hasher);

/**
 * Writes the MAC of the `message_len` bytes at `message` under the `key_len` bytes at `key` to `mac`: 20 bytes for SHA-1, 32
 * bytes for SHA-256. `engine` may be NULL. For a key that is used more than once, `hashlane_hmac_key_new()` is faster.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` points to `key_len` readable bytes, `message` to `message_len` readable bytes, and `mac` to as many writable bytes
 * as a digest has.
 */
hashlane_error hashlane_hmac(const hashlane_engine *engine,
                             hashlane_algorithm algorithm,
                             const void *key,
                             size_t key_len,
                             const void *message,
                             size_t message_len,
                             uint8_t *mac);

/**
 * Writes a new key of the `key_len` bytes at `key` to `*hmac_key`, or NULL if the function fails. The bytes are not needed
 * afterwards. FIPS 198-1 requires at least half as many bytes as a digest has; this function accepts any length. `engine`
 * may be NULL. Free the key with `hashlane_hmac_key_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` points to `key_len` readable bytes, and `hmac_key` to a writable pointer.
 */
hashlane_error hashlane_hmac_key_new(const hashlane_engine *engine,
                                     hashlane_algorithm algorithm,
                                     const void *key,
                                     size_t key_len,
                                     hashlane_hmac_key **hmac_key);

/**
 * Wipes a key from memory and frees it. A MAC in progress has a copy of the key and stays usable. NULL is ignored.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`, is freed once, and is not used afterwards.
 */
void hashlane_hmac_key_free(hashlane_hmac_key *key);

/**
 * Writes the MAC of the `message_len` bytes at `message` to `mac`: 20 bytes for SHA-1, 32 bytes for SHA-256.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` readable bytes, and `mac` to as many writable
 * bytes as a digest has.
 */
hashlane_error hashlane_hmac_key_mac(const hashlane_hmac_key *key,
                                     const void *message,
                                     size_t message_len,
                                     uint8_t *mac);

/**
 * Checks that the `tag_len` bytes at `tag` are the whole MAC of the `message_len` bytes at `message`. The comparison takes the
 * same time wherever tags differ. Fails with `HASHLANE_ERROR_TAG_MISMATCH` or `HASHLANE_ERROR_TAG_LENGTH`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `message` points to `message_len` and `tag` to `tag_len` readable bytes.
 */
hashlane_error hashlane_hmac_key_verify(const hashlane_hmac_key *key,
                                        const void *message,
                                        size_t message_len,
                                        const uint8_t *tag,
                                        size_t tag_len);

/**
 * Writes a new MAC in progress with an empty message to `*hmac`, or NULL if the function fails. Free it with
 * `hashlane_mac_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. `hmac` points to a writable pointer.
 */
hashlane_error hashlane_mac_new(const hashlane_hmac_key *key,
                                hashlane_mac **hmac);

/**
 * Appends the `part_len` bytes at `part` to the message.
 *
 * One thread at a time for each MAC in progress.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `part` points to `part_len` readable bytes.
 */
hashlane_error hashlane_mac_update(hashlane_mac *hmac, const void *part, size_t part_len);

/**
 * Writes the MAC of the message to `mac`: 20 bytes for SHA-1, 32 bytes for SHA-256. The message is then empty again. If the
 * function fails, the message is kept.
 *
 * One thread at a time for each MAC in progress.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `mac` points to as many writable bytes as a digest has.
 */
hashlane_error hashlane_mac_finish(hashlane_mac *hmac,
                                   uint8_t *mac);

/**
 * Checks that the `tag_len` bytes at `tag` are the whole MAC of the message, in constant time like
 * `hashlane_hmac_key_verify()`, and with the same errors. The message is then empty again.
 *
 * One thread at a time for each MAC in progress.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`. `tag` points to `tag_len` readable bytes.
 */
hashlane_error hashlane_mac_verify(hashlane_mac *hmac, const uint8_t *tag, size_t tag_len);

/**
 * Wipes a MAC in progress from memory and frees it. NULL is ignored.
 *
 * # Safety
 * `hmac` comes from `hashlane_mac_new()`, is freed once, and is not used afterwards.
 */
void hashlane_mac_free(hashlane_mac *hmac);

/**
 * Writes the digests of many messages, in the order of the messages. Message `i` has the `message_lens[i]` bytes at
 * `messages[i]`. Its digest starts at `digests + i * n`, where `n` is 20 for SHA-1 and 32 for SHA-256. Several messages are
 * hashed at once. At least `hashlane_engine_lanes()` messages, longest first, are fastest. `engine` may be NULL.
 *
 * The function allocates 36 or 48 bytes of work space for each message on a system with 64 bits. If it fails, no digest is
 * written.
 *
 * Thread-safe.
 *
 * # Safety
 * `messages` and `message_lens` point to `n_messages` elements, and each message to as many readable bytes as its length
 * states. `digests` points to `n_messages * n` writable bytes.
 */
hashlane_error hashlane_digest_many(const hashlane_engine *engine,
                                    hashlane_algorithm algorithm,
                                    const void *const *messages,
                                    const size_t *message_lens,
                                    size_t n_messages,
                                    uint8_t *digests);

/**
 * Writes the digests of the messages of `message_len` bytes that follow each other in the `len` bytes at `bytes`. The last
 * message may be shorter. `n_digests` must be `len / message_len`, rounded up. Digest `i` starts at `digests + i * n`, where
 * `n` is 20 for SHA-1 and 32 for SHA-256. Lengths that are multiples of 64 are fastest. `engine` may be NULL.
 *
 * The function allocates `n_digests * n` bytes of work space. If it fails, no digest is written.
 *
 * Thread-safe.
 *
 * # Safety
 * `bytes` points to `len` readable bytes, and `digests` to `n_digests * n` writable bytes.
 */
hashlane_error hashlane_digest_chunks(const hashlane_engine *engine,
                                      hashlane_algorithm algorithm,
                                      const void *bytes,
                                      size_t len,
                                      size_t message_len,
                                      uint8_t *digests,
                                      size_t n_digests);

/**
 * Writes the MACs of many messages under one key, in the order of the messages. All arguments are those of
 * `hashlane_digest_many()`, with a key instead of an algorithm. The engine is that of this call, not that of the key.
 *
 * Thread-safe.
 *
 * # Safety
 * `key` comes from `hashlane_hmac_key_new()`. The other arguments meet the conditions of `hashlane_digest_many()`.
 */
hashlane_error hashlane_hmac_many(const hashlane_engine *engine,
                                  const hashlane_hmac_key *key,
                                  const void *const *messages,
                                  const size_t *message_lens,
                                  size_t n_messages,
                                  uint8_t *macs);

/**
 * Writes a new queue to `*queue`, or NULL if the function fails. The queue calls `callback` with each digest. `engine` may be
 * NULL. Free the queue with `hashlane_queue_free()`.
 *
 * Thread-safe.
 *
 * # Safety
 * `callback` may be called as its type describes as long as the queue exists. `queue` points to a writable pointer.
 */
hashlane_error hashlane_queue_new(const hashlane_engine *engine,
                                  hashlane_algorithm algorithm,
                                  hashlane_digest_callback callback,
                                  hashlane_queue **queue);

/**
 * Adds the `message_len` bytes at `message`, which are not copied: keep them unchanged until the callback gets them. `tag` is
 * passed to the callback, and may be NULL. If the message fills the last lane, all lanes run until at least one message
 * ends, and the callback gets each of these. Messages end in no particular order.
 *
 * One thread at a time for each queue.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`. `message` points to `message_len` readable bytes, until the callback gets them
 * or the queue is freed.
 */
hashlane_error hashlane_queue_submit(hashlane_queue *queue,
                                     const void *message,
                                     size_t message_len,
                                     void *tag);

/**
 * Runs all lanes until every message has ended and the callback has its digest. The queue is then empty and can be used
 * again.
 *
 * One thread at a time for each queue.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`.
 */
hashlane_error hashlane_queue_flush(hashlane_queue *queue);

/**
 * Frees a queue. The callback does not get the messages that are still in it: call `hashlane_queue_flush()` before. NULL is
 * ignored.
 *
 * # Safety
 * `queue` comes from `hashlane_queue_new()`, is freed once, is not used afterwards, and is not freed in its callback.
 */
void hashlane_queue_free(hashlane_queue *queue);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HASHLANE_H */
