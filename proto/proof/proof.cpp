#include "proto/proof/proof.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/proof/digest.h"

namespace trainyard {
namespace {

constexpr absl::string_view kScheme = "Proof ";

}  // namespace

std::string ControllerProof(absl::string_view token, absl::string_view nonce,
                            absl::string_view address) {
  return KeyedHashOf(token, absl::StrCat("trainyard controller\n", nonce, "\n", address));
}

std::string WelcomeProof(absl::string_view token, absl::string_view nonce,
                         absl::string_view node_id) {
  return KeyedHashOf(token, absl::StrCat("trainyard welcome\n", nonce, "\n", node_id));
}

std::string CallerProof(absl::string_view token, absl::string_view challenge) {
  return KeyedHashOf(token, absl::StrCat("trainyard caller\n", challenge));
}

std::string ProofHeader(absl::string_view token, absl::string_view challenge) {
  return absl::StrCat(kScheme, challenge, ":", CallerProof(token, challenge));
}

CallerProofParts ParseProofHeader(absl::string_view header) {
  if (!absl::StartsWith(header, kScheme)) return {};
  header.remove_prefix(kScheme.size());
  const std::size_t colon = header.find(':');
  if (colon == absl::string_view::npos) return {};
  return {header.substr(0, colon), header.substr(colon + 1)};
}

std::string HelloText(absl::string_view challenge, absl::string_view node_id,
                      absl::string_view incarnation, absl::string_view nonce) {
  return absl::StrCat("trainyard hello\n", challenge, "\n", node_id, "\n", incarnation, "\n",
                      nonce);
}

std::string SecretProof(absl::string_view secret_hash, absl::string_view hello_text) {
  return KeyedHashOf(secret_hash, hello_text);
}

}  // namespace trainyard
