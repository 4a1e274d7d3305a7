#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "data/dedup/buckets.h"
#include "data/dedup/decide.h"
#include "data/dedup/document_store.h"
#include "data/dedup/scratch_directory.h"
#include "proto/support/status_macros.h"
#include "tests/bench/data/measures.h"

namespace trainyard::data {
namespace {

// A copy follows its original by at most this many documents.
constexpr uint64_t kNearest = 1000;

uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

class SignatureGenerator {
 public:
  explicit SignatureGenerator(const PlantedDocuments& planted)
      : bucket_step_(planted.bucket == 0 ? 0 : planted.documents / planted.bucket),
        copies_(static_cast<uint64_t>(planted.copies * 0x1p32)) {}

  // Every bucket_step-th document has the signature of document 0. The others are new, or copy
  // about 90 % of the min-hashes of one of the kNearest documents before them.
  Signature Of(uint64_t document) const {
    if (bucket_step_ > 0 && document % bucket_step_ == 0) return New(0);
    Signature signature = New(document);
    if (document == 0 || (Mix(document) & 0xFFFFFFFF) >= copies_) return signature;
    const uint64_t distance = 1 + Mix(~document) % std::min(kNearest, document);
    const Signature original = New(document - distance);
    for (size_t i = 0; i < kMinHashes; ++i) {
      if (Mix(document * kMinHashes + i) % 10 != 0) signature[i] = original[i];
    }
    return signature;
  }

 private:
  static Signature New(uint64_t document) {
    Signature signature;
    uint64_t state = Mix(document) | 1;
    for (uint32_t& value : signature) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      value = static_cast<uint32_t>(state >> 16);
    }
    return signature;
  }

  const uint64_t bucket_step_;
  const uint64_t copies_;  // of 2^32
};

// CPU and wall time since the last call.
class Stopwatch {
 public:
  void Print(const char* step) {
    const double cpu = CpuSeconds();
    const auto now = std::chrono::steady_clock::now();
    std::printf("\"%s_cpu_seconds\": %.3f, \"%s_seconds\": %.3f, ", step, cpu - cpu_, step,
                std::chrono::duration<double>(now - wall_).count());
    cpu_ = cpu;
    wall_ = now;
  }

 private:
  double cpu_ = CpuSeconds();
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
};

absl::Status AddAll(const PlantedDocuments& planted, const DedupSettings& settings,
                    BucketSorter* sorter, DocumentStore* store) {
  const SignatureGenerator generator(planted);
  std::vector<StoredDocument> chunk;
  for (uint64_t i = 0; i < planted.documents; ++i) {
    const Signature signature = generator.Of(i);
    TRAINYARD_RETURN_IF_ERROR(sorter->Add(DocumentId(0, static_cast<uint32_t>(i)),
                                          BandKeysOf(signature, settings.bands, settings.rows)));
    chunk.push_back({0, static_cast<uint32_t>(i), signature});
    if (chunk.size() < DocumentStore::kChunk && i + 1 < planted.documents) continue;
    TRAINYARD_RETURN_IF_ERROR(store->Add(0, chunk));
    chunk.clear();
  }
  return store->Finish(DocumentNumbers({static_cast<uint32_t>(planted.documents)}));
}

}  // namespace

absl::Status MeasureBands(const PlantedDocuments& planted, int threads,
                          const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchDirectory> scratch,
                             ScratchDirectory::Create(directory + "/bands-"));
  TRAINYARD_ASSIGN_OR_RETURN(DedupSettings settings, PresetSettings("near", {}, ""));
  settings.verify = false;  // There is no text.
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<DocumentStore> store,
                             DocumentStore::Create(scratch->path() + "/documents", settings));
  BucketSorter sorter(scratch->path(), {threads, size_t{1} << 30});
  Stopwatch watch;
  std::printf("{");
  TRAINYARD_RETURN_IF_ERROR(AddAll(planted, settings, &sorter, store.get()));
  watch.Print("add");
  TRAINYARD_ASSIGN_OR_RETURN(const BucketMembers members, sorter.Finish(store->numbers()));
  watch.Print("sort");
  UnverifiedTest test(*store);
  TRAINYARD_ASSIGN_OR_RETURN(const Decisions decisions, DecideGreedily(members, 0, &test));
  watch.Print("decide");
  std::printf("\"documents\": %llu, \"dropped\": %zu}\n",
              static_cast<unsigned long long>(planted.documents), decisions.dropped.size());
  return absl::OkStatus();
}

}  // namespace trainyard::data
