#include "data/stages/stage_block.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "data/stages/part_writer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

class Output : public BlockOutput {
 public:
  Output(const PartNames& names, const BlockLease& lease) : names_(names), lease_(lease) {}

  absl::Status Keep(std::string_view json, size_t text_bytes) override {
    ++counts_.documents_out;
    counts_.bytes_out += static_cast<int64_t>(text_bytes);
    ++counts_.files.back().documents_out;
    counts_.files.back().bytes_out += static_cast<int64_t>(text_bytes);
    ++counts_.lengths[std::bit_width(text_bytes)];
    return Append(kKept, json, &kept_);
  }

  absl::Status Drop(const Document& document, const std::string& reason,
                    std::string_view json) override {
    DroppedDocuments& dropped = counts_.dropped[reason];
    ++dropped.documents;
    dropped.bytes += static_cast<int64_t>(document.text.size());
    counts_.is_dropped.resize(static_cast<size_t>(counts_.documents_in));
    counts_.is_dropped.back() = true;
    if (dropped.samples.size() < DroppedDocuments::kSamples) {
      dropped.samples.push_back({document.file, document.line});
    }
    return Append(kDropped, json, &dropped_);
  }

  // Call before the stage keeps or drops the document.
  void CountInput(const Document& document) {
    const auto bytes = static_cast<int64_t>(document.text.size());
    ++counts_.documents_in;
    counts_.bytes_in += bytes;
    if (counts_.files.empty() || counts_.files.back().file != document.file) {
      counts_.files.push_back({document.file});
    }
    ++counts_.files.back().documents_in;
    counts_.files.back().bytes_in += bytes;
  }

  // Each block has a part of kept documents, also if it is empty.
  absl::StatusOr<std::vector<PartFile>> Finish() {
    TRAINYARD_RETURN_IF_ERROR(Open(kKept, &kept_));
    std::vector<PartFile> parts;
    TRAINYARD_RETURN_IF_ERROR(Close(kKept, kept_.get(), &parts));
    if (dropped_ != nullptr) {
      TRAINYARD_RETURN_IF_ERROR(Close(kDropped, dropped_.get(), &parts));
    }
    return parts;
  }

  DocumentCounts TakeCounts() {
    // Documents after the last dropped one have no entry yet.
    if (!counts_.is_dropped.empty()) {
      counts_.is_dropped.resize(static_cast<size_t>(counts_.documents_in));
    }
    return std::move(counts_);
  }

 private:
  static constexpr char kKept[] = "part";
  static constexpr char kDropped[] = "dropped";

  absl::Status Open(const char* stream, std::unique_ptr<PartWriter>* writer) const {
    if (*writer != nullptr) return absl::OkStatus();
    const std::string name = names_.Name(stream, lease_.block);
    TRAINYARD_ASSIGN_OR_RETURN(
        *writer, PartWriter::Create(names_.directory(), PartNames::UnfinishedName(lease_, name)));
    return absl::OkStatus();
  }

  absl::Status Close(const char* stream, PartWriter* writer, std::vector<PartFile>* parts) const {
    TRAINYARD_ASSIGN_OR_RETURN(PartFile part, writer->Finish());
    part.name = names_.Name(stream, lease_.block);
    parts->push_back(std::move(part));
    return absl::OkStatus();
  }

  absl::Status Append(const char* stream, std::string_view json,
                      std::unique_ptr<PartWriter>* writer) const {
    TRAINYARD_RETURN_IF_ERROR(Open(stream, writer));
    return (*writer)->Append(json);
  }

  const PartNames& names_;
  const BlockLease lease_;
  DocumentCounts counts_;
  std::unique_ptr<PartWriter> kept_;
  std::unique_ptr<PartWriter> dropped_;
};

}  // namespace

absl::StatusOr<BlockRecord> RunStageOnBlock(const Stage& stage, const Plan& plan,
                                            const BlockLease& lease, const DecodeSettings& decode,
                                            const PartNames& names, const Advance& advance) {
  Output output(names, lease);
  const ProcessDocument process = stage.begin_block();
  const TakeDocument take = [&](const Document& document) {
    output.CountInput(document);
    Document numbered = document;
    numbered.block = lease.block;
    return process(numbered, &output);
  };
  BlockRecord record;
  record.block = lease.block;
  TRAINYARD_ASSIGN_OR_RETURN(
      record.lines, ReadDocuments(plan, plan.blocks()[lease.block], decode, take, advance));
  TRAINYARD_ASSIGN_OR_RETURN(record.parts, output.Finish());
  record.counts = output.TakeCounts();
  return record;
}

}  // namespace trainyard::data
