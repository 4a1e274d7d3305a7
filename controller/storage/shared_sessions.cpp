#include "controller/storage/shared_sessions.h"

#include "absl/strings/str_cat.h"

namespace trainyard::controller {

std::unique_ptr<SessionStore> SessionStoreOf(const Stores& stores) {
  if (stores.notes != nullptr) return std::make_unique<SharedSessions>(*stores.notes);
  if (stores.directory == nullptr) return nullptr;
  return std::make_unique<FileSessionStore>(
      absl::StrCat(stores.directory->path(), "/sessions.json"));
}

}  // namespace trainyard::controller
