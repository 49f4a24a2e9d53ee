/* A queue reports every message once with its digest, with every backend and after misuse. */
#include <hashlane.h>
#include <pthread.h>

#include "check.h"

enum { N_MESSAGES = 200, LONGEST = 3000 };

struct message {
    char *bytes;
    size_t len;
    int n_reports;
};

static hashlane_algorithm current_algorithm;
static hashlane_queue *current_queue;

static void report(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    struct message *message = (struct message *)tag;
    uint8_t expected[HASHLANE_MAX_DIGEST_LEN];
    CHECK(bytes == message->bytes && len == message->len);
    CHECK(!hashlane_digest(NULL, current_algorithm, bytes, len, expected));
    CHECK(memcmp(digest, expected, hashlane_digest_len(current_algorithm)) == 0);
    message->n_reports++;
    /* The message belongs to the caller again. valgrind would find a later access. */
    free(message->bytes);
    message->bytes = NULL;

    CHECK(hashlane_queue_submit(current_queue, NULL, "abc", 3) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_queue_flush(current_queue) == HASHLANE_ERROR_BUSY);
}

static void all_messages(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    static struct message messages[N_MESSAGES];
    size_t i, round;
    current_algorithm = algorithm;
    CHECK(!hashlane_queue_new(engine, algorithm, report, &current_queue));
    for (round = 0; round < 2; round++) {
        for (i = 0; i < N_MESSAGES; i++) {
            messages[i].len = i * i % LONGEST;
            messages[i].bytes = (char *)malloc(messages[i].len + 1);
            messages[i].n_reports = 0;
            CHECK(messages[i].bytes != NULL);
            memset(messages[i].bytes, (int)i, messages[i].len);
            CHECK(!hashlane_queue_submit(current_queue, &messages[i], messages[i].bytes, messages[i].len));
        }
        CHECK(!hashlane_queue_flush(current_queue));
        for (i = 0; i < N_MESSAGES; i++) {
            CHECK(messages[i].n_reports == 1);
        }
    }
    hashlane_queue_free(current_queue);
}

/* Messages that come in parts: the callback submits nothing, the loop refills the hashers whose part is done. */
enum { N_STREAMS = 20, N_PARTS = 5, PART_LEN = 192, LAST_LEN = 77 };

struct stream {
    hashlane_hasher *hasher;
    char bytes[N_PARTS * PART_LEN + LAST_LEN];
    int n_done;
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
};

static void part_done(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    struct stream *stream = (struct stream *)tag;
    CHECK(bytes == stream->bytes + stream->n_done * PART_LEN);
    CHECK(len == (stream->n_done < N_PARTS ? (size_t)PART_LEN : (size_t)LAST_LEN));
    CHECK((digest == NULL) == (stream->n_done < N_PARTS));
    if (digest != NULL) {
        memcpy(stream->digest, digest, hashlane_digest_len(current_algorithm));
    }
    stream->n_done++;
}

static void messages_in_parts(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    static struct stream streams[N_STREAMS];
    uint8_t expected[HASHLANE_MAX_DIGEST_LEN];
    hashlane_queue *queue;
    hashlane_hasher *other;
    int i, part;
    current_algorithm = algorithm;
    CHECK(!hashlane_queue_new(engine, algorithm, part_done, &queue));
    for (i = 0; i < N_STREAMS; i++) {
        memset(streams[i].bytes, 'a' + i, sizeof streams[i].bytes);
        streams[i].n_done = 0;
        CHECK(!hashlane_hasher_new(NULL, algorithm, &streams[i].hasher));
    }
    for (part = 0; part <= N_PARTS; part++) {
        for (i = 0; i < N_STREAMS; i++) {
            CHECK(!hashlane_queue_submit_part(queue, &streams[i], streams[i].hasher, streams[i].bytes + part * PART_LEN,
                                              part < N_PARTS ? (size_t)PART_LEN : (size_t)LAST_LEN, part == N_PARTS));
        }
        CHECK(!hashlane_queue_flush(queue));
    }
    for (i = 0; i < N_STREAMS; i++) {
        CHECK(streams[i].n_done == N_PARTS + 1);
        CHECK(!hashlane_digest(NULL, algorithm, streams[i].bytes, sizeof streams[i].bytes, expected));
        CHECK(memcmp(streams[i].digest, expected, hashlane_digest_len(algorithm)) == 0);
        /* The hasher is ready for another message. */
        CHECK(!hashlane_hasher_finish(streams[i].hasher, streams[i].digest));
        CHECK(!hashlane_digest(NULL, algorithm, NULL, 0, expected));
        CHECK(memcmp(streams[i].digest, expected, hashlane_digest_len(algorithm)) == 0);
    }
    CHECK(!hashlane_hasher_new(NULL, algorithm == HASHLANE_SHA1 ? HASHLANE_SHA256 : HASHLANE_SHA1, &other));
    CHECK(hashlane_queue_submit_part(queue, NULL, other, "abc", 3, 1) == HASHLANE_ERROR_WRONG_ALGORITHM);
    CHECK(hashlane_queue_submit_part(queue, NULL, NULL, "abc", 3, 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_queue_submit_part(NULL, NULL, other, "abc", 3, 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_queue_submit_part(queue, NULL, streams[0].hasher, NULL, 3, 1) == HASHLANE_ERROR_NULL_POINTER);
    hashlane_hasher_free(other);
    for (i = 0; i < N_STREAMS; i++) {
        hashlane_hasher_free(streams[i].hasher);
    }
    hashlane_queue_free(queue);
}

/* A hasher whose part is in a queue belongs to the queue until the callback receives the part. */
static void in_queue(hashlane_algorithm algorithm) {
    hashlane_engine *engine = NULL;
    hashlane_queue *queue, *other;
    hashlane_hasher *hasher, *copy;
    struct stream stream;
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN], expected[HASHLANE_MAX_DIGEST_LEN];
    const char *name;
    size_t i;
    /* A backend with several lanes, so that the part stays in the queue. */
    for (i = 0; engine == NULL && (name = hashlane_backend_name(i)) != NULL; i++) {
        if (!hashlane_engine_new(name, &engine) && hashlane_engine_lanes(engine, algorithm) < 2) {
            hashlane_engine_free(engine);
            engine = NULL;
        }
    }
    if (engine == NULL) {
        return;
    }
    current_algorithm = algorithm;
    memset(stream.bytes, 'a', sizeof stream.bytes);
    stream.n_done = 0;
    CHECK(!hashlane_hasher_new(engine, algorithm, &hasher));
    CHECK(!hashlane_queue_new(engine, algorithm, part_done, &queue));
    CHECK(!hashlane_queue_new(engine, algorithm, part_done, &other));
    CHECK(!hashlane_queue_submit_part(queue, &stream, hasher, stream.bytes, PART_LEN, 0));
    CHECK(stream.n_done == 0);
    CHECK(hashlane_queue_submit_part(queue, &stream, hasher, stream.bytes, PART_LEN, 0) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_queue_submit_part(other, &stream, hasher, stream.bytes, PART_LEN, 1) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_hasher_update(hasher, "abc", 3) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_hasher_finish(hasher, digest) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_hasher_reset(hasher) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_hasher_clone(hasher, &copy) == HASHLANE_ERROR_BUSY);
    CHECK(copy == NULL);
    CHECK(!hashlane_queue_flush(other));
    CHECK(!hashlane_queue_flush(queue));
    CHECK(stream.n_done == 1);
    CHECK(!hashlane_hasher_finish(hasher, digest));
    CHECK(!hashlane_digest(engine, algorithm, stream.bytes, PART_LEN, expected));
    CHECK(memcmp(digest, expected, hashlane_digest_len(algorithm)) == 0);

    /* The message is lost with its queue. The hasher does not pretend that it is empty. */
    CHECK(!hashlane_queue_submit_part(queue, &stream, hasher, stream.bytes, PART_LEN, 0));
    hashlane_queue_free(queue);
    CHECK(hashlane_hasher_finish(hasher, digest) == HASHLANE_ERROR_BUSY);
    hashlane_hasher_free(hasher);

    /* A hasher that is freed while its part is in a queue. */
    CHECK(!hashlane_hasher_new(engine, algorithm, &hasher));
    stream.n_done = 0;
    CHECK(!hashlane_queue_submit_part(other, &stream, hasher, stream.bytes, PART_LEN, 0));
    hashlane_hasher_free(hasher);
    CHECK(stream.n_done == 0);
    CHECK(!hashlane_queue_flush(other));
    CHECK(stream.n_done == 1);
    hashlane_queue_free(other);
    hashlane_engine_free(engine);
}

static int n_freed;

static void free_queue(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    (void)bytes, (void)len;
    CHECK(digest != NULL && n_freed == 0);
    hashlane_queue_free((hashlane_queue *)tag);
    n_freed++;
}

/* A queue that is freed in its callback exists until the call returns. */
static void freed_in_callback(hashlane_algorithm algorithm) {
    hashlane_queue *queue;
    n_freed = 0;
    CHECK(!hashlane_queue_new(NULL, algorithm, free_queue, &queue));
    CHECK(!hashlane_queue_submit(queue, queue, "abc", 3));
    if (n_freed == 0) { /* The message waits for others. */
        CHECK(!hashlane_queue_flush(queue));
    }
    CHECK(n_freed == 1);
}

static int n_calls;

static void *submit_elsewhere(void *queue) {
    CHECK(hashlane_queue_submit((hashlane_queue *)queue, NULL, "abc", 3) == HASHLANE_ERROR_BUSY);
    CHECK(hashlane_queue_flush((hashlane_queue *)queue) == HASHLANE_ERROR_BUSY);
    return NULL;
}

static void submit_on_a_thread(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    pthread_t thread;
    (void)bytes, (void)len, (void)digest;
    CHECK(pthread_create(&thread, NULL, submit_elsewhere, tag) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    n_calls++;
}

/* While a call uses a queue, calls on other threads fail. */
static void used_by_a_thread(hashlane_algorithm algorithm) {
    hashlane_queue *queue;
    n_calls = 0;
    CHECK(!hashlane_queue_new(NULL, algorithm, submit_on_a_thread, &queue));
    CHECK(!hashlane_queue_submit(queue, queue, "abc", 3));
    CHECK(!hashlane_queue_flush(queue));
    CHECK(n_calls == 1);
    hashlane_queue_free(queue);
    n_calls = 0;
}

static void count(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    (void)tag, (void)bytes, (void)len, (void)digest;
    n_calls++;
}

static void misuse(void) {
    hashlane_queue *queue;
    CHECK(hashlane_queue_new(NULL, HASHLANE_SHA1, NULL, &queue) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(queue == NULL);
    CHECK(hashlane_queue_new(NULL, HASHLANE_SHA1, count, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_queue_new(NULL, 99, count, &queue) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(queue == NULL);
    CHECK(hashlane_queue_submit(NULL, NULL, "abc", 3) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_queue_flush(NULL) == HASHLANE_ERROR_NULL_POINTER);
    hashlane_queue_free(NULL);

    CHECK(!hashlane_queue_new(NULL, HASHLANE_SHA1, count, &queue));
    CHECK(!hashlane_queue_flush(queue));
    CHECK(hashlane_queue_submit(queue, NULL, NULL, 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_queue_submit(queue, NULL, "abc", (size_t)PTRDIFF_MAX + 1) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(!hashlane_queue_flush(queue));
    CHECK(n_calls == 0);
    CHECK(!hashlane_queue_submit(queue, NULL, NULL, 0));
    CHECK(!hashlane_queue_flush(queue));
    CHECK(n_calls == 1);
    hashlane_queue_free(queue);

    /* A queue that is freed early does not report its messages. One backend with several lanes keeps the message. */
    CHECK(!hashlane_queue_new(NULL, HASHLANE_SHA1, count, &queue));
    if (hashlane_engine_lanes(NULL, HASHLANE_SHA1) > 1) {
        CHECK(!hashlane_queue_submit(queue, NULL, "abc", 3));
        CHECK(n_calls == 1);
    }
    hashlane_queue_free(queue);
    CHECK(n_calls == 1);
}

static const hashlane_algorithm ALGORITHMS[] = {HASHLANE_SHA1,   HASHLANE_SHA256, HASHLANE_SHA224,
                                                HASHLANE_SHA384, HASHLANE_SHA512, HASHLANE_MD5};
enum { N_ALGORITHMS = 6 };

int main(void) {
    const char *name;
    size_t i, algorithm;
    misuse();
    in_queue(HASHLANE_SHA1);
    in_queue(HASHLANE_SHA256);
    for (algorithm = 0; algorithm < N_ALGORITHMS; algorithm++) {
        freed_in_callback(ALGORITHMS[algorithm]);
        used_by_a_thread(ALGORITHMS[algorithm]);
        all_messages(NULL, ALGORITHMS[algorithm]);
        messages_in_parts(NULL, ALGORITHMS[algorithm]);
    }
    for (i = 0; (name = hashlane_backend_name(i)) != NULL; i++) {
        hashlane_engine *engine;
        if (hashlane_engine_new(name, &engine) == HASHLANE_ERROR_NONE) {
            all_messages(engine, HASHLANE_SHA1);
            messages_in_parts(engine, HASHLANE_SHA1);
            all_messages(engine, HASHLANE_SHA256);
            messages_in_parts(engine, HASHLANE_SHA256);
            hashlane_engine_free(engine);
        }
    }
    return 0;
}
