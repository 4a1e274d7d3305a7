#include "proto/proof/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>

#include "absl/strings/escaping.h"

namespace trainyard {
namespace {

using HashBytes = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string HexOf(const HashBytes& hash) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

const unsigned char* DataOf(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string HashOf(absl::string_view text) {
  if (text.empty()) return "";
  HashBytes hash;
  SHA256(DataOf(text), text.size(), hash.data());
  return HexOf(hash);
}

std::string KeyedHashOf(absl::string_view key, absl::string_view text) {
  HashBytes hash;
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), DataOf(text), text.size(),
       hash.data(), &size);
  return HexOf(hash);
}

bool SameSecret(absl::string_view one, absl::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace trainyard
