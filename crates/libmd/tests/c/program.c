/*
 * A program that is linked with libmd like any other: prints digests of FILE by all eighteen functions, and to
 * the standard error stream the library that computed them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <md5.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#define PRINT(NAME, CONTEXT, LEN, STATE)                              \
    do {                                                              \
        CONTEXT context;                                              \
        unsigned char digest[LEN];                                    \
        char text[2 * LEN + 1];                                       \
        NAME##Init(&context);                                         \
        NAME##Update(&context, block, sizeof block);                  \
        NAME##Transform(STATE, block);                                \
        NAME##Pad(&context);                                          \
        NAME##Final(digest, &context);                                \
        for (int i = 0; i < LEN; i++)                                 \
            printf("%02x", digest[i]);                                \
        NAME##Init(&context);                                         \
        NAME##Update(&context, (const unsigned char *)"abc", 3);      \
        printf("\n%s\n", NAME##End(&context, text));                  \
        printf("%s\n", NAME##File(argv[1], text));                    \
        printf("%s\n", NAME##FileChunk(argv[1], text, 3, 100));       \
        printf("%s\n", NAME##Data(block, sizeof block, text));        \
    } while (0)

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    unsigned char block[64];
    memset(block, 'x', sizeof block);
    PRINT(SHA1, SHA1_CTX, 20, context.state);
    PRINT(SHA256, SHA2_CTX, 32, context.state.st32);
    char text[SHA512_DIGEST_STRING_LENGTH];
    printf("%s\n", MD5Data(block, sizeof block, text));
    printf("%s\n", SHA512File(argv[1], text));
    Dl_info info;
    if (!dladdr((void *)SHA1Update, &info))
        return 2;
    fprintf(stderr, "%s\n", info.dli_fname);
    return 0;
}
