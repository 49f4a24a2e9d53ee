/* The rules of the standard (v2.40) for objects: templates, attributes, copies, searches and lifetimes. */
#include "module.h"

static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
static CK_OBJECT_CLASS secret = CKO_SECRET_KEY;
static CK_KEY_TYPE generic = CKK_GENERIC_SECRET;
static CK_MECHANISM generate = {CKM_GENERIC_SECRET_KEY_GEN, NULL, 0};
static const CK_ULONG NO_HANDLE = 12345;

#define BASE {CKA_CLASS, &secret, sizeof secret}, {CKA_KEY_TYPE, &generic, sizeof generic}
#define VALUE {CKA_VALUE, "value", 5}
#define CREATE(...) create(session, (CK_ATTRIBUTE[]){__VA_ARGS__}, sizeof((CK_ATTRIBUTE[]){__VA_ARGS__}) / sizeof(CK_ATTRIBUTE))
#define GENERATE(...) \
    p11->C_GenerateKey(session, &generate, (CK_ATTRIBUTE[]){__VA_ARGS__}, \
                       sizeof((CK_ATTRIBUTE[]){__VA_ARGS__}) / sizeof(CK_ATTRIBUTE), &made)
#define SET(key, ...) \
    p11->C_SetAttributeValue(session, key, (CK_ATTRIBUTE[]){__VA_ARGS__}, \
                             sizeof((CK_ATTRIBUTE[]){__VA_ARGS__}) / sizeof(CK_ATTRIBUTE))
#define COPY(key, ...) \
    p11->C_CopyObject(session, key, (CK_ATTRIBUTE[]){__VA_ARGS__}, \
                      sizeof((CK_ATTRIBUTE[]){__VA_ARGS__}) / sizeof(CK_ATTRIBUTE), &made)

static CK_OBJECT_HANDLE made;

static CK_RV create(CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count)
{
    return p11->C_CreateObject(session, template, count, &made);
}

static CK_BBOOL flag(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type)
{
    CK_BBOOL value = 99;
    CK_ATTRIBUTE attribute = {type, &value, sizeof value};
    OK(p11->C_GetAttributeValue(session, key, &attribute, 1));
    CHECK(value <= 1 && attribute.ulValueLen == 1);
    return value;
}

static void templates(CK_SESSION_HANDLE session)
{
    CK_OBJECT_CLASS data = CKO_DATA;
    CK_KEY_TYPE aes = CKK_AES;
    CK_ULONG len = 5;
    CK_BBOOL two = 2;
    static unsigned char large[(1 << 16) + 1];
    OK(CREATE(BASE, VALUE));
    EXPECT(CKR_TEMPLATE_INCOMPLETE, CREATE(BASE));
    EXPECT(CKR_TEMPLATE_INCOMPLETE, CREATE({CKA_CLASS, &secret, sizeof secret}, VALUE));
    EXPECT(CKR_TEMPLATE_INCOMPLETE, CREATE({CKA_KEY_TYPE, &generic, sizeof generic}, VALUE));
    EXPECT(CKR_TEMPLATE_INCONSISTENT, CREATE(BASE, VALUE, VALUE));
    EXPECT(CKR_TEMPLATE_INCONSISTENT, CREATE(BASE, VALUE, {CKA_VALUE_LEN, &len, sizeof len}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE({CKA_CLASS, &data, sizeof data}, {CKA_KEY_TYPE, &generic, sizeof generic}, VALUE));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE({CKA_CLASS, &secret, sizeof secret}, {CKA_KEY_TYPE, &aes, sizeof aes}, VALUE));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE({CKA_CLASS, &secret, 1}, {CKA_KEY_TYPE, &generic, sizeof generic}, VALUE));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, {CKA_VALUE, NULL, 0}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, {CKA_VALUE, NULL, 5}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, {CKA_VALUE, "value", ~0UL}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, {CKA_VALUE, large, sizeof large}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, VALUE, {CKA_SIGN, &two, 1}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, VALUE, {CKA_SIGN, &yes, 0}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, VALUE, {CKA_START_DATE, "2026112", 7}));
    EXPECT(CKR_ATTRIBUTE_TYPE_INVALID, CREATE(BASE, VALUE, {CKA_MODULUS, "x", 1}));
    EXPECT(CKR_ATTRIBUTE_TYPE_INVALID, CREATE(BASE, VALUE, {CKA_WRAP_TEMPLATE, NULL, 0}));
    EXPECT(CKR_ATTRIBUTE_VALUE_INVALID, CREATE(BASE, VALUE, {CKA_ALLOWED_MECHANISMS, "7 bytes", 7}));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, CREATE(BASE, VALUE, {CKA_LOCAL, &yes, 1}));
    EXPECT(CKR_SESSION_READ_ONLY, CREATE(BASE, VALUE, {CKA_TOKEN, &yes, 1}));
    EXPECT(CKR_USER_NOT_LOGGED_IN, CREATE(BASE, VALUE, {CKA_PRIVATE, &yes, 1}));
    OK(CREATE(BASE, VALUE, {CKA_PRIVATE, &no, 1}));
    OK(CREATE(BASE, {CKA_VALUE, large, 1 << 16}, {CKA_START_DATE, "20261122", 8}, {CKA_TOKEN, &no, 1}));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_CreateObject(session, NULL, 1, &made));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_CreateObject(session, (CK_ATTRIBUTE[]){BASE, VALUE}, ~0UL, &made));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_CreateObject(session, (CK_ATTRIBUTE[]){BASE, VALUE}, 3, NULL));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_CreateObject(NO_HANDLE, (CK_ATTRIBUTE[]){BASE, VALUE}, 3, &made));
    CK_SESSION_HANDLE read_write = open_session(CKF_RW_SESSION);
    CK_ATTRIBUTE template[] = {BASE, VALUE, {CKA_TOKEN, &yes, 1}};
    EXPECT(CKR_TOKEN_WRITE_PROTECTED, create(read_write, template, 4));
    OK(p11->C_CloseSession(read_write));
}

static void generation(CK_SESSION_HANDLE session)
{
    CK_ULONG len = 32, zero = 0, large = (1 << 16) + 1, mechanism = 0;
    CK_KEY_TYPE hmac = CKK_SHA256_HMAC;
    CK_MECHANISM digest = {CKM_SHA_1, NULL, 0};
    unsigned char first[32], second[32];
    CK_ATTRIBUTE value = {CKA_VALUE, first, sizeof first}, by = {CKA_KEY_GEN_MECHANISM, &mechanism, sizeof mechanism};
    OK(GENERATE({CKA_VALUE_LEN, &len, sizeof len}));
    OK(p11->C_GetAttributeValue(session, made, &value, 1));
    CHECK(value.ulValueLen == 32);
    OK(p11->C_GetAttributeValue(session, made, &by, 1));
    CHECK(mechanism == CKM_GENERIC_SECRET_KEY_GEN);
    CHECK(flag(session, made, CKA_LOCAL) && !flag(session, made, CKA_ALWAYS_SENSITIVE));
    CHECK(!flag(session, made, CKA_NEVER_EXTRACTABLE));
    OK(GENERATE(BASE, {CKA_VALUE_LEN, &len, sizeof len}));
    value.pValue = second;
    OK(p11->C_GetAttributeValue(session, made, &value, 1));
    CHECK(memcmp(first, second, 32) != 0);
    OK(GENERATE({CKA_VALUE_LEN, &len, sizeof len}, {CKA_SENSITIVE, &yes, 1}, {CKA_EXTRACTABLE, &no, 1}));
    CHECK(flag(session, made, CKA_ALWAYS_SENSITIVE) && flag(session, made, CKA_NEVER_EXTRACTABLE));
    EXPECT(CKR_USER_NOT_LOGGED_IN, GENERATE({CKA_VALUE_LEN, &len, sizeof len}, {CKA_PRIVATE, &yes, 1}));
    EXPECT(CKR_TEMPLATE_INCOMPLETE, GENERATE(BASE));
    EXPECT(CKR_TEMPLATE_INCONSISTENT, GENERATE({CKA_VALUE_LEN, &len, sizeof len}, VALUE));
    EXPECT(CKR_TEMPLATE_INCONSISTENT, GENERATE({CKA_VALUE_LEN, &len, sizeof len}, {CKA_KEY_TYPE, &hmac, sizeof hmac}));
    EXPECT(CKR_KEY_SIZE_RANGE, GENERATE({CKA_VALUE_LEN, &zero, sizeof zero}));
    EXPECT(CKR_KEY_SIZE_RANGE, GENERATE({CKA_VALUE_LEN, &large, sizeof large}));
    CK_ATTRIBUTE template = {CKA_VALUE_LEN, &len, sizeof len};
    EXPECT(CKR_MECHANISM_INVALID, p11->C_GenerateKey(session, &digest, &template, 1, &made));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(session, NULL, &template, 1, &made));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(session, &digest, NULL, 1, &made));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(session, &generate, &template, 1, NULL));
}

static void attributes(CK_SESSION_HANDLE session)
{
    unsigned char value[8], label[8], id[1];
    CK_ULONG unavailable = (CK_ULONG)-1, size = 0;
    OK(CREATE(BASE, VALUE, {CKA_LABEL, "label", 5}, {CKA_ID, "id", 2}));
    CK_OBJECT_HANDLE key = made;
    CK_ATTRIBUTE template[] = {
        {CKA_MODULUS, value, sizeof value}, {CKA_VALUE, value, sizeof value}, {CKA_LABEL, NULL, 0}, {CKA_ID, id, 1}};
    /* Every attribute is handled, whatever became of the others. */
    EXPECT(CKR_ATTRIBUTE_TYPE_INVALID, p11->C_GetAttributeValue(session, key, template, 4));
    CHECK(template[0].ulValueLen == unavailable && template[1].ulValueLen == 5 && memcmp(value, "value", 5) == 0);
    CHECK(template[2].ulValueLen == 5 && template[3].ulValueLen == unavailable);
    template[3].ulValueLen = 1;
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_GetAttributeValue(session, key, template + 3, 1));
    OK(p11->C_GetObjectSize(session, key, &size));
    CHECK(size >= 12);
    EXPECT(CKR_OBJECT_HANDLE_INVALID, p11->C_GetObjectSize(session, NO_HANDLE, &size));
    EXPECT(CKR_OBJECT_HANDLE_INVALID, p11->C_GetAttributeValue(session, NO_HANDLE, template, 1));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetAttributeValue(session, key, NULL, 1));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetObjectSize(session, key, NULL));

    /* A change is made as a whole or not at all. */
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(key, {CKA_LABEL, "other", 5}, {CKA_VALUE, "other", 5}));
    CK_ATTRIBUTE read = {CKA_LABEL, label, sizeof label};
    OK(p11->C_GetAttributeValue(session, key, &read, 1));
    CHECK(read.ulValueLen == 5 && memcmp(label, "label", 5) == 0);
    OK(SET(key, {CKA_LABEL, "new", 3}));
    OK(p11->C_GetAttributeValue(session, key, &read, 1));
    CHECK(read.ulValueLen == 3 && memcmp(label, "new", 3) == 0);
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(key, {CKA_KEY_TYPE, &generic, sizeof generic}));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(key, {CKA_MODIFIABLE, &no, 1}));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(key, {CKA_TOKEN, &yes, 1}));
    EXPECT(CKR_ATTRIBUTE_TYPE_INVALID, SET(key, {CKA_MODULUS, "x", 1}));

    /* Secrets stay secret. A search does not reveal them either. */
    OK(SET(key, {CKA_SENSITIVE, &yes, 1}));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(key, {CKA_SENSITIVE, &no, 1}));
    CK_ATTRIBUTE secret_value = {CKA_VALUE, value, sizeof value};
    memset(value, 0, sizeof value);
    EXPECT(CKR_ATTRIBUTE_SENSITIVE, p11->C_GetAttributeValue(session, key, &secret_value, 1));
    CHECK(secret_value.ulValueLen == unavailable && value[0] == 0);
    CHECK(!flag(session, key, CKA_ALWAYS_SENSITIVE) && !flag(session, key, CKA_LOCAL));
    CK_ATTRIBUTE search[] = {VALUE, {CKA_LABEL, "new", 3}};
    CK_ULONG count;
    OK(p11->C_FindObjectsInit(session, search, 2));
    OK(p11->C_FindObjects(session, &made, 1, &count));
    OK(p11->C_FindObjectsFinal(session));
    CHECK(count == 0);
    OK(CREATE(BASE, VALUE, {CKA_EXTRACTABLE, &no, 1}));
    secret_value.ulValueLen = sizeof value;
    EXPECT(CKR_ATTRIBUTE_SENSITIVE, p11->C_GetAttributeValue(session, made, &secret_value, 1));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(made, {CKA_EXTRACTABLE, &yes, 1}));

    /* Objects that must not be changed, copied or destroyed. */
    OK(CREATE(BASE, VALUE, {CKA_MODIFIABLE, &no, 1}));
    EXPECT(CKR_ACTION_PROHIBITED, SET(made, {CKA_LABEL, "x", 1}));
    OK(CREATE(BASE, VALUE, {CKA_COPYABLE, &no, 1}));
    EXPECT(CKR_ACTION_PROHIBITED, COPY(made, {CKA_LABEL, "x", 1}));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, SET(made, {CKA_COPYABLE, &yes, 1}));
    OK(CREATE(BASE, VALUE, {CKA_DESTROYABLE, &no, 1}));
    EXPECT(CKR_ACTION_PROHIBITED, p11->C_DestroyObject(session, made));

    /* Copies. A copy of a secret is one, too. */
    OK(COPY(key, {CKA_MODIFIABLE, &no, 1}, {CKA_LABEL, "copy", 4}));
    CHECK(made != key && flag(session, made, CKA_SENSITIVE) && !flag(session, made, CKA_MODIFIABLE));
    EXPECT(CKR_ATTRIBUTE_READ_ONLY, COPY(key, {CKA_SENSITIVE, &no, 1}));
    EXPECT(CKR_SESSION_READ_ONLY, COPY(key, {CKA_TOKEN, &yes, 1}));
    EXPECT(CKR_USER_NOT_LOGGED_IN, COPY(key, {CKA_PRIVATE, &yes, 1}));
    EXPECT(CKR_OBJECT_HANDLE_INVALID, COPY(NO_HANDLE, {CKA_LABEL, "x", 1}));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_CopyObject(session, key, NULL, 0, NULL));
    OK(p11->C_DestroyObject(session, key));
    EXPECT(CKR_OBJECT_HANDLE_INVALID, p11->C_DestroyObject(session, key));
}

/* A value may be written over the template itself. All attributes are read before any is written. */
static void overlapping(CK_SESSION_HANDLE session)
{
    unsigned char id[8] = {0};
    CK_ATTRIBUTE template[] = {{CKA_LABEL, template + 1, sizeof *template}, {CKA_ID, id, sizeof id}, {CKA_LABEL, id, 1}};
    char label[sizeof *template];
    memset(label, 'l', sizeof label);
    OK(CREATE(BASE, VALUE, {CKA_LABEL, label, sizeof label}, {CKA_ID, "id", 2}));
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_GetAttributeValue(session, made, template, 3));
    CHECK(memcmp(id, "id", 2) == 0);
    CHECK(memcmp(&template[1].type, label, sizeof template[1].type) == 0);
    CHECK(template[0].ulValueLen == sizeof label && template[1].ulValueLen == 2);
    CHECK(template[2].ulValueLen == (CK_ULONG)-1);
}

static void permissions(CK_SESSION_HANDLE session)
{
    CK_KEY_TYPE sha1_only = CKK_SHA_1_HMAC;
    static const CK_ULONG HMACS[][2] = {{CKK_SHA_1_HMAC, CKM_SHA_1_HMAC}, {CKK_SHA224_HMAC, CKM_SHA224_HMAC},
        {CKK_SHA256_HMAC, CKM_SHA256_HMAC}, {CKK_SHA384_HMAC, CKM_SHA384_HMAC}, {CKK_SHA512_HMAC, CKM_SHA512_HMAC}};
    CK_MECHANISM sha1 = {CKM_SHA_1_HMAC, NULL, 0}, sha256 = {CKM_SHA256_HMAC, NULL, 0};
    OK(CREATE({CKA_CLASS, &secret, sizeof secret}, {CKA_KEY_TYPE, &sha1_only, sizeof sha1_only}, VALUE));
    EXPECT(CKR_KEY_TYPE_INCONSISTENT, p11->C_SignInit(session, &sha256, made));
    OK(p11->C_SignInit(session, &sha1, made));
    OK(p11->C_SignInit(session, NULL, 0));
    for (int i = 0; i < 5; i++) {
        CK_KEY_TYPE kind = HMACS[i][0];
        OK(CREATE({CKA_CLASS, &secret, sizeof secret}, {CKA_KEY_TYPE, &kind, sizeof kind}, VALUE));
        for (int j = 0; j < 5; j++) {
            CK_MECHANISM mechanism = {HMACS[j][1], NULL, 0};
            EXPECT(i == j ? CKR_OK : CKR_KEY_TYPE_INCONSISTENT, p11->C_SignInit(session, &mechanism, made));
            if (i == j)
                OK(p11->C_SignInit(session, NULL, 0));
        }
    }
    OK(CREATE(BASE, VALUE, {CKA_SIGN, &no, 1}));
    EXPECT(CKR_KEY_FUNCTION_NOT_PERMITTED, p11->C_SignInit(session, &sha1, made));
    OK(p11->C_VerifyInit(session, &sha1, made));
    OK(p11->C_VerifyInit(session, NULL, 0));
    OK(SET(made, {CKA_VERIFY, &no, 1}));
    EXPECT(CKR_KEY_FUNCTION_NOT_PERMITTED, p11->C_VerifyInit(session, &sha1, made));

    /* A key for some mechanisms only. A digest of it is not among them. */
    CK_MECHANISM_TYPE allowed[] = {CKM_MD5, CKM_SHA256_HMAC};
    CK_MECHANISM digest = {CKM_SHA256, NULL, 0};
    OK(CREATE(BASE, VALUE, {CKA_ALLOWED_MECHANISMS, allowed, sizeof allowed}));
    EXPECT(CKR_MECHANISM_INVALID, p11->C_SignInit(session, &sha1, made));
    OK(p11->C_SignInit(session, &sha256, made));
    OK(p11->C_SignInit(session, NULL, 0));
    OK(p11->C_DigestInit(session, &digest));
    EXPECT(CKR_KEY_INDIGESTIBLE, p11->C_DigestKey(session, made));
    OK(CREATE(BASE, VALUE, {CKA_ALLOWED_MECHANISMS, NULL, 0}));
    OK(p11->C_SignInit(session, &sha1, made));
    OK(p11->C_SignInit(session, NULL, 0));
}

static void searches(void)
{
    CK_SESSION_HANDLE session = open_session(0), other = open_session(0);
    CK_OBJECT_HANDLE keys[5], found[5];
    CK_ULONG count = 99;
    for (int i = 0; i < 5; i++) {
        OK(make_key(i == 4 ? other : session, "value", 5, CKA_DERIVE, i % 2, keys + i));
    }
    CK_ATTRIBUTE derive = {CKA_DERIVE, &no, 1}, unknown = {CKA_MODULUS, "x", 1};
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_FindObjects(session, found, 5, &count));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_FindObjectsInit(session, NULL, 1));
    OK(p11->C_FindObjectsInit(session, NULL, 0));
    EXPECT(CKR_OPERATION_ACTIVE, p11->C_FindObjectsInit(session, NULL, 0));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_FindObjects(session, NULL, 1, &count));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_FindObjects(session, found, 1, NULL));
    OK(p11->C_FindObjects(session, found, 2, &count));
    CHECK(count == 2 && found[0] == keys[0] && found[1] == keys[1]);
    OK(p11->C_FindObjects(session, found, 5, &count));
    CHECK(count == 3 && found[2] == keys[4]);
    OK(p11->C_FindObjects(session, found, 5, &count));
    CHECK(count == 0);
    OK(p11->C_FindObjectsFinal(session));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_FindObjectsFinal(session));
    OK(p11->C_FindObjectsInit(session, &derive, 1));
    OK(p11->C_FindObjects(session, found, 5, &count));
    CHECK(count == 3 && found[0] == keys[0] && found[1] == keys[2] && found[2] == keys[4]);
    OK(p11->C_FindObjectsFinal(session));
    OK(p11->C_FindObjectsInit(session, &unknown, 1));
    OK(p11->C_FindObjects(session, found, 5, &count));
    CHECK(count == 0);
    OK(p11->C_FindObjectsFinal(session));
    /* The keys of a session end with it, and handles are never used again. */
    OK(p11->C_CloseSession(other));
    EXPECT(CKR_OBJECT_HANDLE_INVALID, p11->C_DestroyObject(session, keys[4]));
    CHECK(key_of(session, "k") > keys[4]);
    OK(p11->C_CloseAllSessions(0));
    session = open_session(0);
    EXPECT(CKR_OBJECT_HANDLE_INVALID, p11->C_DestroyObject(session, keys[0]));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    CK_SESSION_HANDLE session = open_session(0);
    templates(session);
    generation(session);
    attributes(session);
    overlapping(session);
    permissions(session);
    OK(p11->C_CloseSession(session));
    searches();
    OK(p11->C_Finalize(NULL));
    return 0;
}
