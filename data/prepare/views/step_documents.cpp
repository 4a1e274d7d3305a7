#include "data/prepare/views/step_documents.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "data/prepare/tokenizers/described_tokenizer.h"
#include "data/report/dataset_step.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/source_reader.h"
#include "proto/contract/token_format.h"
#include "proto/samples/window_order.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// A data set of the job.
struct OpenedSource {
  std::string directory;
  SplitDescription split;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<SourceReader> places;  // null in data sets without them
};

std::string TimeText(time_t seconds) {
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// A job may name the directory of a data set or one of its files.
struct SplitPlace {
  std::string directory;
  std::string file;  // name of the file; empty for a directory
};

absl::StatusOr<SplitPlace> FindPlace(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return SplitPlace{path, ""};
  fs::path stem = path;
  for (const char* known : {".bin", ".idx", ".json"}) {
    if (stem.extension() == known) stem.replace_extension();
  }
  const std::string file = stem.string() + ".bin";
  if (fs::is_regular_file(file, error)) {
    return SplitPlace{stem.parent_path().string(), fs::path(file).filename().string()};
  }
  return absl::NotFoundError(path +
                             ": is not visible on this machine; run the command on a machine that "
                             "sees the data of the job, such as one of its nodes");
}

// Returns the split that consists of exactly this file.
absl::StatusOr<SplitDescription> SplitOfFile(const DatasetDescription& description,
                                             const std::string& file, const std::string& path) {
  for (const SplitDescription& split : description.splits) {
    int64_t files = 0;
    bool is_named = false;
    for (const TokenFileFacts& facts : split.files) {
      if (facts.token_from < 0) continue;
      ++files;
      is_named = is_named || facts.name == file;
    }
    if (is_named && files == 1) return split;
  }
  return absl::NotFoundError(path +
                             ": is no complete split of a data set of `trainyard data prepare`, "
                             "so its documents are unknown");
}

// A rewritten data set can have other documents than the step has read.
absl::Status CheckAge(const SplitPlace& place, const SplitDescription& split,
                      const StepDocumentsOptions& options) {
  if (options.trained_ms <= 0 || options.accepts_changed) return absl::OkStatus();
  const std::string path = place.directory + "/" + split.files.front().name;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return absl::NotFoundError(path + ": " + std::strerror(errno));
  }
  if (int64_t{status.st_mtime} * 1000 <= options.trained_ms) return absl::OkStatus();
  return absl::FailedPreconditionError(
      path + ": was written at " + TimeText(status.st_mtime) + ", after the attempt started at " +
      TimeText(options.trained_ms / 1000) +
      ", so the step may have read other documents; restore the earlier file, or pass "
      "--accept-changed if the contents are the same");
}

absl::StatusOr<OpenedSource> OpenSource(const std::string& path,
                                        const StepDocumentsOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const SplitPlace place, FindPlace(path));
  TRAINYARD_ASSIGN_OR_RETURN(const DatasetDescription description,
                             ReadDescription(place.directory));
  OpenedSource source;
  source.directory = place.directory;
  if (place.file.empty()) {
    source.split = description.splits.front();
  } else {
    TRAINYARD_ASSIGN_OR_RETURN(source.split, SplitOfFile(description, place.file, path));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckAge(place, source.split, options));
  TRAINYARD_ASSIGN_OR_RETURN(const nlohmann::json tokenizer,
                             ReadTokenizerDescription(place.directory));
  TRAINYARD_ASSIGN_OR_RETURN(source.tokenizer, LoadDescribed(place.directory, tokenizer));
  absl::StatusOr<std::unique_ptr<SourceReader>> places =
      SourceReader::Open(source.directory, source.split);
  if (!places.ok() && !absl::IsNotFound(places.status())) return places.status();
  if (places.ok()) source.places = *std::move(places);
  return source;
}

std::vector<std::string> InputsOf(const std::string& directory) {
  std::vector<std::string> inputs;
  const auto step = ReadDatasetStep(directory);
  if (!step.ok()) return inputs;  // the inputs are only additional facts
  for (const StepInput& input : step->inputs) {
    if (input.use == token_format::kTrainSplit) inputs.push_back(input.directory);
  }
  return inputs;
}

absl::StatusOr<ShownSample> PlaceOf(const StepSample& sample, const OpenedSource& source,
                                    const StepDocumentsOptions& options) {
  const int64_t windows = WindowsIn(source.split.tokens, options.seq_length);
  if (windows == 0) {
    return absl::FailedPreconditionError(
        source.directory +
        ": has fewer tokens than a sample of the job, so the file has changed "
        "since the step; restore the earlier file");
  }
  const Window window = ShuffledWindow({sample.source, sample.place_index}, options.seed, windows);
  const int64_t first = window.number * options.seq_length;
  return ShownSample{
      sample, window.pass + 1, window.number, {first, first + options.seq_length + 1}, {}, 0};
}

// Decodes the document from its first token, because some tokenizers decode a token differently at
// the start of a text.
absl::StatusOr<ShownPart> ReadPart(const DocumentPart& part, const OpenedSource& source) {
  const bool is_near = part.tokens.begin - part.first_token <= StepDocuments::kDecodedTokensMax;
  const int64_t from = is_near ? part.first_token : part.tokens.begin;
  TRAINYARD_ASSIGN_OR_RETURN(
      std::vector<uint32_t> ids,
      ReadTokenRange(source.directory, source.split, {from, part.tokens.end}));
  ShownPart shown = {part, std::nullopt, source.tokenizer->Decode(ids), ""};
  if (source.places != nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(const SourceDocument document, source.places->At(part.tokens.begin));
    shown.place = SourcePlaceText(document.place);
  }
  if (!is_near) return shown;
  ids.resize(static_cast<size_t>(part.tokens.begin - from));
  const size_t before = std::min(source.tokenizer->Decode(ids).size(), shown.text.size());
  shown.begin_byte = static_cast<int64_t>(before);
  shown.text.erase(0, before);
  return shown;
}

absl::Status AddDocuments(const OpenedSource& source, const std::vector<ShownSample*>& samples,
                          const std::atomic<bool>& cancelled) {
  std::vector<TokenRange> ranges;
  for (const ShownSample* sample : samples) ranges.push_back(sample->tokens);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<RangeDocuments> found,
                             FindDocumentParts(source.directory, source.split, ranges, cancelled));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i]->other_documents = found[i].others;
    for (const DocumentPart& part : found[i].parts) {
      TRAINYARD_ASSIGN_OR_RETURN(ShownPart shown, ReadPart(part, source));
      samples[i]->parts.push_back(std::move(shown));
    }
  }
  return absl::OkStatus();
}

// Adds the samples of one data set to `documents`, in which each sample has its place already.
absl::Status AddSource(size_t index, const StepDocumentsOptions& options,
                       const std::atomic<bool>& cancelled, StepDocuments* documents) {
  std::vector<ShownSample*> samples;
  for (ShownSample& sample : documents->samples) {
    if (sample.sample.source == static_cast<int64_t>(index)) samples.push_back(&sample);
  }
  if (samples.empty()) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const OpenedSource source,
                             OpenSource(options.sources[index], options));
  documents->sources[index].split = source.split.split;
  documents->sources[index].inputs = InputsOf(source.directory);
  for (ShownSample* sample : samples) {
    TRAINYARD_ASSIGN_OR_RETURN(*sample, PlaceOf(sample->sample, source, options));
  }
  return AddDocuments(source, samples, cancelled);
}

}  // namespace

absl::StatusOr<StepDocuments> FindStepDocuments(const StepDocumentsOptions& options,
                                                const std::atomic<bool>& cancelled) {
  StepDocuments documents;
  for (const std::string& path : options.sources) documents.sources.push_back({path, "", {}});
  for (const StepSample& sample : options.samples) {
    if (sample.source < 0 || sample.source >= static_cast<int64_t>(options.sources.size())) {
      return absl::InvalidArgumentError("a sample names data set " + std::to_string(sample.source) +
                                        " of " + std::to_string(options.sources.size()));
    }
    documents.samples.push_back({sample, 0, 0, {}, {}, 0});
  }
  for (size_t index = 0; index < options.sources.size(); ++index) {
    TRAINYARD_RETURN_IF_ERROR(AddSource(index, options, cancelled, &documents));
  }
  return documents;
}

}  // namespace trainyard::data
