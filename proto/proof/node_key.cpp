#include "proto/proof/node_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace trainyard {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* TextBytes(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Converts 2 * `size` hexadecimal digits to bytes. Returns an empty text for any other input.
std::string BytesOf(absl::string_view hex, std::size_t size) {
  const bool sound = hex.size() == 2 * size && std::all_of(hex.begin(), hex.end(), [](char c) {
                       return absl::ascii_isxdigit(static_cast<unsigned char>(c));
                     });
  return sound ? absl::HexStringToBytes(hex) : "";
}

std::string HexText(const unsigned char* bytes, std::size_t size) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes), size});
}

Key PrivateKey(absl::string_view secret) {
  const std::string seed = BytesOf(secret, kKeyBytes);
  EVP_PKEY* key = seed.empty() ? nullptr
                               : EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                                              TextBytes(seed), seed.size());
  return {key, EVP_PKEY_free};
}

}  // namespace

std::string PublicKeyOf(absl::string_view secret) {
  const Key key = PrivateKey(secret);
  std::array<unsigned char, kKeyBytes> bytes;
  std::size_t size = bytes.size();
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1) return "";
  return HexText(bytes.data(), size);
}

std::string SignatureOf(absl::string_view secret, absl::string_view text) {
  const Key key = PrivateKey(secret);
  const DigestContext digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, kSignatureBytes> bytes;
  std::size_t size = bytes.size();
  if (key == nullptr ||
      EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), bytes.data(), &size, TextBytes(text), text.size()) != 1) {
    return "";
  }
  return HexText(bytes.data(), size);
}

bool IsSignature(absl::string_view public_key, absl::string_view text,
                 absl::string_view signature) {
  const std::string key_bytes = BytesOf(public_key, kKeyBytes);
  const std::string signature_bytes = BytesOf(signature, kSignatureBytes);
  if (key_bytes.empty() || signature_bytes.empty()) return false;
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, TextBytes(key_bytes),
                                            key_bytes.size()),
                EVP_PKEY_free);
  const DigestContext digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return key != nullptr &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), TextBytes(signature_bytes), signature_bytes.size(),
                          TextBytes(text), text.size()) == 1;
}

}  // namespace trainyard
