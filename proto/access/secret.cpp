#include "proto/access/secret.h"

#include <random>

#include "absl/strings/str_format.h"

namespace trainyard {
namespace {

constexpr int kSecretWords = 8;

}  // namespace

std::string NewSecret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < kSecretWords; ++i) absl::StrAppendFormat(&secret, "%08x", random());
  return secret;
}

}  // namespace trainyard
