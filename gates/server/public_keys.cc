#include "footprint/gates/server/public_keys.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/report_escape.h"
#include "nlohmann/json.hpp"
#include "openssl/bio.h"
#include "openssl/err.h"
#include "openssl/pem.h"
#include "openssl/x509.h"

namespace footprint {
namespace {

using nlohmann::json;

constexpr size_t kMostFileBytes = 1 << 20;
constexpr size_t kMostKeys = 100;
constexpr size_t kMostShownBytes = 40;
constexpr int kLeastRsaBits = 2048;
constexpr int kMostRsaBits = 8192;
constexpr size_t kCoordinateBytes = 32;  // of a point of P-256

// Tags of DER (ITU-T X.690).
constexpr char kInteger = 0x02;
constexpr char kBitString = 0x03;
constexpr char kSequence = 0x30;
// The name of the algorithm rsaEncryption, with which a key in DER begins.
constexpr char kRsaAlgorithm[] =
    "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
// The begin of a SubjectPublicKeyInfo of a point of P-256, up to its two
// coordinates.
constexpr char kP256Begin[] =
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48"
    "\xce\x3d\x03\x01\x07\x03\x42\x00\x04";

template <size_t N>
absl::string_view Bytes(const char (&bytes)[N]) {
  return absl::string_view(bytes, N - 1);
}

// Returns a value of DER: tag, length and content.
std::string DerValue(char tag, absl::string_view content) {
  std::string length;
  for (size_t rest = content.size(); rest > 0; rest >>= 8) {
    length.insert(length.begin(), static_cast<char>(rest & 0xff));
  }
  std::string value(1, tag);
  if (content.size() < 0x80) {
    value.push_back(static_cast<char>(content.size()));
  } else {
    value.push_back(static_cast<char>(0x80 | length.size()));
    value += length;
  }
  return absl::StrCat(value, content);
}

// Returns DER's form of an unsigned number, with its highest byte first.
std::string DerNumber(absl::string_view bytes) {
  while (bytes.size() > 1 && bytes[0] == 0) bytes.remove_prefix(1);
  const bool is_high = bytes.empty() || (bytes[0] & 0x80) != 0;
  return DerValue(kInteger,
                  absl::StrCat(is_high ? std::string(1, '\0') : "", bytes));
}

const unsigned char* Unsigned(absl::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::shared_ptr<EVP_PKEY> ReadDer(absl::string_view der) {
  const unsigned char* at = Unsigned(der);
  const std::shared_ptr<EVP_PKEY> key(
      d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())),  // NOLINT
      EVP_PKEY_free);
  ERR_clear_error();
  return key;
}

std::string WriteDer(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key, &bytes);
  std::string der;
  if (size > 0) {
    der.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  OPENSSL_free(bytes);
  ERR_clear_error();
  return der;
}

std::string TextIn(const json& key, const char* name) {
  const auto found = key.find(name);
  return found != key.end() && found->is_string() ? found->get<std::string>()
                                                  : "";
}

// Returns whether the signature is that of the key, in the form that libcrypto
// reads.
bool IsSignedBy(EVP_PKEY* key, absl::string_view text,
                absl::string_view signature) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const bool is_signed =
      context != nullptr &&
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr,
                           key) == 1 &&
      EVP_DigestVerify(context.get(), Unsigned(signature), signature.size(),
                       Unsigned(text), text.size()) == 1;
  // Others on this thread, such as TLS, would take the error for theirs.
  ERR_clear_error();
  return is_signed;
}

}  // namespace

// Reads keys one by one into a PublicKeys.
class PublicKeyParser {
 public:
  absl::Status ReadSet(absl::string_view text) {
    const json set = json::parse(text, nullptr, /*allow_exceptions=*/false);
    const auto keys = set.is_object() ? set.find("keys") : set.end();
    if (!set.is_object() || keys == set.end() || !keys->is_array()) {
      return Wrong("is no JSON object with a list \"keys\"");
    }
    for (const json& key : *keys) {
      const absl::Status status = ReadKeyOfSet(key);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status ReadPem(absl::string_view text) {
    if (absl::StrContains(text, "PRIVATE KEY-----")) {
      return Wrong("has a private key; give the public one alone");
    }
    const std::unique_ptr<BIO, int (*)(BIO*)> source(
        BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
    size_t begin_count = 0;
    for (size_t at = text.find("-----BEGIN "); at != absl::string_view::npos;
         at = text.find("-----BEGIN ", at + 1)) {
      ++begin_count;
    }
    for (size_t i = 0; i < begin_count; ++i) {
      std::shared_ptr<EVP_PKEY> key(
          PEM_read_bio_PUBKEY(source.get(), nullptr, nullptr, nullptr),
          EVP_PKEY_free);
      ERR_clear_error();
      if (key == nullptr) {
        return Wrong("has a PEM block that is no PUBLIC KEY");
      }
      const absl::Status status = Add(absl::nullopt, std::move(key));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<PublicKeys> Finish() {
    if (!keys_.keys_.empty()) return std::move(keys_);
    return Wrong(
        "has no key for RS256 or ES256; give the issuer's JSON Web Key Set, or "
        "PEM blocks PUBLIC KEY");
  }

 private:
  static absl::Status Wrong(absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("the file of keys ", what));
  }

  absl::Status ReadKeyOfSet(const json& key) {
    if (!key.is_object()) return Wrong("has a key that is no JSON object");
    const std::string type = TextIn(key, "kty");
    if (type == "oct" || key.contains("d") || key.contains("k")) {
      return Wrong("has a private or secret key; give public ones alone");
    }
    const std::string use = TextIn(key, "use");
    const std::string algorithm = TextIn(key, "alg");
    const bool is_rsa =
        type == "RSA" && (algorithm.empty() || algorithm == "RS256");
    const bool is_p256 = type == "EC" && TextIn(key, "crv") == "P-256" &&
                         (algorithm.empty() || algorithm == "ES256");
    if ((!is_rsa && !is_p256) || (!use.empty() && use != "sig")) {
      return absl::OkStatus();
    }
    const absl::StatusOr<std::string> first =
        DecodeBase64Url(TextIn(key, is_rsa ? "n" : "x"));
    const absl::StatusOr<std::string> second =
        DecodeBase64Url(TextIn(key, is_rsa ? "e" : "y"));
    const bool is_read = first.ok() && second.ok() && !first->empty() &&
                         !second->empty() &&
                         (is_rsa || (first->size() == kCoordinateBytes &&
                                     second->size() == kCoordinateBytes));
    absl::optional<std::string> id;
    if (key.contains("kid")) id = TextIn(key, "kid");
    std::shared_ptr<EVP_PKEY> made;
    if (is_read) {
      made = ReadDer(is_rsa ? RsaDer(*first, *second)
                            : absl::StrCat(Bytes(kP256Begin), *first, *second));
    }
    if (made == nullptr) {
      return Wrong(absl::StrCat("has the key '",
                                EscapeForTerminal(id.value_or("")),
                                "', whose numbers are no valid key"));
    }
    return Add(std::move(id), std::move(made));
  }

  static std::string RsaDer(absl::string_view modulus,
                            absl::string_view exponent) {
    const std::string numbers = DerValue(
        kSequence, absl::StrCat(DerNumber(modulus), DerNumber(exponent)));
    return DerValue(
        kSequence,
        absl::StrCat(
            Bytes(kRsaAlgorithm),
            DerValue(kBitString, absl::StrCat(std::string(1, '\0'), numbers))));
  }

  absl::Status Add(absl::optional<std::string> id,
                   std::shared_ptr<EVP_PKEY> key) {
    PublicKeys::Key added;
    const int bits = EVP_PKEY_bits(key.get());
    if (EVP_PKEY_id(key.get()) == EVP_PKEY_RSA) {
      if (bits < kLeastRsaBits || bits > kMostRsaBits) {
        return Wrong(absl::StrCat("has an RSA key of ", bits,
                                  " bits, and this server takes ",
                                  kLeastRsaBits, " to ", kMostRsaBits));
      }
    } else if (absl::StartsWith(WriteDer(key.get()), Bytes(kP256Begin))) {
      added.algorithm = TokenAlgorithm::kEs256;
    } else {
      return Wrong("has a key that is neither of RSA nor of the curve P-256");
    }
    for (const PublicKeys::Key& each : keys_.keys_) {
      if (id.has_value() && each.id == id) {
        return Wrong(
            absl::StrCat("has two keys '", EscapeForTerminal(*id), "'"));
      }
    }
    if (keys_.keys_.size() == kMostKeys) {
      return Wrong(absl::StrCat("has more than ", kMostKeys, " keys"));
    }
    added.id = std::move(id);
    added.key = std::move(key);
    keys_.keys_.push_back(std::move(added));
    return absl::OkStatus();
  }

  PublicKeys keys_;
};

absl::StatusOr<PublicKeys> PublicKeys::Parse(absl::string_view text) {
  if (text.size() > kMostFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file of keys has ", text.size(),
                     " bytes, and at most ", kMostFileBytes, " are read"));
  }
  PublicKeyParser parser;
  const absl::string_view begin = absl::StripLeadingAsciiWhitespace(text);
  const absl::Status status = absl::StartsWith(begin, "{")
                                  ? parser.ReadSet(text)
                                  : parser.ReadPem(text);
  if (!status.ok()) return status;
  return parser.Finish();
}

absl::Status PublicKeys::Verify(const JsonWebToken& token) const {
  std::string signature = token.signature;
  if (token.algorithm == TokenAlgorithm::kEs256) {
    // A token has the two numbers alone, and libcrypto reads DER.
    if (signature.size() != 2 * kCoordinateBytes) {
      return absl::UnauthenticatedError(
          "the web token's signature does not have the length of ES256's");
    }
    const absl::string_view numbers = token.signature;
    signature = DerValue(
        kSequence, absl::StrCat(DerNumber(numbers.substr(0, kCoordinateBytes)),
                                DerNumber(numbers.substr(kCoordinateBytes))));
  }
  bool has_key = false;
  for (const Key& each : keys_) {
    const bool is_chosen = each.algorithm == token.algorithm &&
                           (!each.id.has_value() || each.id == token.key_id);
    if (!is_chosen) continue;
    has_key = true;
    if (IsSignedBy(each.key.get(), token.signed_text, signature)) {
      return absl::OkStatus();
    }
  }
  if (has_key) {
    return absl::UnauthenticatedError(
        "the web token's signature is not that of its issuer's key");
  }
  return absl::UnauthenticatedError(absl::StrCat(
      "this server has no key '",
      EscapeForTerminal(token.key_id.value_or("").substr(0, kMostShownBytes)),
      "' of the web token's issuer and for its algorithm; its operator brings "
      "the file of keys up to date"));
}

}  // namespace footprint
