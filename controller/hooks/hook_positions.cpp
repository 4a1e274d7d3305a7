#include "controller/hooks/hook_positions.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/stores.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

std::string NoteOf(const std::string& hook) { return absl::StrCat(kHookNote, hook); }

}  // namespace

std::string FileHookPositions::PathOf(const std::string& hook) const {
  return absl::StrCat(directory_, "/", hook);
}

absl::StatusOr<std::string> FileHookPositions::Read(const std::string& hook) {
  return ReadSmallFile(PathOf(hook));
}

absl::Status FileHookPositions::Write(const std::string& hook, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot create ", directory_, ": ", error.message()));
  }
  return WriteFileAtomically(PathOf(hook), text);
}

void FileHookPositions::Remove(const std::string& hook) const {
  std::error_code ignored;
  std::filesystem::remove(PathOf(hook), ignored);
}

absl::StatusOr<std::string> NoteHookPositions::Read(const std::string& hook) {
  auto text = notes_.Read(NoteOf(hook));
  return absl::IsNotFound(text.status()) ? files_.Read(hook) : text;
}

absl::Status NoteHookPositions::Write(const std::string& hook, const std::string& text) {
  TRAINYARD_RETURN_IF_ERROR(notes_.Write(NoteOf(hook), text));
  files_.Remove(hook);
  return absl::OkStatus();
}

std::unique_ptr<HookPositions> HookPositionsOf(const Stores& stores) {
  if (stores.directory == nullptr) return nullptr;
  const std::string directory = absl::StrCat(stores.directory->path(), "/", kHookFolder);
  if (stores.notes == nullptr) return std::make_unique<FileHookPositions>(directory);
  return std::make_unique<NoteHookPositions>(*stores.notes, directory);
}

}  // namespace trainyard::controller
