#include "proto/access/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace trainyard {
namespace {

constexpr int kSecretWords = 8;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

const unsigned char* Bytes(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string NewSecret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < kSecretWords; ++i) absl::StrAppendFormat(&secret, "%08x", random());
  return secret;
}

std::string HashOf(absl::string_view text) {
  if (text.empty()) return "";
  Digest digest;
  SHA256(Bytes(text), text.size(), digest.data());
  return Hex(digest);
}

std::string KeyedHashOf(absl::string_view key, absl::string_view text) {
  Digest digest;
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(),
       digest.data(), &size);
  return Hex(digest);
}

bool SameSecret(absl::string_view one, absl::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace trainyard
