#include "proto/access/local_port.h"

#include <pwd.h>

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

std::string UserName(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return absl::StrCat("uid-", uid);
}

}  // namespace trainyard
