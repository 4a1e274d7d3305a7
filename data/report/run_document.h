// Finds a document of a run by its number or its place.
#ifndef TRAINYARD_DATA_REPORT_RUN_DOCUMENT_H_
#define TRAINYARD_DATA_REPORT_RUN_DOCUMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/stages/read_run.h"

namespace trainyard::data {

// A document in the output of a run, and in the input of its block.
struct RunDocument {
  size_t block = 0;  // in the plan
  bool is_dropped = false;
  int64_t index = 0;   // in the block's input, from 0
  int64_t rank = 0;    // among the kept or the dropped documents of the block, from 0
  int64_t number = 0;  // among the kept or the dropped documents of the run, from 1
};

// `name`: "N" or "kept:N" for the N-th kept document, "dropped:N" for the N-th dropped one, each
// counted from 1; or "FILE:LINE" for a line of an input or of a part, "FILE" for plain text. A
// relative FILE is searched below the directory in which the run was started. Returns
// InvalidArgument for other names, NotFound if there is no such document, and DataLoss if the
// records are damaged or an input has changed.
absl::StatusOr<RunDocument> FindRunDocument(const StoredRun& run, const std::string& name);

// Reads the document's line from the output of the run.
absl::StatusOr<std::string> ReadOutputLine(const StoredRun& run, const RunDocument& document);

// A place from which a run read a document.
struct DocumentOrigin {
  std::string step;   // name of the stage that read it
  std::string place;  // "FILE:LINE"; "FILE" for plain text
};

struct DocumentOrigins {
  std::vector<DocumentOrigin> origins;
  std::string problem;  // the reason why an earlier place is unknown; "" if there is none
};

// Returns the places of the document in the inputs of this run, then of the run that wrote that
// input, and so on. Reads one block per run.
DocumentOrigins OriginsOf(const StoredRun& run, const RunDocument& document);

// A line that a command read.
struct InputLine {
  std::string file;  // absolute path
  int64_t line = 0;  // from 0
  std::string plan;  // hash of the run that had written the file; "" if none had
};

// Returns `origin`, then the places of the document in the inputs of the run that wrote the line,
// as OriginsOf. Without such a run, only `origin`.
DocumentOrigins OriginsOfLine(const DocumentOrigin& origin, const InputLine& line);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_RUN_DOCUMENT_H_
