#include "worker/spool/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kSecretDigits = 64;

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
                     "; stop that worker or give this one another --data-dir"));
  }
  // Best effort: only the message above needs the pid; the lock alone protects the directory. A
  // worker must start on a full disk, because the worker is the process that frees space there.
  const std::string pid = absl::StrCat(getpid());
  (void)!ftruncate(fd.get(), 0);
  (void)!pwrite(fd.get(), pid.data(), pid.size(), 0);
  return fd;
}

// NOT_FOUND for a file that is missing.
absl::StatusOr<std::string> ReadHex(const std::string& path, std::size_t digits, const char* what) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  std::string id(absl::StripAsciiWhitespace(text));
  if (IsHex(id, digits)) return id;
  return absl::DataLossError(absl::StrCat(path, " does not hold a node ", what, " (", digits,
                                          " hexadecimal digits); restore it, or remove node_id ",
                                          "and node_secret to join as a new node"));
}

}  // namespace

absl::Status MakeDirectories(const std::string& path) {
  std::string made;
  for (const auto& part : std::filesystem::path(path)) {
    made = made.empty() ? part.string() : (std::filesystem::path(made) / part).string();
    if (mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    // A parent on a read-only or foreign file system is fine as long as it exists.
    const int error = errno;
    struct stat info {};
    if (stat(made.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return ErrnoStatus(error, "cannot make directory", made);
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "cannot make directory", path);
  if (!S_ISDIR(info.st_mode)) return ErrnoStatus(ENOTDIR, "cannot make directory", path);
  return absl::OkStatus();
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
  absl::StatusOr<std::string> id = ReadHex(data_dir->File("node_id"), kIdDigits, "id");
  if (!id.ok() && !absl::IsNotFound(id.status())) return id.status();
  data_dir->node_id_ = std::move(id).value_or("");
  return data_dir;
}

absl::Status DataDir::MakeIdentity() {
  if (node_id_.empty()) {
    const std::string id = RandomId();
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(File("node_id"), id + "\n"));
    node_id_ = id;
  }
  absl::StatusOr<std::string> secret = ReadHex(File("node_secret"), kSecretDigits, "secret");
  if (absl::IsNotFound(secret.status())) {
    secret = absl::StrCat(RandomId(), RandomId());
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(File("node_secret"), *secret + "\n"));
  }
  TRAINYARD_RETURN_IF_ERROR(secret.status());
  node_secret_ = *std::move(secret);
  return absl::OkStatus();
}

}  // namespace trainyard::worker
