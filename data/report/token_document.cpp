#include "data/report/token_document.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "data/report/document_bounds.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;  // a multiple of the size of a token
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

struct Wanted {
  std::string split = token_format::kTrainSplit;
  int64_t number = kNone;    // of the document, from 1
  int64_t position = kNone;  // of one of its tokens
};

std::optional<int64_t> NumberIn(std::string_view text, int64_t min) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < min) {
    return std::nullopt;
  }
  return number;
}

absl::StatusOr<Wanted> Parse(const std::string& name) {
  Wanted wanted;
  if (const auto number = NumberIn(name, 1)) {
    wanted.number = *number;
    return wanted;
  }
  const size_t separator = name.find_first_of(":@");
  if (separator != std::string::npos) {
    wanted.split = name.substr(0, separator);
    const bool is_position = name[separator] == '@';
    const auto number = NumberIn(std::string_view(name).substr(separator + 1), is_position ? 0 : 1);
    if (number) {
      (is_position ? wanted.position : wanted.number) = *number;
      return wanted;
    }
  }
  return absl::InvalidArgumentError("\"" + name +
                                    "\" names no document of token files; use N, train:N or val:N "
                                    "(from 1), or train@T for the document of token T (from 0)");
}

// Divides the tokens of a split into documents, and keeps the wanted one.
class Finder {
 public:
  Finder(const SplitDescription& split, const Wanted& wanted)
      : marks_(split.marks), bounds_(split.marks), wanted_(wanted) {
    document_.split = split.split;
  }

  // Returns true when the document is complete or too long.
  bool Add(uint32_t id) {
    if (bounds_.Begins(id) && position_ > 0) {
      if (IsWanted()) return true;
      Begin();
    }
    ++position_;
    if (!MayBeWanted()) return false;
    document_.ids.push_back(id);
    is_too_long_ = document_.ids.size() > TokenDocument::kTokensMax;
    return is_too_long_;
  }

  // Call after the last token.
  absl::StatusOr<TokenDocument> Take(const std::string& name) {
    if (is_too_long_) {
      return absl::OutOfRangeError(name + ": the document at token " +
                                   std::to_string(document_.first_token) + " has more than " +
                                   std::to_string(TokenDocument::kTokensMax) + " tokens");
    }
    if (!IsWanted() || position_ == 0) {
      return absl::NotFoundError(name + ": the " + document_.split + " split ends at document " +
                                 std::to_string(position_ == 0 ? 0 : document_.number) +
                                 " and token " + std::to_string(position_) +
                                 "; name an earlier one");
    }
    std::vector<uint32_t>& ids = document_.ids;
    if (!ids.empty() && marks_.after && ids.back() == *marks_.after) ids.pop_back();
    if (!ids.empty() && marks_.before && ids.front() == *marks_.before) ids.erase(ids.begin());
    return std::move(document_);
  }

 private:
  void Begin() {
    ++document_.number;
    document_.first_token = position_;
    document_.ids.clear();
  }

  // True if the present document is the wanted one. Call at its end.
  bool IsWanted() const {
    return document_.number == wanted_.number ||
           (document_.first_token <= wanted_.position && wanted_.position < position_);
  }
  bool MayBeWanted() const {
    return document_.number == wanted_.number || wanted_.position != kNone;
  }

  const DocumentMarks marks_;
  DocumentBounds bounds_;
  const Wanted wanted_;
  int64_t position_ = 0;  // number of tokens
  bool is_too_long_ = false;
  TokenDocument document_ = {"", 1, 0, {}};
};

template <typename Stored>
bool AddAll(std::string_view bytes, Finder* finder) {
  for (size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
    Stored id = 0;
    std::memcpy(&id, bytes.data() + at, sizeof(id));
    if (finder->Add(id)) return true;
  }
  return false;
}

// Returns whether the document is complete.
absl::StatusOr<bool> ReadTokens(const std::string& path, const SplitDescription& split,
                                int64_t token_from, Finder* finder) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(token_from);
  std::string buffer(kReadBytes, '\0');
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const std::string_view bytes(buffer.data(), static_cast<size_t>(file.gcount()));
    const bool done = split.bytes_per_token == 2 ? AddAll<uint16_t>(bytes, finder)
                                                 : AddAll<uint32_t>(bytes, finder);
    if (done) return true;
  }
  if (file.eof()) return false;
  return absl::DataLossError(path + ": cannot be read; check the path and its permissions");
}

}  // namespace

absl::StatusOr<TokenDocument> FindTokenDocument(const std::string& directory,
                                                const DatasetDescription& description,
                                                const std::string& name) {
  TRAINYARD_ASSIGN_OR_RETURN(const Wanted wanted, Parse(name));
  const auto split =
      std::find_if(description.splits.begin(), description.splits.end(),
                   [&](const SplitDescription& other) { return other.split == wanted.split; });
  if (split == description.splits.end()) {
    return absl::NotFoundError(directory + " has no split \"" + wanted.split +
                               "\"; use train or val");
  }
  Finder finder(*split, wanted);
  for (const TokenFileFacts& file : split->files) {
    if (file.token_from < 0) continue;
    TRAINYARD_ASSIGN_OR_RETURN(
        const bool done, ReadTokens(directory + "/" + file.name, *split, file.token_from, &finder));
    if (done) break;
  }
  return finder.Take(name);
}

}  // namespace trainyard::data
