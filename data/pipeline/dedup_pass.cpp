#include <map>
#include <optional>
#include <utility>

#include "data/dedup/dedup_run.h"
#include "data/dedup/document_signer.h"
#include "data/dedup/signature_part.h"
#include "data/pipeline/decisions.h"
#include "data/pipeline/document_pass.h"
#include "data/pipeline/passes.h"
#include "data/stages/binary_part.h"
#include "data/stages/run_report.h"
#include "data/stages/run_stage.h"
#include "data/stages/stage_block.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the signatures of the same documents change.
constexpr int kSignatureVersion = 1;

class SignaturePass : public DocumentPass {
 public:
  SignaturePass(std::string out, Plan plan, DecodeSettings decode, DedupSettings settings)
      : DocumentPass(std::move(out), std::move(plan), std::move(decode)),
        settings_(std::move(settings)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    DocumentSigner signer(settings_);
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartWriter> part,
                               BinaryPartWriter::Create(names, lease, kSignaturePass));
    TRAINYARD_ASSIGN_OR_RETURN(
        BlockRecord record, ReadBlock(lease, advance, [&](const Document& document) {
          const SignedDocument signed_document = signer.Sign(document.text);
          return AppendSignature({static_cast<uint32_t>(document.file),
                                  static_cast<uint32_t>(document.line), signed_document.signature},
                                 signed_document.keys, part.get());
        }));
    TRAINYARD_ASSIGN_OR_RETURN(PartFile file, part->Finish());
    record.parts.push_back(std::move(file));
    return record;
  }

 private:
  const DedupSettings settings_;
};

// Computes the shingles of the documents that rank 0 will compare. A part contains, per document,
// its index in the block, the number of its shingles, and the shingles.
class ShinglePass : public DocumentPass {
 public:
  // `wanted`: the directory of WriteWanted.
  ShinglePass(std::string out, Plan plan, DecodeSettings decode, DedupSettings settings,
              std::string wanted)
      : DocumentPass(std::move(out), std::move(plan), std::move(decode)),
        settings_(std::move(settings)),
        wanted_(std::move(wanted)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    DocumentSigner signer(settings_);
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<uint64_t> wanted,
                               ReadWanted(wanted_, lease.block));
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartWriter> part,
                               BinaryPartWriter::Create(names, lease, kShinglePass));
    uint64_t index = 0;
    auto next = wanted.begin();
    const TakeDocument take = [&](const Document& document) -> absl::Status {
      const uint64_t current = index++;
      if (next == wanted.end() || *next != current) return absl::OkStatus();
      ++next;
      const std::vector<uint32_t> shingles = signer.ShinglesOf(document.text);
      TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(current));
      TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<uint64_t>(shingles.size())));
      return part->Append(
          {reinterpret_cast<const char*>(shingles.data()), shingles.size() * sizeof(uint32_t)});
    };
    TRAINYARD_ASSIGN_OR_RETURN(BlockRecord record, ReadBlock(lease, advance, take));
    TRAINYARD_ASSIGN_OR_RETURN(PartFile file, part->Finish());
    record.parts.push_back(std::move(file));
    return record;
  }

 private:
  const DedupSettings settings_;
  const std::string wanted_;
};

// Keeps or drops the documents as rank 0 has decided.
class DropPass : public StepPass {
 public:
  // `decisions`: the directory of WriteDecisions.
  DropPass(std::string out, Plan plan, Stage stage, DecodeSettings decode, std::string decisions)
      : StepPass(std::move(out), std::move(plan)),
        stage_(std::move(stage)),
        decode_(std::move(decode)),
        decisions_(std::move(decisions)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    return RunStageOnBlock(stage_, plan(), lease, decode_, names, advance);
  }

  std::string Report(const RunTotals& totals) const override {
    Stage described = stage_;
    described.details = ReadDetails(decisions_, out());
    return ReportJson(described, plan(), totals);
  }

 private:
  const Stage stage_;
  const DecodeSettings decode_;
  const std::string decisions_;
};

// Applies the decisions of one block.
class DecisionApplier {
 public:
  explicit DecisionApplier(std::string directory) : directory_(std::move(directory)) {}

  absl::Status Apply(const Document& document, BlockOutput* output) {
    if (next_ == 0) {
      TRAINYARD_ASSIGN_OR_RETURN(reasons_, ReadDecisions(directory_, document.block));
    }
    const auto found = reasons_.find(next_++);
    if (found == reasons_.end()) return output->Keep(document.json, document.text.size());
    return output->Drop(document, kDuplicateReason, WithReason(document.json, found->second));
  }

 private:
  const std::string directory_;
  uint64_t next_ = 0;  // index of the next document in the block
  std::map<uint64_t, std::string> reasons_;
};

nlohmann::ordered_json SignatureSettings(const DedupSettings& settings) {
  return {{"version", kSignatureVersion},
          {"kind", static_cast<int>(settings.kind)},
          {"shingle_length", settings.shingle_length},
          {"bands", settings.bands},
          {"rows", settings.rows}};
}

// A pass over the references or over the documents of the step.
absl::StatusOr<Plan> PlanOf(const Pipeline& pipeline, const PipelineStep& step,
                            const std::string& pass, nlohmann::ordered_json settings) {
  const bool of_references = pass == kReferencePass || pass == kReferenceShinglePass;
  if (!of_references) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
    return DocumentPass::PlanFor(pipeline, pass, std::move(settings), files,
                                 ReadsEarlierStep(step));
  }
  const std::vector<std::string>& against = std::get<DedupOptions>(step.options).against;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, FindInputFiles(against));
  // The references are either all outputs or all not.
  return DocumentPass::PlanFor(pipeline, pass, std::move(settings), files,
                               IsOutput(pipeline, against.front()));
}

StepPassOr MakeSignaturePass(const Pipeline& pipeline, const PipelineStep& step,
                             const DedupSettings& settings, const std::string& pass) {
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan, PlanOf(pipeline, step, pass, SignatureSettings(settings)));
  return std::make_unique<SignaturePass>(WorkDirectoryOf(pipeline, step, pass), std::move(plan),
                                         DecodeOf(pipeline), settings);
}

// The plan of the references; nullopt if there are none.
absl::StatusOr<std::optional<Plan>> ReferencesOf(const Pipeline& pipeline, const PipelineStep& step,
                                                 const DedupSettings& settings) {
  if (std::get<DedupOptions>(step.options).against.empty()) return std::nullopt;
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan,
                             PlanOf(pipeline, step, kReferencePass, SignatureSettings(settings)));
  return plan;
}

// The documents that are compared depend on all documents and references.
StepPassOr MakeShinglePass(const Pipeline& pipeline, const PipelineStep& step,
                           const DedupSettings& settings, const std::string& pass) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<Plan> references,
                             ReferencesOf(pipeline, step, settings));
  TRAINYARD_ASSIGN_OR_RETURN(const Plan documents,
                             PlanOf(pipeline, step, kSignaturePass, SignatureSettings(settings)));
  nlohmann::ordered_json all = SignatureSettings(settings);
  all["documents"] = documents.Hash();
  all["references"] = references ? references->Hash() : "";
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan, PlanOf(pipeline, step, pass, std::move(all)));
  return std::make_unique<ShinglePass>(WorkDirectoryOf(pipeline, step, pass), std::move(plan),
                                       DecodeOf(pipeline), settings,
                                       WorkDirectoryOf(pipeline, step, kWanted + pass));
}

}  // namespace

StepPassOr MakeDedupPass(const Pipeline& pipeline, const PipelineStep& step,
                         const std::string& pass) {
  const auto& options = std::get<DedupOptions>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(const DedupSettings settings,
                             PresetSettings(options.preset, options.threshold, options.keep));
  if (pass == kShinglePass || pass == kReferenceShinglePass) {
    return MakeShinglePass(pipeline, step, settings, pass);
  }
  if (pass != kDropPass) return MakeSignaturePass(pipeline, step, settings, pass);
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<Plan> references,
                             ReferencesOf(pipeline, step, settings));
  Stage stage;
  stage.name = kDedupStage;
  stage.settings = SettingsJson(settings, references ? &*references : nullptr);
  stage.begin_block = [directory = WorkDirectoryOf(pipeline, step, kDecisions)]() {
    const auto applier = std::make_shared<DecisionApplier>(directory);
    return [applier](const Document& document, BlockOutput* output) {
      return applier->Apply(document, output);
    };
  };
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
  DecodeSettings decode = DecodeOf(pipeline);
  TRAINYARD_ASSIGN_OR_RETURN(
      Plan plan, PlanStage(stage, decode, files, LimitsOf(pipeline, ReadsEarlierStep(step))));
  return std::make_unique<DropPass>(DirectoryOf(pipeline, step), std::move(plan), std::move(stage),
                                    std::move(decode), WorkDirectoryOf(pipeline, step, kDecisions));
}

}  // namespace trainyard::data
