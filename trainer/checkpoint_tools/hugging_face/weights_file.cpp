#include "trainer/checkpoint_tools/hugging_face/weights_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

[[noreturn]] void CannotRead(const std::string& path, const std::string& subject) {
  throw TrainerError(ExitCode::kBadCheckpoint,
                     "cannot read " + subject + " of " + path + ": " + std::strerror(errno) +
                         "; check the disk and the permissions, or fetch the file again");
}

}  // namespace

void RefuseDamagedDownload(const std::string& path, const std::string& what) {
  throw TrainerError(ExitCode::kBadCheckpoint, path + " is damaged: " + what + "; fetch it again");
}

WeightsFile::WeightsFile(std::string path)
    : path_(std::move(path)), file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_.valid()) CannotRead(path_, "the header");
}

void WeightsFile::Read(int64_t begin, int64_t end, const std::string& subject, char* out) const {
  constexpr int64_t kBytesPerCall = int64_t{1} << 30;
  while (begin < end) {
    const ssize_t got = pread(file_.get(), out, std::min(end - begin, kBytesPerCall), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) CannotRead(path_, subject);
    if (got == 0) RefuseDamagedDownload(path_, "it ends inside " + subject);
    begin += got;
    out += got;
  }
}

}  // namespace trainyard::trainer
