#include "controller/access/token_prover.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "proto/proof/proof.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kNonceBytesMin = 32;
constexpr std::size_t kNonceBytesMax = 128;

bool IsEveryAddress(const std::string& host) {
  return host == "localhost" || !IsExactAddress(host);
}

}  // namespace

TokenProver::TokenProver(std::string token, std::string host, const std::atomic<int>& port)
    : token_(std::move(token)), challenge_key_(NewSecret()), host_(std::move(host)), port_(port) {}

absl::StatusOr<v1::ProveResponse> TokenProver::Prove(const v1::ProveRequest& request) const {
  const std::size_t size = request.nonce().size();
  if (size < kNonceBytesMin || size > kNonceBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("the nonce has ", size, " characters; expected ",
                                                   kNonceBytesMin, " to ", kNonceBytesMax));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckAddress(request.address()));
  const std::string nonce = NewSecret();
  v1::ProveResponse response;
  response.set_proof(ControllerProof(Token(), request.nonce(), request.address()));
  response.set_challenge(absl::StrCat(nonce, ".", SignatureOf(nonce)));
  return response;
}

// Compares the host only if it is a loopback address. Callers on other machines may dial a host
// name, or an address that is translated on the way.
absl::Status TokenProver::CheckAddress(const std::string& dialed) const {
  if (dialed.empty()) return absl::OkStatus();
  // The server accepts calls shortly before its port is known.
  if (port_ == 0) return absl::UnavailableError("this controller is starting; try again");
  const std::optional<HostAndPort> where = SplitAddress(dialed);
  const bool same_host = where.has_value() && (!IsLoopback(where->host) || where->host == host_ ||
                                               IsEveryAddress(host_));
  if (same_host && where->port == port_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the caller dialed ", dialed, ", but this controller serves ", host_, ":", port_.load(),
      "; if you forward the port, use the same port number at both ends, or use TLS "
      "(deploy/README.md). Set TRAINYARD_INSECURE=1 only if you trust what forwards the port"));
}

std::string TokenProver::ProveWelcome(absl::string_view nonce, absl::string_view node_id) const {
  return WelcomeProof(Token(), nonce, node_id);
}

std::string TokenProver::Token() const {
  const std::lock_guard lock(mutex_);
  return token_;
}

void TokenProver::ReplaceToken(const std::string& token) {
  const std::lock_guard lock(mutex_);
  token_ = token;
}

std::string TokenProver::SignatureOf(absl::string_view nonce) const {
  return KeyedHashOf(challenge_key_, nonce);
}

bool TokenProver::IsOwn(absl::string_view challenge) const {
  const std::size_t dot = challenge.find('.');
  return dot != absl::string_view::npos &&
         SameSecret(challenge.substr(dot + 1), SignatureOf(challenge.substr(0, dot)));
}

bool TokenProver::TakesHeader(absl::string_view authorization) const {
  const CallerProofParts parts = ParseProofHeader(authorization);
  return IsOwn(parts.challenge) && SameSecret(parts.proof, CallerProof(Token(), parts.challenge));
}

}  // namespace trainyard::controller
