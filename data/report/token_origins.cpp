#include "data/report/token_origins.h"

#include <filesystem>
#include <memory>

#include "data/report/dataset_step.h"
#include "data/tokens/source_reader.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<DocumentOrigins> FindOrigins(const std::string& directory,
                                            const SplitDescription& split, int64_t token) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<SourceReader> reader,
                             SourceReader::Open(directory, split));
  TRAINYARD_ASSIGN_OR_RETURN(const SourceDocument document, reader->At(token));
  TRAINYARD_ASSIGN_OR_RETURN(const StepReport step, ReadDatasetStep(directory));
  const SourcePlace& place = document.place;
  InputLine line = {place.file, place.is_line ? place.position : 0, ""};
  const std::string parent = std::filesystem::path(place.file).parent_path().string();
  for (const StepInput& input : step.inputs) {
    if (input.directory == parent) line.plan = input.plan;
  }
  return OriginsOfLine({step.name, SourcePlaceText(place)}, line);
}

}  // namespace

DocumentOrigins OriginsOfToken(const std::string& directory, const SplitDescription& split,
                               int64_t token) {
  absl::StatusOr<DocumentOrigins> origins = FindOrigins(directory, split, token);
  if (origins.ok()) return *std::move(origins);
  return {{}, std::string(origins.status().message())};
}

}  // namespace trainyard::data
