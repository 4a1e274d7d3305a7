#include "controller/access/session_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kIdDigits = 12;
constexpr std::size_t kTextBytesMax = 256;

// Truncates text from clients, such as users and addresses.
std::string Bounded(absl::string_view text) {
  const std::string clean = ReplaceInvalidUtf8(std::string_view(text.data(), text.size()));
  return std::string(Utf8Prefix(clean, kTextBytesMax));
}

void SetUsed(absl::string_view address, Timestamp now, v1::Session& session) {
  session.set_used_ms(now);
  session.set_address(Bounded(address));
  session.set_expires_ms(
      std::min(now + SessionTable::kIdleMs, session.opened_ms() + SessionTable::kMaxMs));
}

bool IsOpen(const v1::Session& session, Timestamp now) { return now < session.expires_ms(); }

Json ToJson(const std::string& hash, const v1::Session& session) {
  return {{"hash", hash},
          {"id", session.id()},
          {"user", session.user()},
          {"user_verified", session.user_verified()},
          {"opened_ms", session.opened_ms()},
          {"used_ms", session.used_ms()},
          {"address", session.address()}};
}

// Reads a time from JSON. Returns 0 for a time so large that adding to it could overflow.
Timestamp TimeIn(const Json& json, const char* key) {
  const int64_t time = json.at(key).get<int64_t>();
  return time >= 0 && time < int64_t{1} << 53 ? time : 0;
}

// Throws nlohmann::json::exception.
v1::Session ToSession(const Json& json) {
  v1::Session session;
  session.set_id(json.at("id").get<std::string>());
  session.set_user(json.at("user").get<std::string>());
  session.set_user_verified(json.at("user_verified").get<bool>());
  session.set_opened_ms(TimeIn(json, "opened_ms"));
  SetUsed(json.at("address").get<std::string>(), TimeIn(json, "used_ms"), session);
  return session;
}

}  // namespace

void SessionTable::DropExpired(Timestamp now) {
  std::erase_if(sessions_, [now](const auto& one) { return !IsOpen(one.second, now); });
}

void SessionTable::DropLeastUsed() {
  const auto least =
      std::ranges::min_element(sessions_, {}, [](const auto& one) { return one.second.used_ms(); });
  if (least != sessions_.end()) sessions_.erase(least);
}

OpenedSession SessionTable::Open(const Principal& owner, absl::string_view address, Timestamp now) {
  DropExpired(now);
  if (sessions_.size() >= kMost) DropLeastUsed();
  OpenedSession opened{.id = NewSecret().substr(0, kIdDigits), .secret = NewSecret()};
  v1::Session session;
  session.set_id(opened.id);
  session.set_user(Bounded(owner.user));
  session.set_user_verified(IsVerified(owner));
  session.set_opened_ms(now);
  SetUsed(address, now, session);
  sessions_[HashOf(opened.secret)] = std::move(session);
  return opened;
}

std::string SessionTable::Use(absl::string_view secret, absl::string_view address, Timestamp now) {
  const auto found = sessions_.find(HashOf(secret));
  if (found == sessions_.end() || !IsOpen(found->second, now)) return "";
  SetUsed(address, now, found->second);
  return found->second.id();
}

bool SessionTable::Lives(absl::string_view id, Timestamp now) const {
  return std::ranges::any_of(sessions_, [&](const auto& one) {
    return absl::string_view(one.second.id()) == id && IsOpen(one.second, now);
  });
}

Principal SessionTable::OwnerOf(absl::string_view id) const {
  const auto found = std::ranges::find_if(
      sessions_, [&](const auto& one) { return absl::string_view(one.second.id()) == id; });
  if (found == sessions_.end()) return {};
  return {found->second.user(),
          found->second.user_verified() ? Verification::kSession : Verification::kClaim};
}

std::vector<v1::Session> SessionTable::List(Timestamp now) const {
  std::vector<v1::Session> open;
  for (const auto& [hash, session] : sessions_) {
    if (IsOpen(session, now)) open.push_back(session);
  }
  std::ranges::sort(open, std::ranges::greater(), &v1::Session::opened_ms);
  return open;
}

absl::StatusOr<int> SessionTable::End(const std::vector<std::string>& ids, Timestamp now) {
  for (const std::string& id : ids) {
    if (Lives(id, now)) continue;
    return absl::NotFoundError(absl::StrCat("there is no session `", id,
                                            "`; `trainyard server sessions` lists the sessions"));
  }
  return static_cast<int>(std::erase_if(sessions_, [&](const auto& one) {
    return std::ranges::find(ids, one.second.id()) != ids.end();
  }));
}

int SessionTable::EndAll(Timestamp now) {
  DropExpired(now);
  const int ended = static_cast<int>(sessions_.size());
  sessions_.clear();
  return ended;
}

std::string SessionTable::Text(absl::string_view token_mark, Timestamp now) const {
  Json list = Json::array();
  for (const auto& [hash, session] : sessions_) {
    if (IsOpen(session, now)) list.push_back(ToJson(hash, session));
  }
  return Json({{"token_mark", std::string(token_mark)}, {"sessions", std::move(list)}}).dump(1) +
         "\n";
}

absl::Status SessionTable::Read(absl::string_view text, absl::string_view token_mark,
                                Timestamp now) {
  sessions_.clear();
  try {
    const Json json = Json::parse(text.begin(), text.end());
    if (json.at("token_mark").get<std::string>() != std::string(token_mark)) {
      return absl::OkStatus();
    }
    for (const Json& one : json.at("sessions")) {
      sessions_[one.at("hash").get<std::string>()] = ToSession(one);
    }
  } catch (const Json::exception& error) {
    sessions_.clear();
    return absl::DataLossError(error.what());
  }
  DropExpired(now);
  while (sessions_.size() > kMost) DropLeastUsed();
  return absl::OkStatus();
}

}  // namespace trainyard::controller
