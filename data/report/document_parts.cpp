#include "data/report/document_parts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string_view>

#include "data/report/document_bounds.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;  // a multiple of the size of a token
constexpr char kChanged[] =
    ", so the file has changed since it was prepared; copy the file again, or prepare the data "
    "again";

// Assigns the documents of a split to ranges, which are sorted by `begin` and then by `end`.
class RangeScan {
 public:
  RangeScan(const DocumentMarks& marks, std::vector<TokenRange> ranges)
      : bounds_(marks), ranges_(std::move(ranges)), found_(ranges_.size()) {}

  void Add(uint32_t id) {
    if (bounds_.Begins(id)) BeginDocument();
    ++position_;
  }

  // Call after the last token.
  std::vector<RangeDocuments> Finish() {
    Open();
    return std::move(found_);
  }

 private:
  void BeginDocument() {
    Open();
    ++number_;
    first_token_ = position_;
    while (closed_ < opened_ && ranges_[closed_].end <= position_) ++closed_;
    for (size_t i = closed_; i < opened_; ++i) {
      if (ranges_[i].end > position_) AddPart(i, position_);
    }
  }

  // Adds the current document to the ranges that begin in it.
  void Open() {
    for (; opened_ < ranges_.size() && ranges_[opened_].begin < position_; ++opened_) {
      AddPart(opened_, ranges_[opened_].begin);
    }
  }

  void AddPart(size_t range, int64_t begin) {
    RangeDocuments& found = found_[range];
    if (!found.parts.empty() && found.others == 0) found.parts.back().tokens.end = begin;
    if (found.parts.size() == RangeDocuments::kPartsMax) {
      ++found.others;
      return;
    }
    found.parts.push_back({number_, first_token_, {begin, ranges_[range].end}});
  }

  DocumentBounds bounds_;
  const std::vector<TokenRange> ranges_;
  std::vector<RangeDocuments> found_;
  size_t opened_ = 0;  // number of ranges that begin before the current token
  size_t closed_ = 0;  // number of these that end before the current document
  int64_t position_ = 0;
  int64_t number_ = 0;
  int64_t first_token_ = 0;
};

template <typename Stored>
void AddAll(std::string_view bytes, RangeScan* scan) {
  for (size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
    Stored id = 0;
    std::memcpy(&id, bytes.data() + at, sizeof(id));
    scan->Add(id);
  }
}

absl::StatusOr<std::ifstream> OpenAt(const std::string& path, int64_t byte) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path + ": cannot open: " + std::strerror(errno));
  file.seekg(byte);
  return file;
}

absl::Status Unreadable(const std::string& path) {
  return absl::DataLossError(path + ": cannot be read; check the path and its permissions");
}

// Adds the tokens of a file and checks the file.
absl::Status ScanFile(const std::string& path, const TokenFileFacts& facts, int bytes_per_token,
                      const std::atomic<bool>& cancelled, RangeScan* scan) {
  TRAINYARD_ASSIGN_OR_RETURN(std::ifstream file, OpenAt(path, facts.token_from));
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  std::string buffer(kBlockBytes, '\0');
  int64_t bytes = facts.token_from;
  while (file) {
    if (cancelled) return absl::CancelledError("interrupted");
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const std::string_view block(buffer.data(), static_cast<size_t>(file.gcount()));
    bytes += static_cast<int64_t>(block.size());
    XXH64_update(&hash, block.data(), block.size());
    bytes_per_token == 2 ? AddAll<uint16_t>(block, scan) : AddAll<uint32_t>(block, scan);
  }
  if (!file.eof()) return Unreadable(path);
  if (bytes != facts.bytes) {
    return absl::DataLossError(path + ": has " + std::to_string(bytes) +
                               " bytes, but its description declares " +
                               std::to_string(facts.bytes) + kChanged);
  }
  const std::string checksum = ChecksumText(XXH64_digest(&hash));
  if (checksum == facts.xxh64) return absl::OkStatus();
  return absl::DataLossError(path + ": its checksum is " + checksum +
                             ", but its description declares " + facts.xxh64 + kChanged);
}

// Returns the indices of the ranges, sorted by their begins.
std::vector<size_t> Sorted(const std::vector<TokenRange>& ranges) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(ranges[a].begin, ranges[a].end) < std::pair(ranges[b].begin, ranges[b].end);
  });
  return order;
}

absl::Status CheckInside(const SplitDescription& split, const std::vector<TokenRange>& ranges) {
  for (const TokenRange& range : ranges) {
    if (0 <= range.begin && range.begin < range.end && range.end <= split.tokens) continue;
    return absl::OutOfRangeError("tokens " + std::to_string(range.begin) + " to " +
                                 std::to_string(range.end) + " are not inside the " + split.split +
                                 " split of " + std::to_string(split.tokens) + " tokens");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<RangeDocuments>> FindDocumentParts(const std::string& directory,
                                                              const SplitDescription& split,
                                                              const std::vector<TokenRange>& ranges,
                                                              const std::atomic<bool>& cancelled) {
  TRAINYARD_RETURN_IF_ERROR(CheckInside(split, ranges));
  const std::vector<size_t> order = Sorted(ranges);
  std::vector<TokenRange> sorted;
  for (const size_t index : order) sorted.push_back(ranges[index]);
  RangeScan scan(split.marks, std::move(sorted));
  for (const TokenFileFacts& file : split.files) {
    if (file.token_from < 0) continue;
    TRAINYARD_RETURN_IF_ERROR(
        ScanFile(directory + "/" + file.name, file, split.bytes_per_token, cancelled, &scan));
  }
  std::vector<RangeDocuments> found = scan.Finish();
  std::vector<RangeDocuments> documents(ranges.size());
  for (size_t i = 0; i < order.size(); ++i) documents[order[i]] = std::move(found[i]);
  return documents;
}

absl::StatusOr<std::vector<uint32_t>> ReadTokenRange(const std::string& directory,
                                                     const SplitDescription& split,
                                                     const TokenRange& range) {
  std::vector<uint32_t> ids;
  int64_t first = 0;  // position of the first token of the file
  for (const TokenFileFacts& facts : split.files) {
    if (facts.token_from < 0) continue;
    const int64_t tokens = (facts.bytes - facts.token_from) / split.bytes_per_token;
    const int64_t begin = std::max<int64_t>(range.begin - first, 0);
    const int64_t count = std::min(range.end - first, tokens) - begin;
    first += tokens;
    if (count <= 0) continue;
    const std::string path = directory + "/" + facts.name;
    TRAINYARD_ASSIGN_OR_RETURN(std::ifstream file,
                               OpenAt(path, facts.token_from + begin * split.bytes_per_token));
    std::string bytes(static_cast<size_t>(count * split.bytes_per_token), '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      return Unreadable(path);
    }
    for (int64_t i = 0; i < count; ++i) {
      uint32_t id = 0;  // little-endian, as in the file
      std::memcpy(&id, bytes.data() + i * split.bytes_per_token,
                  static_cast<size_t>(split.bytes_per_token));
      ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace trainyard::data
