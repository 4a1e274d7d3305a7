// Lines of JSONL files that cannot be used.
#ifndef TRAINYARD_DATA_DOCUMENTS_BAD_LINES_H_
#define TRAINYARD_DATA_DOCUMENTS_BAD_LINES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

enum class BadLineKind {
  kNotJson,
  kFieldMissing,
  kFieldNull,
  kFieldNotString,
  kFieldTwice,
  kLoneSurrogate,
  kNotUtf8,
  kTooLong,
};
inline constexpr size_t kBadLineKinds = 8;

struct BadLine {
  int64_t line = 0;  // counted from 0 at the start of the block
  BadLineKind kind = BadLineKind::kNotJson;
  std::string cause;
};

// The lines of one block.
struct BlockLines {
  int64_t line_ends = 0;  // number of lines that end in the block, including blank ones
  int64_t lines = 0;      // without blank lines
  int64_t repaired = 0;   // lines and blocks of plain text in which invalid UTF-8 was replaced
  std::vector<BadLine> bad;
  // Numbers of bad lines that are not in `bad`, by kind. They follow the lines in `bad`.
  std::array<int64_t, kBadLineKinds> unlisted{};
};

struct BadLineExample {
  std::string file;
  int64_t line = 0;  // counted from 1 at the start of the file
  std::string kind;  // as in bad.jsonl
  std::string cause;
};

struct BadLinePolicy {
  bool stop = false;            // stop at the first bad line
  double max_fraction = 0.001;  // of the lines; more bad lines are an error
};

// Counts bad lines, applies the policy and numbers the lines of each file. Not thread-safe.
class BadLineLog {
 public:
  explicit BadLineLog(const BadLinePolicy& policy) : policy_(policy) {}

  // Adds the next block in the order of the input. Returns DataLoss, with file, line and cause, if
  // the policy forbids the bad lines of this block. The fraction is checked here only after
  // kEarlyCheck bad lines, so that a wrong --field fails early.
  absl::Status Add(const RawBlock& block, BlockLines lines);
  // Returns DataLoss if there are more bad lines than the policy allows.
  absl::Status Finish() const;

  int64_t lines() const { return lines_; }
  // Line ends of the current file in the blocks that were added.
  int64_t file_lines() const { return file_lines_; }
  int64_t bad() const { return bad_; }
  int64_t repaired() const { return repaired_; }

  // Returns the contents of bad.jsonl: an object per bad line, with file, line, kind and cause.
  // Only the first kKept lines are included.
  std::string ToJsonLines() const;
  // The first `count` bad lines. At most kKept lines are available.
  std::vector<BadLineExample> Examples(size_t count) const;
  // The number of bad lines of each kind that occurs, with its name in bad.jsonl.
  std::vector<std::pair<std::string, int64_t>> Kinds() const;
  // "3 of 5,000 lines skipped: 2 not JSON, 1 too long"
  std::string Summary() const;

  static constexpr int64_t kEarlyCheck = 100;
  static constexpr size_t kKept = 10000;

 private:
  struct Entry {
    const InputFile* file = nullptr;
    BadLine line;  // counted from 1 at the start of the file
  };

  void Keep(const RawBlock& block, BadLine line);
  bool TooMany() const;
  absl::Status TooManyError() const;

  const BadLinePolicy policy_;
  int64_t file_lines_ = 0;  // line ends of the current file in earlier blocks
  int64_t lines_ = 0;
  int64_t bad_ = 0;
  int64_t repaired_ = 0;
  std::array<int64_t, kBadLineKinds> kinds_{};
  std::vector<Entry> kept_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_BAD_LINES_H_
