#include "data/stages/binary_part.h"

#include <fcntl.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "data/stages/file_status.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

class BinaryWriter : public BinaryPartWriter {
 public:
  BinaryWriter(std::string path, std::string name) : path_(std::move(path)) {
    part_.name = std::move(name);
    XXH64_reset(&hash_, 0);
  }
  ~BinaryWriter() override {
    if (created_ && !finished_) std::remove(path_.c_str());
  }

  absl::Status Init() {
    TRAINYARD_RETURN_IF_ERROR(ToStatus(file_.CreateNew(path_, {.mode = 0644})));
    created_ = true;
    return absl::OkStatus();
  }

  absl::Status Append(std::string_view bytes) override {
    buffer_ += bytes;
    return buffer_.size() < kPieceBytes ? absl::OkStatus() : Flush();
  }

  absl::StatusOr<PartFile> Finish() override {
    TRAINYARD_RETURN_IF_ERROR(Flush());
    TRAINYARD_RETURN_IF_ERROR(ToStatus(file_.Finish()));
    finished_ = true;
    part_.xxh64 = XXH64_digest(&hash_);
    return part_;
  }

 private:
  absl::Status Flush() {
    XXH64_update(&hash_, buffer_.data(), buffer_.size());
    part_.bytes += static_cast<int64_t>(buffer_.size());
    TRAINYARD_RETURN_IF_ERROR(ToStatus(file_.Append(buffer_)));
    buffer_.clear();
    return absl::OkStatus();
  }

  const std::string path_;
  XXH64_state_t hash_;
  DurableFile file_;
  PartFile part_;
  std::string buffer_;
  bool created_ = false;
  bool finished_ = false;
};

class BinaryReader : public BinaryPartReader {
 public:
  BinaryReader(std::string path, UniqueFd file, const PartFile& part)
      : path_(std::move(path)), file_(std::move(file)), left_(part.bytes) {}

  // Checks the whole file, then returns to its begin.
  absl::Status Check(uint64_t expected) {
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    const int64_t bytes = left_;
    while (left_ > 0) {
      TRAINYARD_RETURN_IF_ERROR(Fill());
      XXH64_update(&hash, buffer_.data(), buffer_.size());
    }
    if (XXH64_digest(&hash) != expected) return Damaged();
    if (lseek(file_.get(), 0, SEEK_SET) != 0) return Damaged();
    buffer_.clear();
    left_ = bytes;
    return absl::OkStatus();
  }

  bool AtEnd() const override { return left_ == 0 && at_ == buffer_.size(); }

  absl::Status Read(size_t size, std::string* bytes) override {
    bytes->clear();
    while (bytes->size() < size) {
      if (at_ == buffer_.size()) {
        if (left_ == 0) return Damaged();
        TRAINYARD_RETURN_IF_ERROR(Fill());
      }
      const size_t piece = std::min(size - bytes->size(), buffer_.size() - at_);
      bytes->append(buffer_, at_, piece);
      at_ += piece;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Fill() {
    buffer_.resize(static_cast<size_t>(std::min<int64_t>(left_, kPieceBytes)));
    at_ = 0;
    for (size_t done = 0; done < buffer_.size();) {
      const ssize_t got = read(file_.get(), buffer_.data() + done, buffer_.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Damaged();
      done += static_cast<size_t>(got);
    }
    left_ -= static_cast<int64_t>(buffer_.size());
    return absl::OkStatus();
  }

  absl::Status Damaged() const {
    return absl::DataLossError(path_ + " is damaged; delete its directory and repeat the command");
  }

  const std::string path_;
  const UniqueFd file_;
  int64_t left_;  // bytes behind the buffer
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BinaryPartWriter>> BinaryPartWriter::Create(
    const PartNames& names, const BlockLease& lease, const std::string& stream) {
  std::string name = names.Name(stream, lease.block, kBinaryEnding);
  std::string path = names.directory() + "/" + PartNames::UnfinishedName(lease, name);
  auto writer = std::make_unique<BinaryWriter>(std::move(path), std::move(name));
  TRAINYARD_RETURN_IF_ERROR(writer->Init());
  return writer;
}

absl::StatusOr<std::unique_ptr<BinaryPartReader>> BinaryPartReader::Open(
    const std::string& directory, const PartFile& part) {
  const std::string path = directory + "/" + part.name;
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ToStatus(FileError{errno, "cannot open " + path});
  auto reader = std::make_unique<BinaryReader>(path, std::move(file), part);
  TRAINYARD_RETURN_IF_ERROR(reader->Check(part.xxh64));
  return reader;
}

}  // namespace trainyard::data
