// Reads the text of a JSON line.
#ifndef TRAINYARD_DATA_DOCUMENTS_JSON_LINE_H_
#define TRAINYARD_DATA_DOCUMENTS_JSON_LINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "data/documents/bad_lines.h"

namespace trainyard::data {

// Either the text of a line, or the reason why there is none.
struct LineText {
  std::string_view text;       // valid until the next call
  std::optional<BadLine> bad;  // without the number of the line
};

enum class JsonType { kString, kNumber, kBoolean, kNull, kArray, kObject };

// Called for each field of an object, but not for fields of nested objects.
using TakeField = std::function<void(std::string_view key, JsonType type)>;

// Accepts the JSON of RFC 8259 with at most 1,024 levels. Checks the whole line, not only the
// field. Not thread-safe.
class JsonLineParser {
 public:
  // `field`: the key of the text in the object of each line.
  explicit JsonLineParser(const std::string& field);
  ~JsonLineParser();

  // kBlockPadding bytes behind the end of `line` must be readable.
  LineText Parse(std::string_view line);

  // Sets a function that receives the fields of all further lines that are JSON objects; null for
  // none.
  void ObserveFields(TakeField take) { take_field_ = std::move(take); }

 private:
  struct Parser;

  LineText ParseLargeNumbers(std::string_view line);

  const std::string field_;
  const std::unique_ptr<Parser> parser_;
  TakeField take_field_;
  std::string copy_;  // the text of a line that simdjson cannot represent
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_JSON_LINE_H_
