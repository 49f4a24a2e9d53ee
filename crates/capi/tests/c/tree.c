/* Tree hashes of files and folders, checks of them and of hash devices, and the errors of wrong names, parameters and
 * files. */
#include <hashlane.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* The fs-verity digests by `fsverity digest` 1.5, and the CID by ipfs-unixfs-importer 17.1.1, of the file `a`. */
static const char PLAIN[] = "sha256:bce75948b9e7510293f8f2720412af9697c1479281323f3f220623fb8e94b557";
static const char SALTED[] = "sha256:bfac0e766763e01dc1048800d684b953583f2e223baa0b1524147bf6c1353b9a";
static const char CID[] = "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm";

/* The root hashes by veritysetup 2.6.1 of 12,288 times `a`. */
static const char ROOT[] = "289cefd06bf53bed28dc2cc593c1ac6bce08bfe7835a525c01cb1ed64ed0b312";
static const char CHROME_OS_SHA1[] = "397244a510947906ef3e69146c3417a02ef8c075";
static const char SALTED_SHA512[] =
    "6ec3bfe565ea86e6f6f66b2f886ed99d18013143050c300658dd7066d2524e5574ccb6977d39a560dcfe2913631ccdfef832375d73e222b440cc6094e9215175";

/* By Git 2.39.5 and ipfs-unixfs-importer 17.1.1, of a folder with the file `a` and, in the folder `sub`, the executable
 * file `b`. */
static const char TREE[] = "cea6b2f4b7d13736be1d93f3b3cbbf0796abe629";
static const char TREE_SHA256[] = "89834c52a91f32768c9151b088fa451f9718f2cac314a900c8365ccff7a2b658";
static const char FOLDER_CID[] = "bafybeidqujir4ensxula5ucznwuoouycv43gqt74a5dz2vcue7ysr5knui";

static const uint8_t salt[] = {0x00, 0xff};

static char text[256];

static int digest(const char *name, const char *path, const hashlane_tree_options *options) {
    return hashlane_tree_digest(NULL, name, path, options, text, sizeof text, NULL);
}

/* Writes a file of `len` times `byte`. */
static void write_file(const char *path, char byte, size_t len) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    while (len-- > 0) CHECK(fputc(byte, file) == byte);
    CHECK(fclose(file) == 0);
}

static void values_of_other_programs(const char *a, const char *data) {
    hashlane_tree_options options;
    size_t len = 0;
    CHECK(!hashlane_tree_digest(NULL, "fsverity", a, NULL, text, sizeof text, &len));
    CHECK(strcmp(text, PLAIN) == 0);
    CHECK(len == strlen(PLAIN));
    PREPARE(options);
    CHECK(!digest("fsverity", a, &options));
    CHECK(strcmp(text, PLAIN) == 0);
    options.block_len = 1024;
    options.salt = salt;
    options.salt_len = sizeof salt;
    options.n_threads = 1;
    CHECK(!digest("fsverity", a, &options));
    CHECK(strcmp(text, SALTED) == 0);
    CHECK(!hashlane_tree_digest(NULL, "cid", a, NULL, text, sizeof CID, NULL));
    CHECK(strcmp(text, CID) == 0);
    PREPARE(options);
    options.part_len = 5 << 20;
    CHECK(!digest("s3-etag", a, &options));
    CHECK(strcmp(text, "0cc175b9c0f1b6a831c399e269772661") == 0);

    CHECK(!digest("dmverity", data, NULL));
    CHECK(strcmp(text, ROOT) == 0);
    PREPARE(options);
    options.salt = salt;
    options.salt_len = sizeof salt;
    options.hash = HASHLANE_SHA512;
    CHECK(!digest("dmverity", data, &options));
    CHECK(strcmp(text, SALTED_SHA512) == 0);
    options.hash = HASHLANE_SHA1;
    options.is_chrome_os = 1;
    CHECK(!digest("dmverity", data, &options));
    CHECK(strcmp(text, CHROME_OS_SHA1) == 0);
}

static void folders(const char *folder, const char *link) {
    int error;
    CHECK(!digest("git", folder, NULL));
    CHECK(strcmp(text, TREE) == 0);
    CHECK(!digest("git-sha256", folder, NULL));
    CHECK(strcmp(text, TREE_SHA256) == 0);
    CHECK(!digest("cid", folder, NULL));
    CHECK(strcmp(text, FOLDER_CID) == 0);
    CHECK(!hashlane_tree_check(NULL, "git", folder, NULL, TREE));
    CHECK(digest("fsverity", folder, NULL) == HASHLANE_ERROR_SYSTEM);
    CHECK(symlink("a", link) == 0);
    error = digest("cid", folder, NULL);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(strstr(hashlane_error_details(error), link) != NULL);
    CHECK(unlink(link) == 0);
}

static void checks(const char *a) {
    hashlane_tree_options options;
    int error;
    CHECK(!hashlane_tree_check(NULL, "fsverity", a, NULL, PLAIN));
    error = hashlane_tree_check(NULL, "fsverity", a, NULL, SALTED);
    CHECK(error == HASHLANE_ERROR_DIGEST_MISMATCH);
    CHECK(strstr(hashlane_error_details(error), a) != NULL);
    PREPARE(options);
    options.block_len = 1024;
    options.salt = salt;
    options.salt_len = sizeof salt;
    CHECK(!hashlane_tree_check(NULL, "fsverity", a, &options, SALTED));
    /* Quotes and the case of digits make no difference. */
    CHECK(!hashlane_tree_check(NULL, "s3-etag", a, NULL, "\"0CC175B9C0F1B6A831C399E269772661\""));
    CHECK(hashlane_tree_check(NULL, "git", a, NULL, "00") == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(hashlane_tree_check(NULL, "git", a, NULL, NULL) == HASHLANE_ERROR_NULL_POINTER);
}

/* The blocks of the tree of 12,288 times `a`: one block of three digests, from byte 4096 of the device on. */
static void hash_devices(const char *data, const char *device) {
    /* The superblock of version 1: format 1, SHA-256, blocks of 4096 bytes, 3 blocks, no salt. */
    static const uint8_t numbers[] = {1, 0, 0, 0, 1};
    static const uint8_t lens[] = {0, 16, 0, 0, 0, 16, 0, 0, 3};
    uint8_t bytes[8192] = "verity", leaf[4096], root[HASHLANE_SHA256_LEN];
    hashlane_verity_report *report;
    hashlane_verity_counts counts;
    uint64_t first = 9, last = 9;
    FILE *file;
    int error, i;
    memcpy(bytes + 8, numbers, sizeof numbers);
    memcpy(bytes + 32, "sha256", 6);
    memcpy(bytes + 64, lens, sizeof lens);
    memset(leaf, 'a', sizeof leaf);
    for (i = 0; i < 3; i++) {
        CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, leaf, sizeof leaf, bytes + 4096 + 32 * i));
    }
    CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, bytes + 4096, 4096, root));
    file = fopen(device, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes);
    CHECK(fclose(file) == 0);

    CHECK(!hashlane_verity_check(NULL, data, device, root, sizeof root, 0, &report));
    CHECK(hashlane_verity_report_is_right(report) == 1);
    CHECK(!hashlane_verity_report_root(report, text, sizeof text, NULL));
    CHECK(strcmp(text, ROOT) == 0);
    CHECK(hashlane_verity_report_damaged(report, 0, 0, &first, &last) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    hashlane_verity_report_free(report);

    root[0] ^= 1;
    CHECK(!hashlane_verity_check(NULL, data, device, root, sizeof root, 1, &report));
    CHECK(hashlane_verity_report_is_right(report) == 0);
    hashlane_verity_report_free(report);
    error = hashlane_verity_check(NULL, data, device, root, 20, 1, &report);
    CHECK(error == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(strstr(hashlane_error_details(error), "20 bytes") != NULL);
    CHECK(report == NULL);

    file = fopen(data, "r+b");
    CHECK(file != NULL);
    CHECK(fseek(file, 8191, SEEK_SET) == 0);
    CHECK(fputc('b', file) == 'b');
    CHECK(fseek(file, 12288, SEEK_SET) == 0);
    CHECK(fwrite(leaf, 1, sizeof leaf, file) == sizeof leaf);
    CHECK(fclose(file) == 0);
    CHECK(!hashlane_verity_check(NULL, data, device, NULL, 0, 0, &report));
    CHECK(hashlane_verity_report_is_right(report) == 0);
    PREPARE(counts);
    CHECK(!hashlane_verity_report_counts(report, &counts));
    CHECK(counts.n_blocks == 3);
    CHECK(counts.n_beyond == 1);
    CHECK(counts.n_damaged == 1);
    CHECK(counts.n_device_damaged == 0);
    CHECK(!hashlane_verity_report_damaged(report, 0, 0, &first, &last));
    CHECK(first == 1 && last == 1);
    CHECK(hashlane_verity_report_damaged(report, 1, 0, &first, &last) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    hashlane_verity_report_free(report);
    hashlane_verity_report_free(NULL);
    CHECK(hashlane_verity_report_is_right(NULL) == 0);

    error = hashlane_verity_check(NULL, device, data, NULL, 0, 0, &report);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(strstr(hashlane_error_details(error), data) != NULL);
}

static void errors(const char *a) {
    hashlane_tree_options options;
    size_t len = 0;
    int error = hashlane_tree_digest(NULL, "cid", a, NULL, text, sizeof CID - 1, &len);
    CHECK(error == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(len == strlen(CID));
    CHECK(digest("sha256", a, NULL) == HASHLANE_ERROR_UNKNOWN_TREE);
    PREPARE(options);
    options.block_len = 1000;
    error = digest("fsverity", a, &options);
    CHECK(error == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(strstr(hashlane_error_details(error), "1000 bytes") != NULL);
    PREPARE(options);
    options.salt = salt;
    options.salt_len = sizeof salt;
    CHECK(digest("git", a, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.salt = NULL;
    CHECK(digest("fsverity", a, &options) == HASHLANE_ERROR_NULL_POINTER);
    PREPARE(options);
    options.hash = HASHLANE_SHA512;
    CHECK(digest("fsverity", a, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.hash = HASHLANE_MD5;
    CHECK(digest("dmverity", a, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.hash = 99;
    CHECK(digest("dmverity", a, &options) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    PREPARE(options);
    options.is_chrome_os = 2;
    CHECK(digest("dmverity", a, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.is_chrome_os = 1;
    CHECK(digest("cid", a, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    memset(&options, 0, sizeof options);
    CHECK(digest("cid", a, &options) == HASHLANE_ERROR_STRUCT_SIZE);
    error = digest("dmverity", a, NULL);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(strstr(hashlane_error_details(error), a) != NULL);
    CHECK(digest(NULL, a, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(unlink(a) == 0);
    error = digest("git", a, NULL);
    CHECK(error == HASHLANE_ERROR_SYSTEM);
    CHECK(strstr(hashlane_error_details(error), a) != NULL);
}

int main(void) {
    static char folder[] = "/tmp/hashlane-tree-XXXXXX";
    char a[64], sub[64], b[64], link[64], data[64], device[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(sub, sizeof sub, "%s/sub", folder);
    snprintf(b, sizeof b, "%s/sub/b", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(device, sizeof device, "%s/device", folder);
    write_file(a, 'a', 1);
    CHECK(mkdir(sub, 0755) == 0);
    write_file(b, 'b', 1);
    CHECK(chmod(b, 0755) == 0);
    folders(folder, link);
    write_file(data, 'a', 12288);
    values_of_other_programs(a, data);
    checks(a);
    hash_devices(data, device);
    errors(a);
    CHECK(unlink(data) == 0 && unlink(device) == 0 && unlink(b) == 0);
    CHECK(rmdir(sub) == 0 && rmdir(folder) == 0);
    return 0;
}
