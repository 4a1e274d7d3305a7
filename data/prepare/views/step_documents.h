// `trainyard documents`: the documents that a training step reads.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_STEP_DOCUMENTS_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_STEP_DOCUMENTS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/report/document_parts.h"

namespace trainyard::data {

// The part of a document that a sample contains.
struct ShownPart {
  DocumentPart part;
  // Position of the text in the document, in bytes. Unknown if the part begins after more than
  // kDecodedTokensMax tokens of its document.
  std::optional<int64_t> begin_byte;
  std::string text;
  std::string place;  // from which the data set read the document; "" if unknown
};

struct ShownSample {
  StepSample sample;
  int64_t pass = 0;    // over the data set, from 1
  int64_t window = 0;  // of the data set, from 0
  TokenRange tokens;   // of the split; the last one is only a target
  std::vector<ShownPart> parts;
  int64_t other_documents = 0;
};

struct ShownSource {
  std::string path;
  std::string split;
  std::vector<std::string> inputs;  // directories from which the data set was made; may be empty
};

struct StepDocuments {
  // Limits the memory and time for the text before a part.
  static constexpr int64_t kDecodedTokensMax = int64_t{1} << 22;

  std::vector<ShownSource> sources;  // as StepDocumentsOptions::sources; unused ones have no split
  std::vector<ShownSample> samples;
};

// Reads each data set of the samples once. Returns NotFound if a data set is not visible on this
// machine or was not made by `data prepare`, FailedPrecondition if it was written after the step
// was trained, and the errors of FindDocumentParts.
absl::StatusOr<StepDocuments> FindStepDocuments(const StepDocumentsOptions& options,
                                                const std::atomic<bool>& cancelled);

// Return the result for the user, with a newline at the end.
std::string StepText(const StepDocuments& documents, const StepDocumentsOptions& options);
std::string StepJson(const StepDocuments& documents, const StepDocumentsOptions& options);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_STEP_DOCUMENTS_H_
