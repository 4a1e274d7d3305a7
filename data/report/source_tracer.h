// Finds the original directories of documents that earlier steps have passed on.
#ifndef TRAINYARD_DATA_REPORT_SOURCE_TRACER_H_
#define TRAINYARD_DATA_REPORT_SOURCE_TRACER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/stages/plan.h"
#include "data/stages/read_run.h"
#include "data/stages/record.h"

namespace trainyard::data {

// Consecutive documents from files of one directory.
struct SourceStretch {
  size_t source = 0;  // index in SourceTracer::directories()
  int64_t documents = 0;
};

// Follows documents through the records of runs, without reading texts. Keeps the records of all
// runs that it has followed in memory. Not thread-safe.
class SourceTracer {
 public:
  // Returns the sources of the documents of a block, in the order of its input. `record` must have
  // the counts of each file. If an earlier run cannot be read or has changed, its directory is the
  // source.
  std::vector<SourceStretch> OfBlock(const Plan& plan, const BlockRecord& record);

  // Absolute paths.
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  struct Writer {
    StoredRun run;
    std::map<std::string, size_t> blocks;  // by name of the part
  };

  std::vector<SourceStretch> OfFile(const std::string& path, int64_t documents);
  // The documents of a part. Empty if no run that can be read has written it.
  std::vector<SourceStretch> OfPart(const std::string& directory, const std::string& name);
  // The run that wrote the directory; null if none did.
  const Writer* WriterOf(const std::string& directory);
  size_t IndexOf(const std::string& directory);

  std::map<std::string, std::unique_ptr<Writer>> writers_;  // by directory
  std::map<std::string, size_t> indices_;
  std::vector<std::string> directories_;
  int depth_ = 0;  // of OfPart
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_SOURCE_TRACER_H_
