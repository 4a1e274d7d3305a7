#include "data/tokens/split_check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "data/tokens/llmc_shards.h"

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kReadBytes = size_t{1} << 20;  // a multiple of the size of a token
constexpr char kCopyDataAgain[] = "; copy the file again, or prepare the data again";
constexpr char kWriteAgain[] = "; prepare the data again";

// The tokens of a split, over all its files.
class TokenScan {
 public:
  TokenScan(const SplitDescription& split, std::vector<std::string>* problems)
      : split_(split), problems_(*problems) {}

  void Add(std::string_view bytes) {
    if (split_.bytes_per_token == 2) {
      AddAs<uint16_t>(bytes);
    } else {
      AddAs<uint32_t>(bytes);
    }
  }

  void Finish(const std::string& path, bool marks_in_text) {
    if (outside_ > 0) {
      problems_.push_back(path + ": " + std::to_string(outside_) +
                          " ids are not below the size of the vocabulary (" +
                          std::to_string(split_.vocab_size) + "), first id " +
                          std::to_string(first_outside_id_) + " at token " +
                          std::to_string(first_outside_) + kWriteAgain);
    }
    if (tokens_ == 0) {
      if (split_.documents != 0) Miscounted(path, 0);
      return;
    }
    CheckEnds(path);
    const bool differs = marks_in_text ? marks_ < split_.documents : marks_ != split_.documents;
    if (mark_ && differs) Miscounted(path, marks_);
  }

  int64_t tokens() const { return tokens_; }

 private:
  template <typename Stored>
  void AddAs(std::string_view bytes) {
    for (size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
      Stored id = 0;
      std::memcpy(&id, bytes.data() + at, sizeof(id));
      if (id >= split_.vocab_size && outside_++ == 0) {
        first_outside_ = tokens_;
        first_outside_id_ = id;
      }
      if (tokens_++ == 0) first_ = id;
      last_ = id;
      if (mark_ == id) ++marks_;
    }
  }

  void CheckEnds(const std::string& path) {
    const DocumentMarks& marks = split_.marks;
    if (marks.before && first_ != *marks.before) {
      problems_.push_back(path + ": begins with token " + std::to_string(first_) +
                          " instead of the begin of a document (" + std::to_string(*marks.before) +
                          ")" + kWriteAgain);
    }
    if (marks.after && last_ != *marks.after) {
      problems_.push_back(path + ": ends with token " + std::to_string(last_) +
                          " instead of the end of a document (" + std::to_string(*marks.after) +
                          ")" + kWriteAgain);
    }
  }

  void Miscounted(const std::string& path, int64_t marks) {
    problems_.push_back(path + ": has the end or begin of " + std::to_string(marks) +
                        " documents, but the description declares " +
                        std::to_string(split_.documents) + kWriteAgain);
  }

  const SplitDescription& split_;
  std::vector<std::string>& problems_;
  // The token that is counted to find the number of documents.
  const std::optional<uint32_t> mark_ =
      split_.marks.after ? split_.marks.after : split_.marks.before;
  int64_t tokens_ = 0;
  int64_t marks_ = 0;
  int64_t outside_ = 0;  // ids that are not below the size of the vocabulary
  int64_t first_outside_ = 0;
  uint32_t first_outside_id_ = 0;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};

// Reads one file.
class FileReader {
 public:
  FileReader(const std::string& path, const SplitCheckSettings& settings)
      : settings_(settings), in_(path, std::ios::binary) {
    XXH64_reset(&state_, 0);
  }

  // Returns the checksum of the bytes from `from` to the end, "" if `advance` stopped it, or
  // nullopt if the file cannot be read. `scan` may be null.
  std::optional<std::string> Checksum(int64_t from, TokenScan* scan) {
    in_.seekg(from);
    std::string buffer(kReadBytes, '\0');
    while (in_) {
      in_.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      const std::string_view bytes(buffer.data(), static_cast<size_t>(in_.gcount()));
      XXH64_update(&state_, bytes.data(), bytes.size());
      if (scan != nullptr) scan->Add(bytes);
      if (!settings_.advance(static_cast<int64_t>(bytes.size()))) return "";
    }
    if (!in_.eof()) return std::nullopt;
    return ChecksumText(XXH64_digest(&state_));
  }

  // The number of tokens that llm.c's header declares; -1 if it cannot be read.
  int64_t LlmcTokens() {
    int32_t numbers[3] = {0, 0, -1};
    in_.read(reinterpret_cast<char*>(numbers), sizeof(numbers));
    in_.clear();
    return numbers[2];
  }

 private:
  const SplitCheckSettings& settings_;
  std::ifstream in_;
  XXH64_state_t state_;
};

// Returns what is wrong with the size of a file; "" if nothing.
std::string SizeProblem(const std::string& path, const TokenFileFacts& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return path + ": is missing or is not a file" + kCopyDataAgain;
  }
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (bytes == file.bytes) return "";
  return path + ": has " + std::to_string(bytes) + " bytes instead of " +
         std::to_string(file.bytes) + kCopyDataAgain;
}

// Returns false if the check was stopped.
bool CheckFile(const std::string& path, const TokenFileFacts& file, const SplitDescription& split,
               const SplitCheckSettings& settings, TokenScan* scan,
               std::vector<std::string>* problems) {
  FileReader reader(path, settings);
  const bool has_tokens = file.token_from >= 0;
  if (has_tokens && settings.format == OutputFormat::kLlmc) {
    const int64_t tokens = (file.bytes - file.token_from) / split.bytes_per_token;
    if (reader.LlmcTokens() != tokens) {
      problems->push_back(path + ": its header does not declare the " + std::to_string(tokens) +
                          " tokens of the file" + kCopyDataAgain);
    }
  }
  const std::optional<std::string> checksum =
      reader.Checksum(std::max<int64_t>(file.token_from, 0), has_tokens ? scan : nullptr);
  if (!checksum) {
    problems->push_back(path + ": cannot be read: " + std::strerror(errno) +
                        "; check its permissions and the disk");
    return true;
  }
  if (checksum->empty()) return false;
  if (*checksum != file.xxh64) {
    problems->push_back(path + ": the checksum is " + *checksum + " instead of " + file.xxh64 +
                        ", so the file is damaged" + kCopyDataAgain);
  }
  return true;
}

}  // namespace

std::vector<std::string> CheckSplit(const std::string& directory, const SplitDescription& split,
                                    const SplitCheckSettings& settings) {
  std::vector<std::string> problems;
  TokenScan scan(split, &problems);
  int64_t tokens = 0;
  for (const TokenFileFacts& file : split.files) {
    const std::string path = directory + "/" + file.name;
    if (file.token_from >= 0) tokens += (file.bytes - file.token_from) / split.bytes_per_token;
    std::string problem = SizeProblem(path, file);
    if (!problem.empty()) {
      problems.push_back(std::move(problem));
      continue;
    }
    if (!CheckFile(path, file, split, settings, &scan, &problems)) return problems;
  }
  const std::string name = directory + "/" + split.split;
  if (tokens != split.tokens) {
    problems.push_back(name + ": its files have " + std::to_string(tokens) +
                       " tokens, but the description declares " + std::to_string(split.tokens) +
                       kWriteAgain);
  }
  // With a missing or damaged file, further differences have the same cause.
  if (problems.empty()) scan.Finish(name, settings.marks_in_text);
  return problems;
}

}  // namespace trainyard::data
