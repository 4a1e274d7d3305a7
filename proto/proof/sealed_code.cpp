#include "proto/proof/sealed_code.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstddef>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/proof/digest.h"

namespace trainyard {
namespace {

constexpr std::size_t kKeySize = 32;
constexpr std::size_t kNonceSize = 16;
// Sizes of GCM: the initialization vector before the ciphertext, and the tag after it.
constexpr std::size_t kVectorSize = 12;
constexpr std::size_t kTagSize = 16;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* ByteData(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* ByteData(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

bool Encrypt(EVP_CIPHER_CTX* cipher, absl::string_view key, absl::string_view nonce,
             absl::string_view pack, std::string& sealed) {
  unsigned char* vector = ByteData(sealed);
  unsigned char* text = vector + kVectorSize;
  int size = 0;
  return RAND_bytes(vector, kVectorSize) == 1 &&
         EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), nullptr, ByteData(key), vector) == 1 &&
         EVP_EncryptUpdate(cipher, nullptr, &size, ByteData(nonce),
                           static_cast<int>(nonce.size())) == 1 &&
         EVP_EncryptUpdate(cipher, text, &size, ByteData(pack), static_cast<int>(pack.size())) ==
             1 &&
         EVP_EncryptFinal_ex(cipher, text + pack.size(), &size) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, kTagSize, text + pack.size()) == 1;
}

// Replaces the ciphertext in `sealed` with the pack of `bytes` bytes.
bool Decrypt(EVP_CIPHER_CTX* cipher, absl::string_view key, absl::string_view nonce,
             std::size_t bytes, std::string& sealed) {
  unsigned char* vector = ByteData(sealed);
  unsigned char* text = vector + kVectorSize;
  unsigned char* tag = text + bytes;
  int size = 0;
  return EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), nullptr, ByteData(key), vector) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, kTagSize, tag) == 1 &&
         EVP_DecryptUpdate(cipher, nullptr, &size, ByteData(nonce),
                           static_cast<int>(nonce.size())) == 1 &&
         EVP_DecryptUpdate(cipher, text, &size, text, static_cast<int>(bytes)) == 1 &&
         EVP_DecryptFinal_ex(cipher, text + bytes, &size) == 1;
}

}  // namespace

std::string CodeKey(absl::string_view token, absl::string_view snapshot) {
  return absl::HexStringToBytes(KeyedHashOf(token, absl::StrCat("trainyard code\n", snapshot)));
}

std::string CodeNonce() {
  std::string bytes(kNonceSize, '\0');
  if (RAND_bytes(ByteData(bytes), kNonceSize) != 1) return "";
  return absl::BytesToHexString(bytes);
}

std::string CodeProof(absl::string_view key, absl::string_view nonce) {
  return KeyedHashOf(key, absl::StrCat("trainyard code request\n", nonce));
}

std::optional<std::string> SealCode(absl::string_view key, absl::string_view nonce,
                                    absl::string_view pack) {
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  std::string sealed(kVectorSize + pack.size() + kTagSize, '\0');
  if (key.size() != kKeySize || cipher == nullptr ||
      !Encrypt(cipher.get(), key, nonce, pack, sealed)) {
    return std::nullopt;
  }
  return sealed;
}

std::optional<std::string> OpenCode(absl::string_view key, absl::string_view nonce,
                                    std::string sealed) {
  if (key.size() != kKeySize || sealed.size() < kVectorSize + kTagSize) return std::nullopt;
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  const std::size_t bytes = sealed.size() - kVectorSize - kTagSize;
  if (cipher == nullptr || !Decrypt(cipher.get(), key, nonce, bytes, sealed)) return std::nullopt;
  sealed.erase(0, kVectorSize);
  sealed.resize(bytes);
  return sealed;
}

}  // namespace trainyard
