/* Tree hashes of files, and the errors of wrong names, parameters and files. */
#include <hashlane.h>
#include <unistd.h>

#include "check.h"

/* The fs-verity digests by `fsverity digest` 1.5, and the CID by ipfs-unixfs-importer 17.1.1, of the file `a`. */
static const char PLAIN[] = "sha256:bce75948b9e7510293f8f2720412af9697c1479281323f3f220623fb8e94b557";
static const char SALTED[] = "sha256:bfac0e766763e01dc1048800d684b953583f2e223baa0b1524147bf6c1353b9a";
static const char CID[] = "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm";

int main(void) {
    static char path[] = "/tmp/hashlane-tree-XXXXXX";
    static const uint8_t salt[] = {0x00, 0xff};
    char text[256];
    size_t len = 0;
    int file = mkstemp(path), error;
    CHECK(file >= 0);
    CHECK(write(file, "a", 1) == 1);
    CHECK(close(file) == 0);

    CHECK(!hashlane_tree_digest(NULL, "fsverity", path, 0, NULL, 0, 0, text, sizeof text, &len));
    CHECK(strcmp(text, PLAIN) == 0);
    CHECK(len == strlen(PLAIN));
    CHECK(!hashlane_tree_digest(NULL, "fsverity", path, 1024, salt, sizeof salt, 1, text, sizeof text, NULL));
    CHECK(strcmp(text, SALTED) == 0);
    CHECK(!hashlane_tree_digest(NULL, "cid", path, 0, NULL, 0, 2, text, sizeof CID, NULL));
    CHECK(strcmp(text, CID) == 0);
    CHECK(!hashlane_tree_digest(NULL, "s3-etag", path, 5 << 20, NULL, 0, 0, text, sizeof text, NULL));
    CHECK(strcmp(text, "0cc175b9c0f1b6a831c399e269772661") == 0);

    error = hashlane_tree_digest(NULL, "cid", path, 0, NULL, 0, 0, text, sizeof CID - 1, &len);
    CHECK(error == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(len == strlen(CID));
    error = hashlane_tree_digest(NULL, "sha256", path, 0, NULL, 0, 0, text, sizeof text, NULL);
    CHECK(error == HASHLANE_ERROR_UNKNOWN_TREE);
    error = hashlane_tree_digest(NULL, "fsverity", path, 1000, NULL, 0, 0, text, sizeof text, NULL);
    CHECK(error == HASHLANE_ERROR_TREE_PARAMETER);
    CHECK(strstr(hashlane_error_details(error), "1000 bytes") != NULL);
    error = hashlane_tree_digest(NULL, "git", path, 0, salt, sizeof salt, 0, text, sizeof text, NULL);
    CHECK(error == HASHLANE_ERROR_TREE_PARAMETER);
    error = hashlane_tree_digest(NULL, "dmverity", path, 0, NULL, 0, 0, text, sizeof text, NULL);
    CHECK(error == HASHLANE_ERROR_UNUSABLE_FILE);
    CHECK(strstr(hashlane_error_details(error), path) != NULL);
    CHECK(hashlane_tree_digest(NULL, NULL, path, 0, NULL, 0, 0, text, sizeof text, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_tree_digest(NULL, "git", path, 0, NULL, 4, 0, text, sizeof text, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(unlink(path) == 0);
    CHECK(hashlane_tree_digest(NULL, "git", path, 0, NULL, 0, 0, text, sizeof text, NULL) == HASHLANE_ERROR_SYSTEM);
    return 0;
}
