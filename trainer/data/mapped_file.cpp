#include "trainer/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
void ThrowNoInput(const std::string& path, const std::string& why) {
  throw TrainerError(ExitCode::kNoInput, path + ": " + why);
}

void ThrowBadData(const std::string& path, const std::string& why) {
  throw TrainerError(ExitCode::kBadData, path + ": " + why);
}

MappedFile::MappedFile(const std::string& path, ReadOrder order, const std::string& next_step)
    : path_(path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) ThrowNoInput(path, std::string("cannot open: ") + std::strerror(errno) + next_step);
  struct stat status {};
  const bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  bytes_ = is_file ? static_cast<size_t>(status.st_size) : 0;
  void* mapped = bytes_ > 0 ? mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  const int map_error = errno;
  close(file);
  if (!is_file) ThrowNoInput(path, "not a regular file" + next_step);
  if (mapped == MAP_FAILED) {
    ThrowNoInput(path, std::string("cannot map: ") + std::strerror(map_error) + next_step);
  }
  data_ = static_cast<const unsigned char*>(mapped);
  // Disables read-ahead, because the file is read in random order.
  if (data_ != nullptr && order == ReadOrder::kRandom) madvise(mapped, bytes_, MADV_RANDOM);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<unsigned char*>(data_), bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

}  // namespace trainyard::trainer
