#include "proto/access/local_port.h"

#include <pwd.h>

#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/access/socket_question.h"
#include "proto/access/socket_table.h"

namespace trainyard {

std::set<uid_t> OwnersOfListener(const std::string& host, int port) {
  if (host == "localhost") {
    // A resolver may give either, and a client may try both.
    std::set<uid_t> owners = OwnersOfListener("127.0.0.1", port);
    owners.merge(OwnersOfListener("::1", port));
    return owners;
  }
  if (!KernelAnswersAboutSockets()) return ListenersInTable({host, port});
  const std::optional<uid_t> owner = AskForListener({host, port});
  return owner.has_value() ? std::set<uid_t>{*owner} : std::set<uid_t>{};
}

std::optional<uid_t> OwnerOfConnection(const HostAndPort& near, const HostAndPort& far) {
  if (IsExactAddress(far.host) && KernelAnswersAboutSockets()) return AskForConnection(near, far);
  const std::set<uid_t> owners = ConnectionsInTable(near.port, far.port);
  if (owners.size() != 1) return std::nullopt;
  return *owners.begin();
}

namespace {

std::string ReadUserName(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return absl::StrCat("uid-", uid);
}

// Names that were read within the last minute: each look-up reads /etc/passwd or asks a server.
class RecentNames {
 public:
  std::string Find(uid_t uid) {
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(mutex_);
      const auto known = names_.find(uid);
      if (known != names_.end() && now - known->second.read_at <= kLifetime) {
        return known->second.text;
      }
    }
    // Nobody waits for a slow server but those who ask for this name.
    std::string text = ReadUserName(uid);
    const std::lock_guard lock(mutex_);
    names_[uid] = {text, now};
    return text;
  }

 private:
  static constexpr std::chrono::seconds kLifetime{60};
  struct Name {
    std::string text;
    std::chrono::steady_clock::time_point read_at;
  };

  std::mutex mutex_;
  // One for each user of this machine who has called.
  std::map<uid_t, Name> names_;
};

}  // namespace

std::string UserName(uid_t uid) {
  static RecentNames* const names = new RecentNames;
  return names->Find(uid);
}

}  // namespace trainyard
