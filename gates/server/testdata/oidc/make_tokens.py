#!/usr/bin/env python3
"""Makes the keys and tokens of this folder, with implementations other than ours.

    apt-get install python3-jwt python3-cryptography
    python3 make_tokens.py

PyJWT and OpenSSL (by python3-cryptography) sign good tokens. Hostile ones, which
PyJWT would not make, are put together by hand. Private keys are new each time and
are not kept. Lines of tokens.txt: a name, a tab, and the token.
"""

import base64
import hashlib
import hmac
import json
import pathlib

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

FOLDER = pathlib.Path(__file__).parent
BEGIN = 1700000000
GITHUB = "https://token.actions.githubusercontent.com"
GITLAB = "https://gitlab.example.com"


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size=0):
    return coded(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def public_pem(key):
    return key.public_key().public_bytes(serialization.Encoding.PEM,
                                         serialization.PublicFormat.SubjectPublicKeyInfo)


def rsa_jwk(key, kid):
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": kid, "n": number(numbers.n),
            "e": number(numbers.e)}


def ec_jwk(key, kid):
    numbers = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "use": "sig", "kid": kid, "x": number(numbers.x, 32),
            "y": number(numbers.y, 32)}


def by_hand(header, claims, sign):
    """Returns a token of any header and claims, which may be texts that are no JSON."""
    texts = [part if isinstance(part, str) else json.dumps(part) for part in (header, claims)]
    signed = ".".join(coded(text.encode()) for text in texts)
    return signed + "." + coded(sign(signed.encode()))


def main():
    github, other = (rsa.generate_private_key(65537, 2048) for _ in range(2))
    gitlab, other_ec = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    short = rsa.generate_private_key(65537, 1024)
    other_curve = ec.generate_private_key(ec.SECP384R1())

    def write_json(name, value):
        (FOLDER / name).write_text(json.dumps(value, indent=1) + "\n")

    # Keys of other kinds are among real issuers' keys, too.
    write_json("github.jwks", {"keys": [
        rsa_jwk(other, "unused"), rsa_jwk(github, "key-1"),
        {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": coded(bytes(32))},
        dict(rsa_jwk(other, "for-encryption"), use="enc")]})
    write_json("gitlab.jwks", {"keys": [ec_jwk(gitlab, "key-2")]})
    write_json("short.jwks", {"keys": [rsa_jwk(short, "short")]})
    (FOLDER / "both.pem").write_bytes(public_pem(github) + public_pem(gitlab))
    (FOLDER / "other_curve.pem").write_bytes(public_pem(other_curve))

    claims = {"iss": GITHUB, "aud": "footprint", "sub": "repo:team/models:ref:refs/heads/main",
              "repository": "team/models", "ref": "refs/heads/main", "run_number": 7,
              "ref_protected": True, "iat": BEGIN, "nbf": BEGIN, "exp": BEGIN + 300}
    of_gitlab = {"iss": GITLAB, "aud": "footprint", "sub": "project_path:team/models",
                 "project_path": "team/models", "ref": "main", "user_identities": [{"a": 1}],
                 "iat": BEGIN, "nbf": BEGIN, "exp": BEGIN + 300}
    kid = {"kid": "key-1"}

    def signed(changes, key=github, headers=kid, base=claims, algorithm="RS256"):
        changed = {**base, **changes}
        return jwt.encode({name: value for name, value in changed.items() if value is not None},
                          key, algorithm=algorithm, headers=headers)

    def sign_rsa(text):
        return github.sign(text, padding.PKCS1v15(), hashes.SHA256())

    def sign_ec_as_der(text):
        return gitlab.sign(text, ec.ECDSA(hashes.SHA256()))

    rs256 = {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    es256 = {"alg": "ES256", "typ": "JWT", "kid": "key-2"}
    twice = json.dumps(claims)[:-1] + ', "iss": "https://other.example.com"}'
    tokens = {
        # Accepted.
        "github": signed({}),
        "github_long": signed({"exp": 4102444800}),
        "github_tag": signed({"ref": "refs/tags/v1"}),
        "github_list": signed({"aud": ["other", "footprint"]}),
        "github_fraction": signed({"exp": BEGIN + 300.5}),
        "gitlab": signed({}, gitlab, {"kid": "key-2"}, of_gitlab, "ES256"),
        "gitlab_without_kid": signed({}, gitlab, None, of_gitlab, "ES256"),
        "github_without_kid": signed({}, headers=None),
        "github_with_jwk": signed({}, headers={**kid, "jwk": rsa_jwk(other, "key-1")}),
        # Refused.
        "other_repository": signed({"repository": "team/models2"}),
        "other_branch": signed({"ref": "refs/heads/other"}),
        "without_repository": signed({"repository": None}),
        "repository_list": signed({"repository": ["team/models"]}),
        "other_issuer": signed({"iss": GITHUB + "/"}),
        "issuer_of_gitlab": signed({"iss": GITLAB}),
        "other_audience": signed({"aud": "footprint2"}),
        "other_audience_list": signed({"aud": ["a", "b"]}),
        "without_issuer": signed({"iss": None}),
        "without_audience": signed({"aud": None}),
        "without_expiry": signed({"exp": None}),
        "without_issue_time": signed({"iat": None}),
        "not_before": signed({"nbf": BEGIN + 1000, "exp": BEGIN + 2000}),
        "issued_later": signed({"iat": BEGIN + 1000, "exp": BEGIN + 2000}),
        "expiry_as_text": by_hand(rs256, {**claims, "exp": "1700000300"}, sign_rsa),
        "expiry_negative": by_hand(rs256, {**claims, "exp": -1}, sign_rsa),
        "expiry_huge": by_hand(rs256, json.dumps(claims)[:-1].replace(
            str(BEGIN + 300), "1e300") + "}", sign_rsa),
        "other_key": signed({}, other),
        "key_in_header": signed({}, other, {**kid, "jwk": rsa_jwk(other, "key-1")}),
        "key_for_encryption": signed({}, other, {"kid": "for-encryption"}),
        "unknown_kid": signed({}, headers={"kid": "key-9"}),
        "kid_is_a_path": signed({}, headers={"kid": "../../dev/null"}),
        "kid_is_a_number": by_hand({**rs256, "kid": 1}, claims, sign_rsa),
        "other_key_of_gitlab": signed({}, other_ec, {"kid": "key-2"}, of_gitlab, "ES256"),
        "none": by_hand({"alg": "none", "kid": "key-1"}, claims, lambda text: b""),
        "none_with_signature": by_hand({"alg": "None", "kid": "key-1"}, claims, sign_rsa),
        "hs256_with_public_key": by_hand(
            {"alg": "HS256", "kid": "key-1"}, claims,
            lambda text: hmac.new(public_pem(github), text, hashlib.sha256).digest()),
        "rs256_as_es256": by_hand({**rs256, "alg": "ES256"}, claims, sign_rsa),
        "es256_as_rs256": by_hand({**es256, "alg": "RS256"}, of_gitlab, sign_ec_as_der),
        "es256_as_der": by_hand(es256, of_gitlab, sign_ec_as_der),
        "es256_of_zeros": by_hand(es256, of_gitlab, lambda text: bytes(64)),
        "rs384": signed({}, algorithm="RS384"),
        "ps256": signed({}, algorithm="PS256"),
        "critical": by_hand({**rs256, "crit": ["b64"], "b64": False}, claims, sign_rsa),
        "issuer_twice": by_hand(rs256, twice, sign_rsa),
        "claims_are_a_list": by_hand(rs256, [1], sign_rsa),
        "claims_are_no_json": by_hand(rs256, '{"iss": ', sign_rsa),
        "without_signature": signed({}).rsplit(".", 1)[0] + ".",
        "changed_claims": "",
    }
    head, body, signature = tokens["github"].split(".")
    changed = base64.urlsafe_b64decode(body + "==").replace(b"team/models", b"evil/models")
    tokens["changed_claims"] = ".".join([head, coded(changed), signature])
    (FOLDER / "tokens.txt").write_text("".join(
        "%s\t%s\n" % each for each in tokens.items()))


if __name__ == "__main__":
    main()
