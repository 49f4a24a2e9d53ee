/* Prints the SHA-256 digest of a file, read in parts of 64 KiB. */
#include <hashlane.h>
#include <stdio.h>

int main(int argc, char **argv) {
    static unsigned char part[65536];
    uint8_t digest[HASHLANE_SHA256_LEN];
    hashlane_hasher *hasher;
    hashlane_error error;
    FILE *file;
    size_t part_len, i;
    int is_read;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    file = fopen(argv[1], "rb");
    if (file == NULL) {
        perror(argv[1]);
        return 1;
    }
    error = hashlane_hasher_new(NULL, HASHLANE_SHA256, &hasher);
    while (!error && (part_len = fread(part, 1, sizeof part, file)) > 0) {
        error = hashlane_hasher_update(hasher, part, part_len);
    }
    is_read = !ferror(file);
    fclose(file);
    if (!error) {
        error = hashlane_hasher_finish(hasher, digest);
    }
    hashlane_hasher_free(hasher);
    if (error || !is_read) {
        fprintf(stderr, "%s: %s\n", argv[1], error ? hashlane_error_message(error) : "read error");
        return 1;
    }
    for (i = 0; i < sizeof digest; i++) {
        printf("%02x", digest[i]);
    }
    printf("  %s\n", argv[1]);
    return fflush(stdout) == 0 ? 0 : 1;
}
