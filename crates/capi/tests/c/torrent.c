/* A torrent that is made here, and its content whole, damaged, too short, absent and unreadable. */
#include <hashlane.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { PIECE_LEN = 16384, N_PIECES = 11, CONTENT_LEN = 10 * PIECE_LEN + 100, N_THREADS = 8 };

static unsigned char content[CONTENT_LEN];
static char metainfo[1024];
static size_t metainfo_len;
static char folder[] = "/tmp/hashlane-capi-XXXXXX";
static char path[64], torrent_path[64], missing_path[64];

static void store(const char *file, const void *bytes, size_t len) {
    FILE *out = fopen(file, "wb");
    CHECK(out != NULL);
    CHECK(fwrite(bytes, 1, len, out) == len);
    CHECK(fclose(out) == 0);
}

static void fill(void) {
    size_t i;
    for (i = 0; i < sizeof content; i++) {
        content[i] = (unsigned char)(i * 31 + i / 977);
    }
}

static void make_torrent(void) {
    uint8_t digests[N_PIECES][HASHLANE_SHA1_LEN];
    int len;
    fill();
    CHECK(!hashlane_digest_chunks(NULL, HASHLANE_SHA1, content, sizeof content, PIECE_LEN, digests[0], N_PIECES));
    len = snprintf(metainfo, sizeof metainfo, "d4:infod6:lengthi%de4:name8:data.bin12:piece lengthi%de6:pieces%d:",
                   (int)CONTENT_LEN, (int)PIECE_LEN, (int)sizeof digests);
    memcpy(metainfo + len, digests, sizeof digests);
    memcpy(metainfo + len + sizeof digests, "ee", 2);
    metainfo_len = (size_t)len + sizeof digests + 2;
}

static void description(const hashlane_torrent *torrent) {
    char name[9];
    size_t len = 0;
    uint8_t info_hash[HASHLANE_MAX_DIGEST_LEN], expected[HASHLANE_SHA1_LEN];
    hashlane_torrent_sizes sizes;
    PREPARE(sizes);
    CHECK(!hashlane_torrent_get_sizes(torrent, &sizes));
    CHECK(sizes.struct_size == sizeof sizes);
    CHECK(sizes.content_len == CONTENT_LEN && sizes.piece_len == PIECE_LEN);
    CHECK(sizes.n_files == 1 && sizes.n_pieces == N_PIECES);
    CHECK(!hashlane_torrent_name(torrent, name, sizeof name, &len));
    CHECK(strcmp(name, "data.bin") == 0 && len == 8);
    len = 0;
    memset(name, 'x', sizeof name);
    CHECK(hashlane_torrent_name(torrent, name, 8, &len) == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(len == 8 && name[0] == 'x');
    CHECK(hashlane_torrent_name(torrent, NULL, 0, NULL) == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(hashlane_torrent_name(torrent, NULL, 100, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_torrent_file_path(torrent, 0, name, sizeof name, NULL));
    CHECK(strcmp(name, "data.bin") == 0);
    CHECK(hashlane_torrent_file_path(torrent, 1, name, sizeof name, NULL) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    CHECK(!hashlane_digest(NULL, HASHLANE_SHA1, metainfo + 7, metainfo_len - 8, expected));
    CHECK(!hashlane_torrent_info_hash(torrent, HASHLANE_SHA1, info_hash));
    CHECK(memcmp(info_hash, expected, sizeof expected) == 0);
    CHECK(hashlane_torrent_info_hash(torrent, HASHLANE_SHA256, info_hash) == HASHLANE_ERROR_NO_SUCH_HASHES);
    CHECK(hashlane_torrent_info_hash(torrent, HASHLANE_SHA512, info_hash) == HASHLANE_ERROR_NO_SUCH_HASHES);
    CHECK(hashlane_torrent_info_hash(torrent, 99, info_hash) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(hashlane_torrent_info_hash(torrent, HASHLANE_SHA1, NULL) == HASHLANE_ERROR_NULL_POINTER);
}

struct calls {
    int n_calls;
    int cancels;
    uint64_t done_bytes;
};

static int on_progress(void *context, const hashlane_verify_progress *progress) {
    struct calls *calls = (struct calls *)context;
    CHECK(progress->counts->struct_size == sizeof *progress->counts);
    CHECK(progress->counts->n_have + progress->counts->n_bad <= N_PIECES);
    CHECK(progress->total_bytes == CONTENT_LEN && progress->done_bytes >= calls->done_bytes);
    calls->done_bytes = progress->done_bytes;
    calls->n_calls++;
    return calls->cancels;
}

/* Verifies the content and compares the states of the first and the last piece, of the others, and of the file. */
static void expect(const hashlane_torrent *torrent, const char *where, uint8_t first, uint8_t others, uint8_t last,
                   uint8_t file_state) {
    hashlane_report *report;
    hashlane_counts counts;
    hashlane_file_report file;
    uint8_t states[N_PIECES], bitfield[2];
    struct calls calls = {0, 0, 0};
    char text[200];
    uint32_t n_zero;
    int i, n_have = 0;
    CHECK(!hashlane_torrent_verify(NULL, torrent, where, 1, on_progress, &calls, &report));
    CHECK(calls.n_calls > 0);
    CHECK(!hashlane_report_piece_states(report, states, N_PIECES));
    CHECK(!hashlane_report_bitfield(report, bitfield, sizeof bitfield));
    for (i = 0; i < N_PIECES; i++) {
        CHECK(states[i] == (i == 0 ? first : i == N_PIECES - 1 ? last : others));
        CHECK((bitfield[i / 8] >> (7 - i % 8) & 1) == (states[i] == HASHLANE_PIECE_HAVE));
        n_have += states[i] == HASHLANE_PIECE_HAVE;
    }
    CHECK((bitfield[1] & 31) == 0);
    CHECK(hashlane_report_is_complete(report) == (n_have == N_PIECES));
    PREPARE(counts);
    PREPARE(file);
    CHECK(!hashlane_report_counts(report, &counts));
    CHECK(counts.n_have == (uint32_t)n_have);
    CHECK(counts.n_have + counts.n_bad + counts.n_missing + counts.n_unreadable + counts.n_unproven +
              counts.n_unchecked == N_PIECES);
    CHECK(!hashlane_report_file(report, 0, &file));
    CHECK(file.file == 0 && file.len == CONTENT_LEN && file.state == file_state);
    CHECK(file.first_piece == 0 && file.n_pieces == N_PIECES && file.n_have == (uint32_t)n_have);
    CHECK(!hashlane_report_file_error(report, 0, text, sizeof text, NULL));
    CHECK((strlen(text) > 0) == (file_state == HASHLANE_FILE_UNREADABLE));
    CHECK(!hashlane_report_file_zero_pieces(report, 0, &n_zero));
    CHECK(n_zero == (file.len_on_disk == CONTENT_LEN ? counts.n_missing : 0));

    CHECK(hashlane_report_file(report, 1, &file) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    CHECK(hashlane_report_file(report, 0, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_report_file_error(report, 1, text, sizeof text, NULL) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    CHECK(hashlane_report_file_zero_pieces(report, 1, &n_zero) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    CHECK(hashlane_report_file_zero_pieces(report, 0, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_report_piece_states(report, states, N_PIECES - 1) == HASHLANE_ERROR_WRONG_COUNT);
    CHECK(hashlane_report_piece_states(report, NULL, N_PIECES) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_report_bitfield(report, bitfield, 1) == HASHLANE_ERROR_WRONG_COUNT);
    CHECK(hashlane_report_bitfield(report, NULL, 2) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_report_counts(report, NULL) == HASHLANE_ERROR_NULL_POINTER);
    hashlane_report_free(report);
}

static void states(const hashlane_torrent *torrent) {
    store(path, content, sizeof content);
    expect(torrent, path, HASHLANE_PIECE_HAVE, HASHLANE_PIECE_HAVE, HASHLANE_PIECE_HAVE, HASHLANE_FILE_WHOLE);
    expect(torrent, folder, HASHLANE_PIECE_HAVE, HASHLANE_PIECE_HAVE, HASHLANE_PIECE_HAVE, HASHLANE_FILE_WHOLE);
    content[5] ^= 1;
    store(path, content, sizeof content - 1);
    content[5] ^= 1;
    expect(torrent, path, HASHLANE_PIECE_BAD, HASHLANE_PIECE_HAVE, HASHLANE_PIECE_MISSING, HASHLANE_FILE_PARTIAL);
    memset(content + PIECE_LEN, 0, 9 * PIECE_LEN);
    content[5] ^= 1;
    store(path, content, sizeof content);
    expect(torrent, path, HASHLANE_PIECE_BAD, HASHLANE_PIECE_MISSING, HASHLANE_PIECE_HAVE, HASHLANE_FILE_PARTIAL);
    fill();
    expect(torrent, missing_path, HASHLANE_PIECE_MISSING, HASHLANE_PIECE_MISSING, HASHLANE_PIECE_MISSING,
           HASHLANE_FILE_MISSING);
    store(path, content, sizeof content);
    CHECK(unlink(path) == 0 && symlink("data.bin", path) == 0);
    expect(torrent, path, HASHLANE_PIECE_UNREADABLE, HASHLANE_PIECE_UNREADABLE, HASHLANE_PIECE_UNREADABLE,
           HASHLANE_FILE_UNREADABLE);
    CHECK(unlink(path) == 0);
    store(path, content, sizeof content);
}

static void cancel(const hashlane_torrent *torrent) {
    hashlane_report *report;
    struct calls calls = {0, 1, 0};
    hashlane_error error = hashlane_torrent_verify(NULL, torrent, path, 1, on_progress, &calls, &report);
    CHECK(calls.n_calls == 1);
    /* The last piece may have been hashed before the callback was called. */
    CHECK(error == HASHLANE_ERROR_CANCELLED || hashlane_report_is_complete(report));
    CHECK(report != NULL);
    hashlane_report_free(report);
}

static void errors(const hashlane_torrent *torrent) {
    hashlane_torrent *other;
    hashlane_report *report;
    hashlane_torrent_sizes sizes;
    hashlane_error error;
    char name[100];
    error = hashlane_torrent_open(missing_path, &other);
    CHECK(error == HASHLANE_ERROR_SYSTEM && other == NULL);
    CHECK(strstr(hashlane_error_details(error), missing_path) != NULL);
    CHECK(hashlane_torrent_open(folder, &other) == HASHLANE_ERROR_SYSTEM);
    error = hashlane_torrent_open(path, &other);
    CHECK(error == HASHLANE_ERROR_INVALID_TORRENT && other == NULL);
    CHECK(strstr(hashlane_error_details(error), path) != NULL);
    /* The details belong to the error of the last call that failed. */
    CHECK(strcmp(hashlane_error_details(HASHLANE_ERROR_SYSTEM), hashlane_error_message(HASHLANE_ERROR_SYSTEM)) == 0);
    CHECK(hashlane_torrent_open(NULL, &other) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_open(path, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_parse(NULL, 1, &other) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_parse(NULL, 0, &other) == HASHLANE_ERROR_INVALID_TORRENT);
    CHECK(hashlane_torrent_parse(metainfo, metainfo_len - 1, &other) == HASHLANE_ERROR_INVALID_TORRENT);
    CHECK(hashlane_torrent_parse(metainfo, (size_t)PTRDIFF_MAX + 1, &other) == HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_torrent_name(NULL, name, sizeof name, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_get_sizes(NULL, &sizes) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_get_sizes(torrent, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_file_path(NULL, 0, name, sizeof name, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_verify(NULL, NULL, path, 0, NULL, NULL, &report) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(report == NULL);
    CHECK(hashlane_torrent_verify(NULL, torrent, NULL, 0, NULL, NULL, &report) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_torrent_verify(NULL, torrent, path, 0, NULL, NULL, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_report_is_complete(NULL) == 0);
    hashlane_report_free(NULL);
    hashlane_torrent_free(NULL);
}

static void *verify(void *torrent) {
    hashlane_report *report;
    CHECK(!hashlane_torrent_verify(NULL, (const hashlane_torrent *)torrent, path, 2, NULL, NULL, &report));
    CHECK(hashlane_report_is_complete(report));
    hashlane_report_free(report);
    return NULL;
}

static void threads(hashlane_torrent *torrent) {
    pthread_t running[N_THREADS];
    int i;
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_create(&running[i], NULL, verify, torrent) == 0);
    }
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_join(running[i], NULL) == 0);
    }
}

/* A structure of a later version, with a field that this library does not have. */
struct later_counts {
    hashlane_counts counts;
    uint64_t more[2];
};

/* The size of a structure is checked, and bytes beyond it are not written. */
static void sizes_of_structures(const hashlane_torrent *torrent) {
    hashlane_report *report;
    hashlane_file_report file;
    hashlane_torrent_sizes sizes;
    struct later_counts later;
    CHECK(!hashlane_torrent_verify(NULL, torrent, path, 1, NULL, NULL, &report));
    memset(&later, 0, sizeof later);
    later.counts.struct_size = sizeof later;
    CHECK(!hashlane_report_counts(report, &later.counts));
    CHECK(later.counts.n_have == N_PIECES && later.counts.struct_size == sizeof later && later.more[0] == 0);
    later.more[1] = 1;
    later.counts.n_have = 99;
    CHECK(hashlane_report_counts(report, &later.counts) == HASHLANE_ERROR_STRUCT_SIZE);
    CHECK(later.counts.n_have == 99);
    later.counts.struct_size = sizeof later.counts;
    CHECK(!hashlane_report_counts(report, &later.counts));
    CHECK(later.counts.n_have == N_PIECES && later.more[1] == 1);
    later.counts.struct_size = 0;
    CHECK(hashlane_report_counts(report, &later.counts) == HASHLANE_ERROR_STRUCT_SIZE);
    later.counts.struct_size = sizeof later.counts - 4;
    CHECK(hashlane_report_counts(report, &later.counts) == HASHLANE_ERROR_STRUCT_SIZE);
    later.counts.struct_size = (size_t)-1;
    CHECK(hashlane_report_counts(report, &later.counts) == HASHLANE_ERROR_STRUCT_SIZE);
    PREPARE(file);
    file.struct_size = 0;
    CHECK(hashlane_report_file(report, 0, &file) == HASHLANE_ERROR_STRUCT_SIZE);
    PREPARE(sizes);
    sizes.struct_size--;
    CHECK(hashlane_torrent_get_sizes(torrent, &sizes) == HASHLANE_ERROR_STRUCT_SIZE);
    CHECK(sizes.n_pieces == 0 && file.n_pieces == 0);
    hashlane_report_free(report);
}

static void digest_of_file(void) {
    uint8_t found[HASHLANE_MAX_DIGEST_LEN], expected[HASHLANE_MAX_DIGEST_LEN];
    static const hashlane_algorithm OTHERS[] = {HASHLANE_SHA1, HASHLANE_SHA224, HASHLANE_SHA384, HASHLANE_SHA512, HASHLANE_MD5};
    int i;
    memset(found, 0, sizeof found);
    memset(expected, 0, sizeof expected);
    for (i = 0; i < 5; i++) {
        const size_t len = hashlane_digest_len(OTHERS[i]);
        CHECK(!hashlane_digest(NULL, OTHERS[i], metainfo, metainfo_len, expected));
        CHECK(!hashlane_digest_file(NULL, OTHERS[i], torrent_path, found));
        CHECK(memcmp(found, expected, len) == 0);
    }
    CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, metainfo, metainfo_len, expected));
    CHECK(!hashlane_digest_file(NULL, HASHLANE_SHA256, torrent_path, found));
    CHECK(memcmp(found, expected, HASHLANE_SHA256_LEN) == 0);
    CHECK(hashlane_digest_file(NULL, HASHLANE_SHA256, missing_path, found) == HASHLANE_ERROR_SYSTEM);
    CHECK(strstr(hashlane_error_details(HASHLANE_ERROR_SYSTEM), missing_path) != NULL);
    CHECK(hashlane_digest_file(NULL, HASHLANE_SHA256, folder, found) == HASHLANE_ERROR_SYSTEM);
    CHECK(memcmp(found, expected, HASHLANE_SHA256_LEN) == 0);
    CHECK(hashlane_digest_file(NULL, 99, torrent_path, found) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(hashlane_digest_file(NULL, HASHLANE_SHA256, NULL, found) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_file(NULL, HASHLANE_SHA256, torrent_path, NULL) == HASHLANE_ERROR_NULL_POINTER);
}

int main(void) {
    hashlane_torrent *torrent, *same;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/data.bin", folder);
    snprintf(torrent_path, sizeof torrent_path, "%s/data.torrent", folder);
    snprintf(missing_path, sizeof missing_path, "%s/missing", folder);
    make_torrent();
    store(torrent_path, metainfo, metainfo_len);
    digest_of_file();
    CHECK(!hashlane_torrent_open(torrent_path, &torrent));
    CHECK(!hashlane_torrent_parse(metainfo, metainfo_len, &same));
    description(torrent);
    description(same);
    hashlane_torrent_free(same);
    states(torrent);
    sizes_of_structures(torrent);
    cancel(torrent);
    errors(torrent);
    threads(torrent);
    hashlane_torrent_free(torrent);
    CHECK(unlink(path) == 0 && unlink(torrent_path) == 0 && rmdir(folder) == 0);
    return 0;
}
