#include "proto/access/user_name.h"

#include <pwd.h>

#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard {

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

// Caches each name for a minute, because a lookup reads /etc/passwd or queries a directory server.
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
    // The lookup runs without the lock, so that a slow directory server delays only the callers
    // that need this name.
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
  // One entry for each local user who has called.
  std::map<uid_t, Name> names_;
};

}  // namespace

std::string UserName(uid_t uid) {
  static RecentNames* const names = new RecentNames;
  return names->Find(uid);
}

}  // namespace trainyard
