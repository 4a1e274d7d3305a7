#include "controller/access/gate.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kOpenCodes = 1000;
constexpr absl::string_view kBearer = "Bearer ";

std::string MarkOf(const std::string& token) {
  return KeyedHashOf(token, "sessions of the dashboard");
}

}  // namespace

AccessGate::AccessGate(std::string token, const Clock& clock, std::unique_ptr<SessionStore> store)
    : open_(token.empty()),
      clock_(clock),
      store_(std::move(store)),
      token_(std::move(token)),
      token_mark_(MarkOf(token_)) {
  if (store_ != nullptr) LoadSessions();
}

void AccessGate::ReplaceToken(const std::string& token) {
  {
    const std::lock_guard lock(mutex_);
    token_ = token;
    token_mark_ = MarkOf(token);
    codes_.clear();
    sessions_.EndAll(clock_.Now());
    changed_ = true;
  }
  // If the save fails, the store still has the old sessions. The old sessions are bound to the old
  // token, so the next start drops them.
  if (const absl::Status status = SaveSessions(); !status.ok()) {
    spdlog::warn(
        "cannot store the end of all dashboard sessions: {}; the "
        "controller discards these sessions at its next start",
        std::string(status.message()));
  }
}

// An unreadable text is not an error: the controller starts without sessions, and users must log in
// again.
void AccessGate::LoadSessions() {
  const absl::StatusOr<std::string> text = store_->Read();
  if (absl::IsNotFound(text.status())) return;
  absl::Status status = text.status();
  if (status.ok()) status = sessions_.Read(*text, token_mark_, clock_.Now());
  if (!status.ok()) {
    spdlog::warn(
        "cannot read the dashboard sessions in {}: {}; users must log in to the dashboard again",
        store_->Name(), std::string(status.message()));
  }
}

bool AccessGate::TakesHeader(absl::string_view authorization) const {
  if (open()) return true;
  const std::lock_guard lock(mutex_);
  return absl::StartsWithIgnoreCase(authorization, kBearer) &&
         SameSecret(absl::StripAsciiWhitespace(authorization.substr(kBearer.size())), token_);
}

absl::StatusOr<std::string> AccessGate::MakeCode(Principal owner) {
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  std::erase_if(codes_, [now](const auto& code) { return code.second.expires <= now; });
  if (codes_.size() >= kOpenCodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kOpenCodes,
                     " dashboard login codes are unused, which is the maximum. Use one of these "
                     "codes, or wait: each code expires after ",
                     kCodeLifeMs / 60'000, " minutes"));
  }
  const std::string code = NewSecret();
  codes_[HashOf(code)] = {.expires = now + kCodeLifeMs, .owner = std::move(owner)};
  return code;
}

std::optional<OpenedSession> AccessGate::OpenSession(absl::string_view code,
                                                     absl::string_view address) {
  const Timestamp now = clock_.Now();
  OpenedSession opened;
  {
    const std::lock_guard lock(mutex_);
    const auto found = codes_.find(HashOf(code));
    if (found == codes_.end()) return std::nullopt;
    const Code taken = std::move(found->second);
    codes_.erase(found);
    if (taken.expires <= now) return std::nullopt;
    opened = sessions_.Open(taken.owner, address, now);
    changed_ = true;
  }
  // If the session cannot be stored (for example, because the disk is full), it is valid only until
  // the controller restarts.
  if (const absl::Status status = SaveSessions(); !status.ok()) {
    spdlog::warn("cannot store a dashboard session: {}", std::string(status.message()));
  }
  return opened;
}

std::string AccessGate::UseSession(absl::string_view secret, absl::string_view address) {
  if (secret.empty()) return "";
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  std::string id = sessions_.Use(secret, address, now);
  changed_ = changed_ || !id.empty();
  return id;
}

bool AccessGate::SessionLives(absl::string_view id) const {
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  return sessions_.Lives(id, now);
}

absl::StatusOr<Principal> AccessGate::PrincipalOf(absl::string_view session_id,
                                                  const std::string& claimed) const {
  std::unique_lock lock(mutex_);
  Principal owner = sessions_.OwnerOf(session_id);
  lock.unlock();
  if (owner.user.empty()) return MakePrincipal(claimed, Verification::kClaim);
  return MakePrincipal(std::move(owner.user), owner.verification);
}

v1::ListSessionsResponse AccessGate::ListSessions() const {
  v1::ListSessionsResponse response;
  response.set_as_of_ms(clock_.Now());
  const std::lock_guard lock(mutex_);
  for (v1::Session& session : sessions_.List(response.as_of_ms())) {
    *response.add_sessions() = std::move(session);
  }
  return response;
}

absl::StatusOr<int> AccessGate::EndSessions(const std::vector<std::string>& ids) {
  const Timestamp now = clock_.Now();
  std::unique_lock lock(mutex_);
  absl::StatusOr<int> ended = sessions_.End(ids, now);
  changed_ = changed_ || ended.ok();
  lock.unlock();
  return AfterEnd(std::move(ended));
}

absl::StatusOr<int> AccessGate::EndAllSessions() {
  const Timestamp now = clock_.Now();
  std::unique_lock lock(mutex_);
  const int ended = sessions_.EndAll(now);
  changed_ = true;
  lock.unlock();
  return AfterEnd(ended);
}

absl::StatusOr<int> AccessGate::AfterEnd(absl::StatusOr<int> ended) {
  if (!ended.ok()) return ended;
  const absl::Status status = SaveSessions();
  if (status.ok()) return ended;
  return absl::UnavailableError(
      absl::StrCat("the sessions have ended, but a restart of the controller would reopen them, "
                   "because their end could not be stored: ",
                   status.message(), "; end the sessions again once the disk accepts writes"));
}

absl::Status AccessGate::SaveSessions() {
  if (store_ == nullptr) return absl::OkStatus();
  const Timestamp now = clock_.Now();
  const std::lock_guard saving(save_mutex_);
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(changed_, false)) return absl::OkStatus();
    text = sessions_.Text(token_mark_, now);
  }
  absl::Status status = store_->Write(text);
  if (!status.ok()) {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  return status;
}

}  // namespace trainyard::controller
