#include "controller/cluster_id.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kIdDigits = 32;

absl::Status WriteDurably(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", temporary));
  const bool written =
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (!written) return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", temporary));
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot rename ", temporary));
}

}  // namespace

std::string NewClusterId() {
  constexpr char kHex[] = "0123456789abcdef";
  std::random_device random;
  std::string id;
  while (id.size() < kIdDigits) id.push_back(kHex[random() % 16]);
  return id;
}

int64_t RendezvousOffset(const std::string& cluster_id) {
  // FNV-1a; the top bit is dropped to keep the number positive.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : cluster_id) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return static_cast<int64_t>(hash >> 1);
}

absl::StatusOr<std::string> LoadClusterId(const std::string& directory, bool fresh) {
  const std::string path = directory + "/cluster_id";
  std::string id;
  std::ifstream(path) >> id;
  if (id.size() == kIdDigits && !fresh) return id;
  id = NewClusterId();
  TRAINYARD_RETURN_IF_ERROR(WriteDurably(path, id + "\n"));
  return id;
}

}  // namespace trainyard::controller
