#include "data/tokenizer/tokenizer_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {
namespace {

absl::Status SystemError(const std::string& path, const char* action) {
  const int code = errno;
  const std::string message = absl::StrCat(path, ": cannot ", action, ": ", std::strerror(code));
  return code == ENOENT ? absl::NotFoundError(message) : absl::DataLossError(message);
}

}  // namespace

absl::StatusOr<std::string> ReadTokenizerFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not block.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return SystemError(path, "open");
  struct stat status;
  if (fstat(file.get(), &status) != 0) return SystemError(path, "inspect");
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  }
  if (status.st_size > kTokenizerFileBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", status.st_size,
                                                   " bytes; a tokenizer file has at most ",
                                                   kTokenizerFileBytesMax, ". Check the path"));
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = read(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, "read");
    if (count == 0) return absl::DataLossError(absl::StrCat(path, ": was truncated while read"));
    done += static_cast<size_t>(count);
  }
  return text;
}

}  // namespace trainyard::data
