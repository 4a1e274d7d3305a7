#include "data/report/source_tracer.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "data/report/source_entries.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Chains of runs are short. The limit ends cycles, which only changed directories can form.
constexpr int kTracedRunsMax = 100;

constexpr std::string_view kDroppedStream = "dropped-";

void AppendStretch(const SourceStretch& added, std::vector<SourceStretch>* stretches) {
  if (added.documents == 0) return;
  if (!stretches->empty() && stretches->back().source == added.source) {
    stretches->back().documents += added.documents;
  } else {
    stretches->push_back(added);
  }
}

// Returns the stretches of the documents with this verdict. `is_dropped` is empty if no document
// was dropped.
std::vector<SourceStretch> WithVerdict(const std::vector<SourceStretch>& all,
                                       const std::vector<bool>& is_dropped, bool dropped) {
  std::vector<SourceStretch> chosen;
  size_t index = 0;
  for (const SourceStretch& stretch : all) {
    SourceStretch part = {stretch.source, 0};
    for (int64_t i = 0; i < stretch.documents; ++i, ++index) {
      const bool verdict = index < is_dropped.size() && is_dropped[index];
      part.documents += static_cast<int64_t>(verdict == dropped);
    }
    AppendStretch(part, &chosen);
  }
  return chosen;
}

int64_t DocumentsIn(const std::vector<SourceStretch>& stretches) {
  int64_t documents = 0;
  for (const SourceStretch& stretch : stretches) documents += stretch.documents;
  return documents;
}

}  // namespace

std::vector<SourceStretch> SourceTracer::OfBlock(const Plan& plan, const BlockRecord& record) {
  std::vector<SourceStretch> stretches;
  for (const FileCounts& counts : record.counts.files) {
    if (counts.file >= plan.files().size()) continue;
    const std::string path =
        AbsoluteBelow(plan.working_directory(), plan.files()[counts.file].input.path);
    for (const SourceStretch& stretch : OfFile(path, counts.documents_in)) {
      AppendStretch(stretch, &stretches);
    }
  }
  return stretches;
}

std::vector<SourceStretch> SourceTracer::OfFile(const std::string& path, int64_t documents) {
  const std::string directory = fs::path(path).parent_path().string();
  std::vector<SourceStretch> stretches = OfPart(directory, fs::path(path).filename().string());
  if (DocumentsIn(stretches) == documents) return stretches;
  return {{IndexOf(directory), documents}};
}

std::vector<SourceStretch> SourceTracer::OfPart(const std::string& directory,
                                                const std::string& name) {
  if (depth_ == kTracedRunsMax) return {};
  const Writer* writer = WriterOf(directory);
  if (writer == nullptr) return {};
  const auto block = writer->blocks.find(name);
  if (block == writer->blocks.end()) return {};
  const BlockRecord& record = writer->run.records.at(block->second);
  ++depth_;
  const std::vector<SourceStretch> all = OfBlock(writer->run.plan, record);
  --depth_;
  return WithVerdict(all, record.counts.is_dropped, name.starts_with(kDroppedStream));
}

const SourceTracer::Writer* SourceTracer::WriterOf(const std::string& directory) {
  const auto found = writers_.find(directory);
  if (found != writers_.end()) return found->second.get();
  std::unique_ptr<Writer>& writer = writers_[directory];
  if (!IsRunDirectory(directory)) return nullptr;
  absl::StatusOr<StoredRun> run = ReadRun(directory);
  if (!run.ok()) return nullptr;
  writer = std::make_unique<Writer>();
  writer->run = *std::move(run);
  for (const auto& [block, record] : writer->run.records) {
    for (const PartFile& part : record.parts) writer->blocks[part.name] = block;
  }
  return writer.get();
}

size_t SourceTracer::IndexOf(const std::string& directory) {
  const auto [found, is_new] = indices_.emplace(directory, directories_.size());
  if (is_new) directories_.push_back(directory);
  return found->second;
}

}  // namespace trainyard::data
