#include "worker/spool/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/files/normal_path.h"
#include "proto/files/remove_tree.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

// The directory to which files of a node are moved when its identity is lost.
constexpr char kFormer[] = "former";
constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kSecretDigits = 64;
// This file exists once the node id is bound to a secret. Directories of earlier versions have an
// id but no secret.
constexpr char kSecretMadeFile[] = "node_secret_made";
// All files that belong to a node id. The id is the last to be moved, so that after a crash the
// move is repeated.
constexpr const char* kFilesOfNode[] = {"attempts",       "runs",        "facts.bin",
                                        "stored_offsets", "node_secret", "node_id"};

bool IsHex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

absl::StatusOr<UniqueFd> Lock(const std::string& directory) {
  const std::string path = directory + "/LOCK";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "cannot lock", path);
    const auto holder = ReadSmallFile(path);
    return absl::AlreadyExistsError(
        absl::StrCat("data directory ", directory, " is in use by another worker",
                     holder.ok() && !holder->empty() ? absl::StrCat(" (pid ", *holder, ")") : "",
                     "; stop that worker or set another --data-dir"));
  }
  // Ignore an error. The pid is only needed for the message above; the lock alone protects the
  // directory. A worker must be able to start on a full disk, because the worker frees space there.
  const std::string pid = absl::StrCat(getpid());
  (void)!ftruncate(fd.get(), 0);
  (void)!pwrite(fd.get(), pid.data(), pid.size(), 0);
  return fd;
}

// NOT_FOUND if the file is missing. DATA_LOSS if the file does not consist of `digits` hexadecimal
// digits.
absl::StatusOr<std::string> ReadHex(const std::string& path, std::size_t digits) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  const bool is_other_thing =
      absl::IsFailedPrecondition(text.status()) || absl::IsResourceExhausted(text.status());
  if (is_other_thing) return absl::DataLossError(text.status().message());
  if (!text.ok()) return text.status();
  std::string id(absl::StripAsciiWhitespace(*text));
  if (IsHex(id, digits)) return id;
  return absl::DataLossError(
      absl::StrCat(path, " does not contain ", digits, " hexadecimal digits"));
}

bool IsThere(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

}  // namespace

namespace {

absl::Status MakeDirectoriesOfMode(const std::string& path, mode_t mode) {
  std::string made;
  for (const auto& part : std::filesystem::path(path)) {
    made = made.empty() ? part.string() : (std::filesystem::path(made) / part).string();
    if (mkdir(made.c_str(), mode) == 0 || errno == EEXIST) continue;
    // On a read-only or foreign file system, mkdir fails even if the directory exists. Continue if
    // it exists.
    const int error = errno;
    struct stat info {};
    if (stat(made.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return ErrnoStatus(error, "cannot create directory", made + LinkNote(made));
  }
  struct stat info {};
  const std::string text = path + LinkNote(path);
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "cannot create directory", text);
  if (!S_ISDIR(info.st_mode)) return ErrnoStatus(ENOTDIR, "cannot create directory", text);
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeDirectories(const std::string& path) { return MakeDirectoriesOfMode(path, 0700); }

absl::Status MakeGroupDirectories(const std::string& path) {
  if (IsKernelPath(path) || IsOnKernelFileSystem(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot create directory ", path, LinkNote(path),
                     ": this path is on a kernel file system, which cannot store files; use a "
                     "directory on a disk"));
  }
  return MakeDirectoriesOfMode(path, 0770);
}

std::string RandomId() {
  std::random_device random;
  std::string id;
  for (std::size_t i = 0; i < kIdDigits / 8; ++i) absl::StrAppendFormat(&id, "%08x", random());
  return id;
}

absl::StatusOr<std::unique_ptr<DataDir>> DataDir::Open(const std::string& path) {
  auto data_dir = std::unique_ptr<DataDir>(new DataDir);
  std::error_code error;
  data_dir->path_ = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error || path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("data directory '", path, "' is not a path"));
  }
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(data_dir->path_));
  TRAINYARD_ASSIGN_OR_RETURN(data_dir->lock_, Lock(data_dir->path_));
  TRAINYARD_RETURN_IF_ERROR(data_dir->ReadIdentity());
  return data_dir;
}

absl::Status DataDir::ReadIdentity() {
  const absl::StatusOr<std::string> id = ReadHex(File("node_id"), kIdDigits);
  if (absl::IsNotFound(id.status())) return absl::OkStatus();
  const absl::StatusOr<std::string> secret = ReadHex(File("node_secret"), kSecretDigits);
  const bool has_lost_secret =
      absl::IsDataLoss(secret.status()) ||
      (absl::IsNotFound(secret.status()) && IsThere(File(kSecretMadeFile)));
  if (absl::IsDataLoss(id.status())) {
    lost_identity_ = std::string(id.status().message());
  } else if (!id.ok()) {
    return id.status();
  } else if (has_lost_secret) {
    lost_identity_ = absl::StrCat("the secret of node ", *id, ", ", File("node_secret"),
                                  ", is lost, so the controller would refuse this node");
  } else if (!secret.ok() && !absl::IsNotFound(secret.status())) {
    return secret.status();
  } else {
    node_id_ = *id;
    node_secret_ = secret.value_or("");
  }
  return absl::OkStatus();
}

absl::Status DataDir::MakeIdentity() {
  if (!lost_identity_.empty()) TRAINYARD_RETURN_IF_ERROR(MoveFormerNode());
  if (node_id_.empty()) {
    const std::string id = RandomId();
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(File("node_id"), id + "\n"));
    node_id_ = id;
    // A secret belongs to one node id, so the new id needs a new secret.
    node_secret_.clear();
  }
  if (node_secret_.empty()) {
    const std::string secret = absl::StrCat(RandomId(), RandomId());
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(File("node_secret"), secret + "\n"));
    node_secret_ = secret;
  }
  if (IsThere(File(kSecretMadeFile))) return absl::OkStatus();
  // Ignore an error, because a worker must be able to start on a full disk. The next start tries
  // again.
  WriteFileAtomically(File(kSecretMadeFile), "").IgnoreError();
  return absl::OkStatus();
}

absl::Status DataDir::MoveFormerNode() {
  std::string aside = File(kFormer);
  for (int i = 2; IsThere(aside); ++i) aside = absl::StrCat(File(kFormer), ".", i);
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(aside));
  for (const char* name : kFilesOfNode) {
    if (!IsThere(File(name))) continue;
    if (rename(File(name).c_str(), absl::StrCat(aside, "/", name).c_str()) != 0) {
      return ErrnoStatus(errno, "cannot rename", File(name));
    }
  }
  TRAINYARD_RETURN_IF_ERROR(SyncDirectoryOf(File("node_id")));
  absl::StrAppend(&lost_identity_,
                  "; this worker joins as a new node. The data of the former node is now in ",
                  aside, " and may be removed");
  return absl::OkStatus();
}

int RemoveFormerNodes(const std::string& data_dir) {
  int removed = 0;
  std::error_code error;
  std::vector<std::filesystem::path> former;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir, error)) {
    const std::string name = entry.path().filename();
    if (name == kFormer || absl::StartsWith(name, absl::StrCat(kFormer, "."))) {
      former.push_back(entry.path());
    }
  }
  for (const auto& path : former) {
    if (RemoveTree(path.string()).ok()) ++removed;
  }
  return removed;
}

}  // namespace trainyard::worker
