#include "data/tokens/source_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little);

// Appends 7 bits per byte, the lowest ones first. The highest bit is set if more bytes follow.
void AppendShort(uint64_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) *bytes += static_cast<char>(number | 0x80);
  *bytes += static_cast<char>(number);
}

size_t CommonBytes(std::string_view a, std::string_view b) {
  const size_t bytes = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(bytes), b.begin()).first -
      a.begin());
}

template <typename Numbers>
std::string_view BytesOf(const Numbers& numbers) {
  return {reinterpret_cast<const char*>(&numbers), sizeof(numbers)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SourceWriter>> SourceWriter::Create(const std::string& directory,
                                                                   const std::string& split) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<HashedFile> file,
                             HashedFile::Create(directory, SourceFileName(split)));
  auto writer = std::unique_ptr<SourceWriter>(new SourceWriter(std::move(file)));
  TRAINYARD_RETURN_IF_ERROR(writer->Write(source_format::kMark));
  return writer;
}

absl::Status SourceWriter::Add(const SourcePlace& place, int64_t tokens) {
  const bool is_next = !group_.empty() && place.is_line == last_.is_line &&
                       place.position >= last_.position && place.file == last_.file;
  if (is_next) {
    AppendShort(static_cast<uint64_t>(place.position - last_.position) << 1, &group_);
    last_.position = place.position;
  } else {
    AddFile(place);
  }
  AppendShort(static_cast<uint64_t>(tokens), &group_);
  ++documents_;
  tokens_ += static_cast<uint64_t>(tokens);
  return documents_ % source_format::kGroupDocuments == 0 ? EndGroup() : absl::OkStatus();
}

void SourceWriter::AddFile(const SourcePlace& place) {
  const size_t common = group_.empty() ? 0 : CommonBytes(last_.file, place.file);
  AppendShort(common << 1 | source_format::kNewFileBit, &group_);
  AppendShort(place.file.size() - common, &group_);
  group_.append(place.file, common);
  AppendShort(
      static_cast<uint64_t>(place.position) << 1 | (place.is_line ? source_format::kLineBit : 0),
      &group_);
  last_ = place;
}

absl::Status SourceWriter::EndGroup() {
  if (group_.empty()) return absl::OkStatus();
  groups_.push_back(
      {static_cast<uint64_t>(bytes_), first_token_, XXH64(group_.data(), group_.size(), 0)});
  first_token_ = tokens_;
  const absl::Status status = Write(group_);
  group_.clear();
  return status;
}

absl::Status SourceWriter::Write(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  return file_->Write(bytes);
}

absl::StatusOr<TokenFileFacts> SourceWriter::Finish() {
  TRAINYARD_RETURN_IF_ERROR(EndGroup());
  std::string index;
  for (const source_format::Group& group : groups_) index += BytesOf(group);
  const source_format::Ending ending = {groups_.size(), documents_, tokens_};
  index += BytesOf(ending);
  TRAINYARD_RETURN_IF_ERROR(Write(index));
  TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts facts, file_->Finish());
  facts.token_from = -1;
  return facts;
}

}  // namespace trainyard::data
