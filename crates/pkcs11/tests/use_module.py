"""Uses the module through python-pkcs11, and compares with the standard library: use_module.py MODULE"""

import hashlib
import hmac
import sys

import pkcs11
from pkcs11 import Attribute, KeyType, Mechanism, MechanismFlag, ObjectClass

MESSAGE = b"what do ya want for nothing?"
SIGN = MechanismFlag.SIGN | MechanismFlag.VERIFY


def check(condition, what):
    if not condition:
        sys.exit(f"not true: {what}")


def check_key(key, value):
    for mechanism, name in [
        (Mechanism.SHA_1_HMAC, "sha1"),
        (Mechanism.SHA224_HMAC, "sha224"),
        (Mechanism.SHA256_HMAC, "sha256"),
        (Mechanism.SHA384_HMAC, "sha384"),
        (Mechanism.SHA512_HMAC, "sha512"),
    ]:
        mac = key.sign(MESSAGE, mechanism=mechanism)
        check(value is None or mac == hmac.digest(value, MESSAGE, name), f"HMAC with {name}")
        check(key.verify(MESSAGE, mac, mechanism=mechanism), f"its verification with {name}")
        check(not key.verify(MESSAGE + b"?", mac, mechanism=mechanism), f"a forgery with {name}")


def main():
    token = pkcs11.lib(sys.argv[1]).get_token(token_label="Hashlane")
    with token.open() as session:
        parts = [MESSAGE, b"", bytes(100_000)]
        for mechanism, name in [
            (Mechanism.SHA_1, "sha1"),
            (Mechanism.SHA224, "sha224"),
            (Mechanism.SHA256, "sha256"),
            (Mechanism.SHA384, "sha384"),
            (Mechanism.SHA512, "sha512"),
        ]:
            digest = session.digest(MESSAGE, mechanism=mechanism)
            check(digest == hashlib.new(name, MESSAGE).digest(), name)
            digest = session.digest(parts, mechanism=mechanism)
            check(digest == hashlib.new(name, b"".join(parts)).digest(), f"{name} in parts")
        template = {
            Attribute.CLASS: ObjectClass.SECRET_KEY,
            Attribute.KEY_TYPE: KeyType.GENERIC_SECRET,
            Attribute.VALUE: b"Jefe",
            Attribute.LABEL: "of RFC 4231",
            Attribute.SIGN: True,
            Attribute.VERIFY: True,
        }
        check_key(session.create_object(template), b"Jefe")
        # By default, python-pkcs11 asks for a private key, which only a user with a PIN can have.
        public = {Attribute.PRIVATE: False}
        generated = session.generate_key(KeyType.GENERIC_SECRET, 256, capabilities=SIGN, template=public)
        check(generated[Attribute.SENSITIVE], "a generated key is sensitive")
        check_key(generated, None)
        found = list(session.get_objects({Attribute.LABEL: "of RFC 4231"}))
        check(len(found) == 1 and found[0][Attribute.VALUE] == b"Jefe", "the key is found")
        check(len(set(session.generate_random(256))) > 1, "random bytes")
    print("ok")


main()
