/* Tree hashes of files and folders, the files that they write, checks of them, of hash devices and of signature files, and
 * the errors of wrong names, parameters and files. */
#include <hashlane.h>
#include <stddef.h>
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

/* The SHA-256 of the hash device by veritysetup 2.6.1 of 12,288 times `a` with this salt and UUID, and its root hash. */
static const uint8_t uuid[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
static const char DEVICE[] = "bd56abcf380dcf5f2fdcdf89671a2b435bf640842efd987dd9dc30522940cd9a";
static const char SALTED_ROOT[] = "d443a3fcba646a5025dc640ca7d284ff0a876430d52fac4a9cf394a6ce8697e0";

/* The SHA-256 of the tree and of the descriptor by `fsverity digest` 1.5 of 12,288 times `a` with this salt and blocks of
 * 1024 bytes. */
static const char MERKLE_TREE[] = "af00ac695446345b319b789f0e5500dfb1f488a7b050b36a9e49c8329b7e81a3";
static const char DESCRIPTOR[] = "10657762aefff36039f32d5be363f550e23e829ca10fa8407c55474cda47ca5c";

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
    const char *excludes[] = {"LIN?", "[a", NULL};
    hashlane_tree_options options;
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
    PREPARE(options);
    options.excludes = excludes;
    options.n_excludes = 1;
    CHECK(!digest("cid", folder, &options));
    CHECK(strcmp(text, FOLDER_CID) == 0);
    CHECK(!hashlane_tree_check(NULL, "git", folder, &options, TREE));
    CHECK(digest("fsverity", link, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.n_excludes = 2;
    error = digest("cid", folder, &options);
    CHECK(error == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(strstr(hashlane_error_details(error), "[a") != NULL);
    options.n_excludes = 3;
    excludes[1] = "b";
    CHECK(digest("cid", folder, &options) == HASHLANE_ERROR_NULL_POINTER);
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

    CHECK(!hashlane_verity_check(NULL, data, device, 0, root, sizeof root, 0, &report));
    CHECK(hashlane_verity_report_is_right(report) == 1);
    CHECK(!hashlane_verity_report_root(report, text, sizeof text, NULL));
    CHECK(strcmp(text, ROOT) == 0);
    CHECK(hashlane_verity_report_damaged(report, 0, 0, &first, &last) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    hashlane_verity_report_free(report);

    root[0] ^= 1;
    CHECK(!hashlane_verity_check(NULL, data, device, 0, root, sizeof root, 1, &report));
    CHECK(hashlane_verity_report_is_right(report) == 0);
    hashlane_verity_report_free(report);
    error = hashlane_verity_check(NULL, data, device, 0, root, 20, 1, &report);
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
    CHECK(!hashlane_verity_check(NULL, data, device, 0, NULL, 0, 0, &report));
    CHECK(hashlane_verity_report_is_right(report) == 0);
    PREPARE(counts);
    CHECK(!hashlane_verity_report_counts(report, &counts));
    CHECK(counts.n_blocks == 3);
    CHECK(counts.bytes_beyond == 4096);
    CHECK(counts.n_damaged == 1);
    CHECK(counts.n_device_damaged == 0);
    CHECK(!hashlane_verity_report_damaged(report, 0, 0, &first, &last));
    CHECK(first == 1 && last == 1);
    CHECK(hashlane_verity_report_damaged(report, 1, 0, &first, &last) == HASHLANE_ERROR_INDEX_TOO_LARGE);
    hashlane_verity_report_free(report);
    hashlane_verity_report_free(NULL);
    CHECK(hashlane_verity_report_is_right(NULL) == 0);

    error = hashlane_verity_check(NULL, device, data, 0, NULL, 0, 0, &report);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(strstr(hashlane_error_details(error), data) != NULL);
}

/* Checks that a file has this SHA-256, and removes it. */
static void has_digest(const char *path, const char *digits) {
    uint8_t digest[HASHLANE_SHA256_LEN];
    CHECK(!hashlane_digest_file(NULL, HASHLANE_SHA256, path, digest));
    CHECK_HEX(digest, digits);
    CHECK(unlink(path) == 0);
}

static void written_files(const char *data, const char *device, const char *tree, const char *descriptor) {
    hashlane_tree_options options;
    uint8_t byte;
    int error;
    PREPARE(options);
    options.salt = salt;
    options.salt_len = sizeof salt;
    options.uuid = uuid;
    options.hash_device = device;
    CHECK(!digest("dmverity", data, &options));
    CHECK(strcmp(text, SALTED_ROOT) == 0);
    error = digest("dmverity", data, &options);
    CHECK(error == HASHLANE_ERROR_SYSTEM);
    CHECK(strstr(hashlane_error_details(error), device) != NULL);
    has_digest(device, DEVICE);
    write_file(device, 'x', 1);
    options.overwrite = 2;
    CHECK(digest("dmverity", data, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.overwrite = 1;
    /* A check writes nothing. */
    CHECK(hashlane_tree_check(NULL, "dmverity", data, &options, SALTED_ROOT) == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(!digest("dmverity", data, &options));
    has_digest(device, DEVICE);
    /* Without a result, nothing is written. */
    options.block_len = 65536;
    CHECK(digest("dmverity", data, &options) == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(access(device, F_OK) != 0);
    /* A program that was compiled before these fields existed. */
    options.struct_size = offsetof(hashlane_tree_options, uuid);
    options.block_len = 0;
    CHECK(!digest("dmverity", data, &options));
    CHECK(access(device, F_OK) != 0);
    options.struct_size -= 1;
    CHECK(digest("dmverity", data, &options) == HASHLANE_ERROR_STRUCT_SIZE);

    PREPARE(options);
    options.salt = salt;
    options.salt_len = sizeof salt;
    options.block_len = 1024;
    options.out_merkle_tree = tree;
    options.out_descriptor = tree;
    CHECK(digest("fsverity", data, &options) == HASHLANE_ERROR_SYSTEM);
    options.out_descriptor = data;
    options.overwrite = 1;
    CHECK(digest("fsverity", data, &options) == HASHLANE_ERROR_SYSTEM);
    CHECK(access(tree, F_OK) != 0);
    options.out_descriptor = descriptor;
    CHECK(!digest("fsverity", data, &options));
    has_digest(tree, MERKLE_TREE);
    has_digest(descriptor, DESCRIPTOR);
    CHECK(digest("dmverity", data, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    PREPARE(options);
    options.hash_device = device;
    CHECK(digest("fsverity", data, &options) == HASHLANE_ERROR_TREE_PARAMETER);
    options.hash_device = (const char *)&byte;
    byte = 0;
    CHECK(digest("dmverity", data, &options) == HASHLANE_ERROR_SYSTEM);
}

/* A signature file of version 4 has the root hash of SHA-256 in blocks of 4096 bytes, signatures, here none, and the tree. */
static void signature_files(const char *data, const char *idsig, const char *tree) {
    static const uint8_t start[] = {2, 0, 0, 0, 45, 0, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0, 0, 32, 0, 0, 0};
    static const uint8_t zeros[4] = {0}, len[4] = {0, 16, 0, 0};
    hashlane_tree_options options;
    hashlane_verity_report *report;
    uint8_t bytes[4096], root[HASHLANE_SHA256_LEN];
    uint64_t first = 9, last = 9;
    FILE *file;
    int error, has_tree;
    PREPARE(options);
    options.out_merkle_tree = tree;
    CHECK(!digest("apk-idsig", data, &options));
    file = fopen(tree, "rb");
    CHECK(file != NULL);
    CHECK(fread(bytes, 1, sizeof bytes, file) == sizeof bytes && fgetc(file) == EOF);
    CHECK(fclose(file) == 0 && unlink(tree) == 0);
    CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, bytes, sizeof bytes, root));
    CHECK_HEX(root, text);
    for (has_tree = 0; has_tree < 2; has_tree++) {
        file = fopen(idsig, "wb");
        CHECK(file != NULL);
        CHECK(fwrite(start, 1, sizeof start, file) == sizeof start);
        CHECK(fwrite(root, 1, sizeof root, file) == sizeof root);
        CHECK(fwrite(zeros, 1, sizeof zeros, file) == sizeof zeros);
        if (has_tree) {
            CHECK(fwrite(len, 1, sizeof len, file) == sizeof len);
            CHECK(fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes);
        }
        CHECK(fclose(file) == 0);
        CHECK(!hashlane_idsig_check(NULL, data, idsig, 0, &report));
        CHECK(hashlane_verity_report_is_right(report) == 1);
        hashlane_verity_report_free(report);
    }
    file = fopen(data, "r+b");
    CHECK(file != NULL);
    CHECK(fseek(file, 4096, SEEK_SET) == 0 && fputc('b', file) == 'b' && fclose(file) == 0);
    CHECK(!hashlane_idsig_check(NULL, data, idsig, 1, &report));
    CHECK(hashlane_verity_report_is_right(report) == 0);
    CHECK(!hashlane_verity_report_damaged(report, 0, 0, &first, &last));
    CHECK(first == 1 && last == 1);
    hashlane_verity_report_free(report);
    error = hashlane_idsig_check(NULL, data, data, 0, &report);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE && report == NULL);
    CHECK(strstr(hashlane_error_details(error), data) != NULL);
    CHECK(hashlane_idsig_check(NULL, data, tree, 0, &report) == HASHLANE_ERROR_SYSTEM);
    CHECK(hashlane_idsig_check(NULL, data, NULL, 0, &report) == HASHLANE_ERROR_NULL_POINTER);
    file = fopen(data, "r+b");
    CHECK(file != NULL);
    CHECK(fseek(file, 4096, SEEK_SET) == 0 && fputc('a', file) == 'a' && fclose(file) == 0);
    CHECK(unlink(idsig) == 0);
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
    char a[64], sub[64], b[64], link[64], data[64], device[64], tree[64], descriptor[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(sub, sizeof sub, "%s/sub", folder);
    snprintf(b, sizeof b, "%s/sub/b", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(device, sizeof device, "%s/device", folder);
    snprintf(tree, sizeof tree, "%s/tree", folder);
    snprintf(descriptor, sizeof descriptor, "%s/descriptor", folder);
    write_file(a, 'a', 1);
    CHECK(mkdir(sub, 0755) == 0);
    write_file(b, 'b', 1);
    CHECK(chmod(b, 0755) == 0);
    folders(folder, link);
    write_file(data, 'a', 12288);
    values_of_other_programs(a, data);
    checks(a);
    written_files(data, device, tree, descriptor);
    signature_files(data, device, tree);
    hash_devices(data, device);
    errors(a);
    CHECK(unlink(data) == 0 && unlink(device) == 0 && unlink(b) == 0);
    CHECK(rmdir(sub) == 0 && rmdir(folder) == 0);
    return 0;
}
