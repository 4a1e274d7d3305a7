// `trainyard data show`: one document, where it comes from, and its tokens.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_SHOW_DATA_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_SHOW_DATA_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/text_pieces.h"
#include "data/report/run_document.h"

namespace trainyard::data {

// The document in the output of a run.
struct ShownRun {
  std::string stage;
  bool is_dropped = false;
  int64_t number = 0;             // among the kept or the dropped documents, from 1
  nlohmann::ordered_json reason;  // "trainyard_dropped" of a dropped document
  nlohmann::ordered_json fields;  // of its JSON object, without the text and the reason
  DocumentOrigins origins;
};

// The document in token files.
struct ShownTokens {
  std::string split;
  int64_t number = 0;       // in the split, from 1
  int64_t first_token = 0;  // position in the split
  size_t tokens = 0;        // without those that begin and end documents
  DocumentOrigins origins;
};

struct ShownDocument {
  std::string directory;
  std::string text;
  std::optional<ShownRun> run;
  std::optional<ShownTokens> tokens;
  std::vector<TextPieces> tokenizers;
};

// Finds a document of a run (FindRunDocument) or of token files (FindTokenDocument), whose text is
// decoded. Errors are those of these functions, ReadRun, ReadDescription and ChooseTokenizer.
absl::StatusOr<ShownDocument> ShowDocument(const ShowOptions& options);

// Return the result for the user, with a newline at the end. At most ShowOptions::max_bytes of the
// text and their pieces are included.
std::string ShownText(const ShownDocument& document, const ShowOptions& options);
std::string ShownJson(const ShownDocument& document, const ShowOptions& options);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_SHOW_DATA_H_
