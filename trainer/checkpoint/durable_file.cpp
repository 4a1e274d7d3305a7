#include "trainer/checkpoint/durable_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "proto/files/normal_path.h"
#include "proto/files/remove_tree.h"
#include "proto/files/unique_fd.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

[[noreturn]] void CannotWrite(const std::string& what, int error) {
  std::string message = what + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) message += "; free disk space or keep fewer checkpoints";
  throw TrainerError(ExitCode::kCannotWrite, message);
}

void ThrowIfFailed(const FileResult& result) {
  if (result.has_value()) CannotWrite(result->action, result->number);
}

// Other jobs and users may read checkpoint files. Writes follow symbolic links, because the files'
// owner may use them.
constexpr FileAccess kShared = {.mode = 0644, .follow_links = true};

}  // namespace

void MakeDirectories(const std::string& path) {
  if (IsKernelPath(path) || IsOnKernelFileSystem(path)) {
    throw TrainerError(ExitCode::kCannotWrite,
                       "cannot use directory " + path + LinkNote(path) +
                           ", because it is on a kernel file system that does not store files; use "
                           "a directory on a disk");
  }
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) CannotWrite("cannot create directory " + path + LinkNote(path), error.value());
}

DurableFileWriter::DurableFileWriter(const std::string& path) {
  ThrowIfFailed(file_.Create(path, kShared));
}

void DurableFileWriter::Append(std::string_view piece) { ThrowIfFailed(file_.Append(piece)); }

void DurableFileWriter::Finish() { ThrowIfFailed(file_.Finish()); }

void WriteFileAtomically(const std::string& path, std::string_view text) {
  ThrowIfFailed(trainyard::WriteFileAtomically(path, text, kShared));
}

void SyncDirectory(const std::string& path) { ThrowIfFailed(trainyard::SyncDirectory(path)); }

void ReplaceDirectory(const std::string& from, const std::string& to) {
  ThrowIfFailed(trainyard::ReplaceDirectory(from, to));
}

void RemoveTree(const std::string& path) { (void)RemoveEntry(path); }

void RemoveFile(const std::string& directory, const std::string& name) {
  const UniqueFd parent(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (parent.valid()) unlinkat(parent.get(), name.c_str(), 0);
}

std::string ReadFile(const std::string& path, ExitCode failure) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    const int error = file.get() >= 0 && S_ISDIR(status.st_mode) ? EISDIR : errno;
    throw TrainerError(failure,
                       "cannot open " + path + LinkNote(path) + ": " + std::strerror(error));
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw TrainerError(failure, "cannot read " + path + ": " + std::strerror(errno));
    }
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return text;
}

int64_t FileBytes(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return status.st_size;
}

}  // namespace trainyard::trainer
