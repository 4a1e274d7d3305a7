#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/text/utf8.h"
#include "worker/process/rank_process.h"

namespace trainyard::worker {
namespace {

// Returns the last max_bytes bytes of the file, or the whole file if it is shorter.
std::string ReadEnd(int fd, std::size_t size, std::size_t max_bytes) {
  std::string text(std::min(size, max_bytes), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(fd, text.data() + done, text.size() - done,
                                static_cast<off_t>(size - text.size() + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

}  // namespace

std::string ReadLogTail(const std::string& rank_dir, std::size_t max_bytes) {
  const std::string path = absl::StrCat(rank_dir, "/", kOutputFile);
  const absl::StatusOr<UniqueFd> fd = OpenRegularFile(path, O_RDONLY | O_NOFOLLOW);
  struct stat info = {};
  if (!fd.ok() || fstat(fd->get(), &info) != 0 || max_bytes == 0) return "";
  // Read one byte more, to see whether the first line is complete.
  const std::string end = ReadEnd(fd->get(), static_cast<std::size_t>(info.st_size), max_bytes + 1);
  return std::string(LastLines(ReplaceInvalidUtf8(LastLines(end, max_bytes)), max_bytes));
}

}  // namespace trainyard::worker
