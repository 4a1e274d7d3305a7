#include "data/bpe_training/run_file.h"

#include <fcntl.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kHeader = "TYWORDS1";
constexpr size_t kBlockBytes = size_t{128} << 10;
constexpr uint32_t kEnd = 0xFFFFFFFF;

struct BlockHead {
  uint32_t bytes = 0;
  uint32_t words = 0;
  uint64_t hash = 0;  // XXH64 of the contents, with `words` as its seed.
};
static_assert(sizeof(BlockHead) == 16);

std::string_view BytesOf(const BlockHead& head) {
  return {reinterpret_cast<const char*>(&head), sizeof(head)};
}

template <typename Number>
void Append(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

absl::Status Failed(const std::string& action, const std::string& path, int error) {
  const std::string message = absl::StrCat(action, " ", path, ": ", std::strerror(error));
  if (error != ENOSPC && error != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(
      message + "; free disk space, choose another scratch directory, or raise the memory limit");
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunWriter>> RunWriter::Create(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return Failed("cannot create", path, errno);
  std::unique_ptr<RunWriter> writer(new RunWriter(path, std::move(file)));
  TRAINYARD_RETURN_IF_ERROR(writer->Write(kHeader));
  return writer;
}

absl::Status RunWriter::Write(std::string_view bytes) {
  const FileResult failed = WriteAll(file_.get(), bytes, path_);
  return failed.has_value() ? Failed("cannot write", path_, failed->number) : absl::OkStatus();
}

absl::Status RunWriter::Add(std::string_view word, uint64_t count) {
  // A very long word is alone in its block, whose size has 32 bits.
  if (!block_.empty() && word.size() > kBlockBytes) TRAINYARD_RETURN_IF_ERROR(WriteBlock());
  Append(count, &block_);
  Append(static_cast<uint32_t>(word.size()), &block_);
  block_ += word;
  ++block_words_;
  ++words_;
  return block_.size() < kBlockBytes ? absl::OkStatus() : WriteBlock();
}

absl::Status RunWriter::WriteBlock() {
  const BlockHead head{static_cast<uint32_t>(block_.size()), block_words_,
                       XXH64(block_.data(), block_.size(), block_words_)};
  TRAINYARD_RETURN_IF_ERROR(Write(BytesOf(head)));
  TRAINYARD_RETURN_IF_ERROR(Write(block_));
  block_.clear();
  block_words_ = 0;
  return absl::OkStatus();
}

absl::Status RunWriter::Finish() {
  if (!block_.empty()) TRAINYARD_RETURN_IF_ERROR(WriteBlock());
  TRAINYARD_RETURN_IF_ERROR(Write(BytesOf({0, kEnd, words_})));
  // NFS may report a full disk only here.
  if (close(file_.Release()) != 0) return Failed("cannot write", path_, errno);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RunReader>> RunReader::Open(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return Failed("cannot open", path, errno);
  std::unique_ptr<RunReader> reader(new RunReader(path, std::move(file)));
  std::string header(kHeader.size(), '\0');
  TRAINYARD_RETURN_IF_ERROR(reader->Read(header.data(), header.size()));
  if (header != kHeader) return reader->Damaged("its header is wrong");
  return reader;
}

absl::Status RunReader::Damaged(const std::string& cause) const {
  return absl::DataLossError(absl::StrCat(
      "scratch file ", path_, " is damaged: ", cause,
      "; check the disk, or choose another scratch directory, and run the command again"));
}

absl::Status RunReader::Read(char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = read(file_.get(), data, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("cannot read", path_, errno);
    if (got == 0) return Damaged("its end is missing");
    data += got;
    bytes -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::Status RunReader::ReadBlock() {
  BlockHead head;
  TRAINYARD_RETURN_IF_ERROR(Read(reinterpret_cast<char*>(&head), sizeof(head)));
  block_.clear();
  at_ = 0;
  if (head.words == kEnd) {
    ended_ = true;
    if (head.bytes == 0 && head.hash == words_) return absl::OkStatus();
    return Damaged("its number of words is wrong");
  }
  // A wrong size must not allocate memory for a block that the file does not contain.
  const off_t here = lseek(file_.get(), 0, SEEK_CUR);
  const off_t end = lseek(file_.get(), 0, SEEK_END);
  if (here < 0 || end < 0 || lseek(file_.get(), here, SEEK_SET) < 0) {
    return Failed("cannot read", path_, errno);
  }
  if (head.bytes == 0 || end - here < static_cast<off_t>(head.bytes)) {
    return Damaged("its end is missing");
  }
  block_.resize(head.bytes);
  TRAINYARD_RETURN_IF_ERROR(Read(block_.data(), block_.size()));
  if (XXH64(block_.data(), block_.size(), head.words) != head.hash) {
    return Damaged("a checksum is wrong");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RunReader::Next() {
  if (at_ == block_.size()) {
    TRAINYARD_RETURN_IF_ERROR(ReadBlock());
    if (ended_) return false;
  }
  // The checksum of the block is right, so that its contents are as written.
  uint32_t length;
  std::memcpy(&count_, &block_[at_], sizeof(count_));
  std::memcpy(&length, &block_[at_ + sizeof(count_)], sizeof(length));
  at_ += sizeof(count_) + sizeof(length);
  word_ = std::string_view(block_).substr(at_, length);
  at_ += length;
  ++words_;
  return true;
}

}  // namespace trainyard::data
