#include "data/dedup/document_passes.h"

#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "data/dedup/document_signer.h"
#include "data/dedup/signature_part.h"
#include "data/input/block_pipeline.h"
#include "data/stages/block_documents.h"
#include "data/stages/run_totals.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

struct PassBlock {
  size_t number = 0;  // across the plans
  size_t plan = 0;
  size_t block = 0;  // in the plan
};

struct PassResult {
  PassBlock block;
  uint32_t documents = 0;
  std::vector<FileLines> lines;
};

std::vector<PassBlock> BlocksOf(const DedupInputs& inputs) {
  std::vector<PassBlock> blocks;
  for (size_t plan = 0; plan < inputs.plans.size(); ++plan) {
    for (size_t block = 0; block < inputs.plans[plan]->blocks().size(); ++block) {
      blocks.push_back({blocks.size(), plan, block});
    }
  }
  return blocks;
}

// Receives the documents of one block, then the end of the block.
class BlockTaker {
 public:
  virtual ~BlockTaker() = default;
  virtual absl::Status Take(const Document& document) = 0;
  virtual absl::Status End() { return absl::OkStatus(); }
};

using BeginBlock = std::function<std::unique_ptr<BlockTaker>(int thread, size_t number)>;
using EndBlock = std::function<absl::Status(PassResult)>;

absl::StatusOr<PassResult> ReadBlock(const DedupInputs& inputs, const PassBlock& block,
                                     BlockTaker* taker) {
  PassResult result;
  result.block = block;
  const Plan& plan = *inputs.plans[block.plan];
  const auto take = [&](const Document& document) -> absl::Status {
    if (result.documents == std::numeric_limits<uint32_t>::max()) {
      return absl::OutOfRangeError("more than 2^32 documents in " +
                                   plan.files()[document.file].input.path + "; split the file");
    }
    ++result.documents;
    return taker->Take(document);
  };
  TRAINYARD_ASSIGN_OR_RETURN(result.lines, ReadDocuments(plan, plan.blocks()[block.block],
                                                         inputs.decode, take, inputs.advance));
  TRAINYARD_RETURN_IF_ERROR(taker->End());
  return result;
}

// Calls `end` in the order of the blocks.
absl::Status ForEachBlock(const DedupInputs& inputs, const BeginBlock& begin, const EndBlock& end) {
  const std::vector<PassBlock> blocks = BlocksOf(inputs);
  size_t next = 0;
  BlockPipeline<PassBlock, PassResult> pipeline(inputs.threads);
  return pipeline.Run(
      [&](PassBlock* block) -> absl::StatusOr<bool> {
        if (next == blocks.size()) return false;
        *block = blocks[next++];
        return true;
      },
      [&](int thread, const PassBlock& block) {
        return ReadBlock(inputs, block, begin(thread, block.number).get());
      },
      end);
}

std::vector<std::unique_ptr<DocumentSigner>> SignersOf(const DedupInputs& inputs,
                                                       const DedupSettings& settings) {
  std::vector<std::unique_ptr<DocumentSigner>> signers;
  for (int i = 0; i < inputs.threads; ++i) {
    signers.push_back(std::make_unique<DocumentSigner>(settings));
  }
  return signers;
}

// The scratch files of signatures, which all threads write.
struct SignatureFiles {
  std::mutex mutex;
  BucketSorter* sorter;  // guarded by mutex
  DocumentStore* store;  // guarded by mutex
};

// Signs documents, and writes them in chunks.
class Signing : public BlockTaker {
 public:
  Signing(size_t number, DocumentSigner* signer, SignatureFiles* files)
      : number_(number), signer_(*signer), files_(*files) {}

  absl::Status Take(const Document& document) override {
    SignedDocument signed_document = signer_.Sign(document.text);
    chunk_.push_back({static_cast<uint32_t>(document.file), static_cast<uint32_t>(document.line),
                      signed_document.signature});
    keys_.push_back(std::move(signed_document.keys));
    return chunk_.size() < DocumentStore::kChunk ? absl::OkStatus() : Flush();
  }

  absl::Status End() override { return chunk_.empty() ? absl::OkStatus() : Flush(); }

 private:
  absl::Status Flush() {
    const std::lock_guard<std::mutex> lock(files_.mutex);
    for (const std::vector<BandKey>& keys : keys_) {
      TRAINYARD_RETURN_IF_ERROR(files_.sorter->Add(DocumentId(number_, index_++), keys));
    }
    TRAINYARD_RETURN_IF_ERROR(files_.store->Add(number_, chunk_));
    chunk_.clear();
    keys_.clear();
    return absl::OkStatus();
  }

  const size_t number_;
  DocumentSigner& signer_;
  SignatureFiles& files_;
  uint32_t index_ = 0;  // of the first document in the chunk
  std::vector<StoredDocument> chunk_;
  std::vector<std::vector<BandKey>> keys_;
};

struct ShingleFile {
  std::mutex mutex;
  ShingleStore* store;  // guarded by mutex
};

class Shingling : public BlockTaker {
 public:
  Shingling(uint64_t first, const std::vector<bool>& wanted, DocumentSigner* signer,
            ShingleFile* file)
      : next_(first), wanted_(wanted), signer_(*signer), file_(*file) {}

  absl::Status Take(const Document& document) override {
    const uint64_t number = next_++;
    if (number >= wanted_.size() || !wanted_[number]) return absl::OkStatus();
    const std::vector<uint32_t> shingles = signer_.ShinglesOf(document.text);
    const std::lock_guard<std::mutex> lock(file_.mutex);
    return file_.store->Add(number, shingles);
  }

 private:
  uint64_t next_;  // number of the next document
  const std::vector<bool>& wanted_;
  DocumentSigner& signer_;
  ShingleFile& file_;
};

// Adds up lines and documents in the order of the blocks.
class LineCounter {
 public:
  explicit LineCounter(const DedupInputs& inputs) : inputs_(inputs) {
    for (const Plan* plan : inputs.plans) totals_.emplace_back(*plan, inputs.bad_lines);
  }

  absl::Status Add(PassResult result) {
    const PlanBlock& block = inputs_.plans[result.block.plan]->blocks()[result.block.block];
    const int64_t first = block.range_begin > 0 ? last_file_lines_ : 0;
    const bool continues = block.range_begin > 0 && block.end_file == block.first_file + 1;
    last_file_lines_ = continues ? first : 0;
    for (const FileLines& lines : result.lines) {
      if (lines.file + 1 == block.end_file) last_file_lines_ += lines.lines.line_ends;
    }
    first_lines_.push_back(first);
    documents_.push_back(result.documents);
    BlockRecord record;
    record.block = result.block.block;
    record.lines = std::move(result.lines);
    return totals_[result.block.plan].Add(std::move(record));
  }

  absl::StatusOr<SignedInputs> Finish() {
    for (const RunTotals& totals : totals_) TRAINYARD_RETURN_IF_ERROR(totals.Finish());
    return SignedInputs{DocumentNumbers(documents_), std::move(first_lines_)};
  }

 private:
  const DedupInputs& inputs_;
  std::vector<RunTotals> totals_;  // by plan
  int64_t last_file_lines_ = 0;    // of the last file of the previous block
  std::vector<int64_t> first_lines_;
  std::vector<uint32_t> documents_;
};

// Reads the signatures of all blocks.
absl::StatusOr<SignedInputs> LoadSignatures(const DedupInputs& inputs, BucketSorter* sorter,
                                            DocumentStore* store) {
  LineCounter counter(inputs);
  for (const PassBlock& block : BlocksOf(inputs)) {
    const SignedBlock& signed_block = inputs.signed_blocks[block.number];
    TRAINYARD_RETURN_IF_ERROR(inputs.advance(signed_block.part.bytes));
    PassResult result;
    result.block = block;
    result.lines = signed_block.lines;
    std::vector<StoredDocument> chunk;
    TRAINYARD_RETURN_IF_ERROR(ReadSignatures(
        signed_block.directory, signed_block.part,
        [&](const StoredDocument& document, const std::vector<BandKey>& keys) -> absl::Status {
          TRAINYARD_RETURN_IF_ERROR(
              sorter->Add(DocumentId(block.number, result.documents++), keys));
          chunk.push_back(document);
          if (chunk.size() < DocumentStore::kChunk) return absl::OkStatus();
          TRAINYARD_RETURN_IF_ERROR(store->Add(block.number, chunk));
          chunk.clear();
          return absl::OkStatus();
        }));
    if (!chunk.empty()) TRAINYARD_RETURN_IF_ERROR(store->Add(block.number, chunk));
    TRAINYARD_RETURN_IF_ERROR(counter.Add(std::move(result)));
  }
  TRAINYARD_ASSIGN_OR_RETURN(SignedInputs documents, counter.Finish());
  TRAINYARD_RETURN_IF_ERROR(store->Finish(documents.numbers));
  return documents;
}

}  // namespace

absl::StatusOr<SignedInputs> SignDocuments(const DedupInputs& inputs, const DedupSettings& settings,
                                           BucketSorter* sorter, DocumentStore* store) {
  if (!inputs.signed_blocks.empty()) return LoadSignatures(inputs, sorter, store);
  const std::vector<std::unique_ptr<DocumentSigner>> signers = SignersOf(inputs, settings);
  SignatureFiles files{{}, sorter, store};
  LineCounter counter(inputs);
  TRAINYARD_RETURN_IF_ERROR(ForEachBlock(
      inputs,
      [&](int thread, size_t number) {
        return std::make_unique<Signing>(number, signers[static_cast<size_t>(thread)].get(),
                                         &files);
      },
      [&](PassResult result) { return counter.Add(std::move(result)); }));
  TRAINYARD_ASSIGN_OR_RETURN(SignedInputs documents, counter.Finish());
  TRAINYARD_RETURN_IF_ERROR(store->Finish(documents.numbers));
  return documents;
}

absl::Status StoreShingles(const DedupInputs& inputs, const DedupSettings& settings,
                           const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                           ShingleStore* shingles) {
  if (inputs.collect_shingles) {
    TRAINYARD_RETURN_IF_ERROR(inputs.collect_shingles(numbers, wanted, shingles));
    return shingles->Finish();
  }
  const std::vector<std::unique_ptr<DocumentSigner>> signers = SignersOf(inputs, settings);
  ShingleFile file{{}, shingles};
  TRAINYARD_RETURN_IF_ERROR(ForEachBlock(
      inputs,
      [&](int thread, size_t number) {
        return std::make_unique<Shingling>(numbers.FirstOf(number), wanted,
                                           signers[static_cast<size_t>(thread)].get(), &file);
      },
      [](const PassResult&) { return absl::OkStatus(); }));
  return shingles->Finish();
}

absl::StatusOr<std::string> PlaceText(const DedupInputs& inputs, const SignedInputs& documents,
                                      const DocumentStore& store, uint64_t document) {
  TRAINYARD_ASSIGN_OR_RETURN(const StoredDocument stored, store.PlaceOf(document));
  const size_t number = documents.numbers.PlaceOf(document).block;
  size_t plan = 0;
  size_t block = number;
  while (block >= inputs.plans[plan]->blocks().size()) {
    block -= inputs.plans[plan++]->blocks().size();
  }
  const InputFile& file = inputs.plans[plan]->files()[stored.file].input;
  if (!HasLines(file.kind)) return file.path;
  const bool is_first = stored.file == inputs.plans[plan]->blocks()[block].first_file;
  const int64_t earlier = is_first ? documents.first_lines[number] : 0;
  return file.path + ":" + std::to_string(earlier + stored.line + 1);
}

}  // namespace trainyard::data
