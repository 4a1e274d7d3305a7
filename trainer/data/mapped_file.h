// A file mapped into memory, read-only.
#ifndef TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_
#define TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

namespace trainyard::trainer {

// Throw TrainerError kNoInput or kBadData with the message "PATH: WHY".
[[noreturn]] void ThrowNoInput(const std::string& path, const std::string& why);
[[noreturn]] void ThrowBadData(const std::string& path, const std::string& why);

enum class ReadOrder { kSequential, kRandom };

// Safe to read from several threads. The file must not change while it is mapped.
class MappedFile {
 public:
  // Throws TrainerError kNoInput if the file is missing, not a regular file, or cannot be mapped.
  // The message ends with `next_step`, such as "; prepare the data again".
  MappedFile(const std::string& path, ReadOrder order, const std::string& next_step);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const unsigned char* data() const { return data_; }  // Null if the file is empty.
  size_t bytes() const { return bytes_; }

 private:
  std::string path_;
  const unsigned char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Loads a little-endian number from `from`. Works on any byte order and alignment.
template <typename Number>
Number LoadLittleEndian(const unsigned char* from) {
  unsigned char bytes[sizeof(Number)];
  std::memcpy(bytes, from, sizeof(Number));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, std::end(bytes));
  Number number;
  std::memcpy(&number, bytes, sizeof(Number));
  return number;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_
