#include "data/tokens/megatron_index.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kNumberBytes = size_t{1} << 20;
constexpr char kMagic[] = "MMIDIDX\0";  // 9 bytes, including the literal's final zero.
constexpr uint64_t kVersion = 1;
constexpr char kUint16Code = 8;
constexpr char kInt32Code = 4;

template <typename Number>
void AppendNumber(Number number, std::string* bytes) {
  const size_t before = bytes->size();
  bytes->resize(before + sizeof(number));
  std::memcpy(bytes->data() + before, &number, sizeof(number));
}

// Collects small writes.
class BufferedNumbers {
 public:
  explicit BufferedNumbers(HashedFile* file) : file_(*file) {}

  template <typename Number>
  absl::Status Add(Number number) {
    AppendNumber(number, &buffer_);
    return buffer_.size() < kNumberBytes ? absl::OkStatus() : Flush();
  }

  absl::Status Flush() {
    const absl::Status status = file_.Write(buffer_);
    buffer_.clear();
    return status;
  }

 private:
  HashedFile& file_;
  std::string buffer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MegatronIndex>> MegatronIndex::Create(const std::string& directory,
                                                                     const std::string& split,
                                                                     int bytes_per_token,
                                                                     int64_t sequence_tokens_max) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> lengths,
                             OutputFile::Create(directory + "/" + split + ".lengths"));
  return std::unique_ptr<MegatronIndex>(new MegatronIndex(directory, split, bytes_per_token,
                                                          sequence_tokens_max, std::move(lengths)));
}

int64_t MegatronIndex::SequencesOf(int64_t tokens) const {
  return std::max<int64_t>(1, (tokens + sequence_tokens_max_ - 1) / sequence_tokens_max_);
}

absl::Status MegatronIndex::AddDocument(int64_t tokens) {
  ++documents_;
  sequences_ += SequencesOf(tokens);
  AppendNumber(tokens, &buffer_);
  return buffer_.size() < kNumberBytes ? absl::OkStatus() : Flush();
}

absl::Status MegatronIndex::Flush() {
  const absl::Status status = lengths_->Write(buffer_);
  buffer_.clear();
  return status;
}

absl::Status MegatronIndex::ForEachLength(const std::function<absl::Status(int64_t)>& take) const {
  std::ifstream in(lengths_->path(), std::ios::binary);
  for (int64_t i = 0; i < documents_; ++i) {
    int64_t tokens = 0;
    if (!in.read(reinterpret_cast<char*>(&tokens), sizeof(tokens))) {
      return absl::DataLossError("cannot read " + lengths_->path());
    }
    TRAINYARD_RETURN_IF_ERROR(take(tokens));
  }
  return absl::OkStatus();
}

absl::Status MegatronIndex::ForEachSequence(
    const std::function<absl::Status(int64_t)>& take) const {
  return ForEachLength([&](int64_t tokens) -> absl::Status {
    for (int64_t left = SequencesOf(tokens); left > 0; --left) {
      const int64_t length = std::min(tokens, sequence_tokens_max_);
      TRAINYARD_RETURN_IF_ERROR(take(length));
      tokens -= length;
    }
    return absl::OkStatus();
  });
}

// Writes the number of tokens of each sequence, the byte at which it begins, and the number of the
// sequence with which each document begins.
absl::Status MegatronIndex::WriteArrays(HashedFile* file) const {
  BufferedNumbers out(file);
  TRAINYARD_RETURN_IF_ERROR(
      ForEachSequence([&](int64_t tokens) { return out.Add(static_cast<int32_t>(tokens)); }));
  int64_t byte = 0;
  TRAINYARD_RETURN_IF_ERROR(ForEachSequence([&](int64_t tokens) {
    return out.Add(std::exchange(byte, byte + tokens * bytes_per_token_));
  }));
  int64_t sequence = 0;
  TRAINYARD_RETURN_IF_ERROR(ForEachLength([&](int64_t tokens) {
    return out.Add(std::exchange(sequence, sequence + SequencesOf(tokens)));
  }));
  TRAINYARD_RETURN_IF_ERROR(out.Add(sequence));
  return out.Flush();
}

absl::StatusOr<TokenFileFacts> MegatronIndex::Finish() {
  TRAINYARD_RETURN_IF_ERROR(Flush());
  TRAINYARD_RETURN_IF_ERROR(lengths_->Close());
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<HashedFile> file,
                             HashedFile::Create(directory_, split_ + ".idx"));
  std::string header(kMagic, sizeof(kMagic));
  AppendNumber(kVersion, &header);
  header += bytes_per_token_ == 2 ? kUint16Code : kInt32Code;
  AppendNumber(sequences_, &header);
  AppendNumber(documents_ + 1, &header);
  TRAINYARD_RETURN_IF_ERROR(file->Write(header));
  TRAINYARD_RETURN_IF_ERROR(WriteArrays(file.get()));
  TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts facts, file->Finish());
  facts.token_from = -1;
  std::remove(lengths_->path().c_str());
  return facts;
}

}  // namespace trainyard::data
