#include "data/tokens/source_group.h"

#include <algorithm>
#include <limits>

namespace trainyard::data {
namespace {

constexpr size_t kPathBytesMax = 64 << 10;
constexpr uint64_t kNumberMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / 8;

// Reads the numbers and paths of a group. After the first error, all results are 0 or empty.
class GroupBytes {
 public:
  explicit GroupBytes(std::string_view bytes) : rest_(bytes) {}

  uint64_t Number() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 63 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      number |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return number;
    }
    return Fail();
  }

  std::string_view Text(uint64_t bytes) {
    if (bytes > rest_.size()) return rest_.substr(0, Fail());
    const std::string_view text = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return text;
  }

  uint64_t Fail() {
    is_valid_ = false;
    rest_ = {};
    return 0;
  }

  bool is_valid() const { return is_valid_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_valid_ = true;
};

// Reads the place of the next document into `place`, which is that of the previous one.
void ReadPlace(bool is_first, GroupBytes* bytes, SourcePlace* place) {
  const uint64_t head = bytes->Number();
  if ((head & source_format::kNewFileBit) == 0) {
    place->position += static_cast<int64_t>(head >> 1);
    if (is_first || place->position > static_cast<int64_t>(kNumberMax)) bytes->Fail();
    return;
  }
  const uint64_t common = head >> 1;
  if (common > place->file.size()) bytes->Fail();
  place->file.resize(std::min<uint64_t>(common, place->file.size()));
  place->file += bytes->Text(bytes->Number());
  const uint64_t position = bytes->Number();
  if (position > kNumberMax || place->file.size() > kPathBytesMax) bytes->Fail();
  place->is_line = (position & source_format::kLineBit) != 0;
  place->position = static_cast<int64_t>(position >> 1);
}

}  // namespace

std::optional<std::vector<SourceDocument>> ParseSourceGroup(std::string_view group,
                                                            int64_t first_token, int64_t end) {
  GroupBytes bytes(group);
  std::vector<SourceDocument> documents;
  SourceDocument document;
  document.first_token = first_token;
  while (!bytes.at_end()) {
    ReadPlace(documents.empty(), &bytes, &document.place);
    const uint64_t length = bytes.Number();
    const bool fits = length <= static_cast<uint64_t>(end - document.first_token);
    const bool has_room = documents.size() < source_format::kGroupDocuments;
    if (!bytes.is_valid() || !fits || !has_room) return std::nullopt;
    document.tokens = static_cast<int64_t>(length);
    documents.push_back(document);
    document.first_token += document.tokens;
  }
  if (document.first_token != end) return std::nullopt;
  return documents;
}

}  // namespace trainyard::data
