#include "data/tokens/source_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little);

using source_format::Ending;
using source_format::Group;

// Larger than a group whose documents all have a file of their own with the longest path.
constexpr uint64_t kGroupBytesMax = uint64_t{8} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<SourceReader>> SourceReader::Open(const std::string& directory,
                                                                 const SplitDescription& split) {
  const std::string path = directory + "/" + SourceFileName(split.split);
  const bool is_declared = std::ranges::any_of(split.files, [&](const TokenFileFacts& file) {
    return file.name == SourceFileName(split.split);
  });
  if (!is_declared) {
    return absl::NotFoundError(
        directory +
        ": does not record the inputs of its documents, because "
        "an earlier release wrote it; prepare the data again to record them");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::DataLossError(path +
                               ": cannot open the file; copy it again, or prepare the data "
                               "again");
  }
  auto reader = std::unique_ptr<SourceReader>(new SourceReader(path, std::move(file)));
  TRAINYARD_RETURN_IF_ERROR(reader->ReadEnding(split));
  return reader;
}

absl::Status SourceReader::ReadEnding(const SplitDescription& split) {
  std::error_code error;
  const auto bytes = static_cast<uint64_t>(std::filesystem::file_size(path_, error));
  const uint64_t smallest = source_format::kMark.size() + sizeof(Ending);
  if (error || bytes < smallest) return Damaged("is too short");
  std::string mark(source_format::kMark.size(), '\0');
  TRAINYARD_RETURN_IF_ERROR(ReadBytes(0, mark.size(), mark.data()));
  if (mark != source_format::kMark) return Damaged("has another format");
  TRAINYARD_RETURN_IF_ERROR(
      ReadBytes(bytes - sizeof(Ending), sizeof(Ending), reinterpret_cast<char*>(&ending_)));
  if (ending_.version != source_format::kVersion) {
    return absl::DataLossError(path_ + ": has version " + std::to_string(ending_.version) +
                               "; update this program");
  }
  if (ending_.groups > (bytes - smallest) / sizeof(Group)) return Damaged("has no complete index");
  index_begin_ = bytes - sizeof(Ending) - ending_.groups * sizeof(Group);
  const bool matches = ending_.documents == static_cast<uint64_t>(split.documents) &&
                       ending_.tokens == static_cast<uint64_t>(split.tokens);
  return matches ? absl::OkStatus() : Damaged("belongs to other token files");
}

absl::Status SourceReader::ReadBytes(uint64_t begin, uint64_t count, char* bytes) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(begin));
  if (file_.read(bytes, static_cast<std::streamsize>(count))) return absl::OkStatus();
  return Damaged("cannot be read");
}

absl::StatusOr<Group> SourceReader::ReadGroup(uint64_t number) {
  // The end of the last group.
  if (number == ending_.groups) return Group{index_begin_, ending_.tokens, 0};
  Group group;
  TRAINYARD_RETURN_IF_ERROR(ReadBytes(index_begin_ + number * sizeof(Group), sizeof(Group),
                                      reinterpret_cast<char*>(&group)));
  return group;
}

absl::StatusOr<uint64_t> SourceReader::FindGroup(int64_t token) {
  uint64_t low = 0;  // the first group
  for (uint64_t high = ending_.groups; high - low > 1;) {
    const uint64_t middle = low + (high - low) / 2;
    TRAINYARD_ASSIGN_OR_RETURN(const Group group, ReadGroup(middle));
    (group.first_token <= static_cast<uint64_t>(token) ? low : high) = middle;
  }
  return low;
}

absl::Status SourceReader::LoadGroup(uint64_t number) {
  TRAINYARD_ASSIGN_OR_RETURN(const Group group, ReadGroup(number));
  TRAINYARD_ASSIGN_OR_RETURN(const Group next, ReadGroup(number + 1));
  const bool is_ordered = group.begin <= next.begin && next.begin <= index_begin_ &&
                          group.first_token <= next.first_token &&
                          next.first_token <= ending_.tokens;
  if (!is_ordered || next.begin - group.begin > kGroupBytesMax) return Damaged("has a wrong index");
  std::string bytes(next.begin - group.begin, '\0');
  TRAINYARD_RETURN_IF_ERROR(ReadBytes(group.begin, bytes.size(), bytes.data()));
  if (XXH64(bytes.data(), bytes.size(), 0) != group.xxh64) return Damaged("has a wrong checksum");
  auto documents = ParseSourceGroup(bytes, static_cast<int64_t>(group.first_token),
                                    static_cast<int64_t>(next.first_token));
  if (!documents) return Damaged("has a damaged group");
  documents_ = *std::move(documents);
  loaded_ = number;
  return absl::OkStatus();
}

absl::StatusOr<SourceDocument> SourceReader::At(int64_t token) {
  if (token < 0 || static_cast<uint64_t>(token) >= ending_.tokens) {
    return absl::OutOfRangeError(path_ + ": the split has " + std::to_string(ending_.tokens) +
                                 " tokens, but token " + std::to_string(token) + " was requested");
  }
  if (ending_.groups == 0) return Damaged("has no documents");
  TRAINYARD_ASSIGN_OR_RETURN(const uint64_t group, FindGroup(token));
  if (documents_.empty() || loaded_ != group) TRAINYARD_RETURN_IF_ERROR(LoadGroup(group));
  const auto next = std::upper_bound(
      documents_.begin(), documents_.end(), token,
      [](int64_t at, const SourceDocument& document) { return at < document.first_token; });
  if (next == documents_.begin()) return Damaged("has a wrong index");
  const SourceDocument& found = *(next - 1);
  if (token >= found.first_token + found.tokens) return Damaged("has a wrong index");
  return found;
}

absl::Status SourceReader::Damaged(const std::string& what) const {
  return absl::DataLossError(path_ + ": " + what +
                             "; copy the file again, or prepare the data again");
}

}  // namespace trainyard::data
