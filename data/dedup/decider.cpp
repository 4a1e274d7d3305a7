#include "data/dedup/decider.h"

#include <vector>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

int64_t BytesOf(const std::vector<const Plan*>& plans) {
  int64_t bytes = 0;
  for (const Plan* plan : plans) {
    for (const PlanFile& file : plan->files()) bytes += file.input.bytes;
  }
  return bytes;
}

}  // namespace

absl::Status Decider::Run() {
  TRAINYARD_ASSIGN_OR_RETURN(store_, DocumentStore::Create(scratch_ + "/documents", settings_));
  const BucketLimits limits = {inputs_.threads, static_cast<size_t>(memory_bytes_) / 2};
  BucketSorter sorter(scratch_, limits);
  start_("computing signatures", BytesOf(inputs_.plans));
  TRAINYARD_ASSIGN_OR_RETURN(documents_, SignDocuments(inputs_, settings_, &sorter, store_.get()));
  start_("sorting band keys", 0);
  TRAINYARD_ASSIGN_OR_RETURN(const BucketMembers members, sorter.Finish(documents_->numbers));
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<PairTest> test, MakeTest(members));
  start_("comparing documents", 0);
  TRAINYARD_ASSIGN_OR_RETURN(decisions_, settings_.components
                                             ? DecideByComponents(members, first_new(), test.get())
                                             : DecideGreedily(members, first_new(), test.get()));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PairTest>> Decider::MakeTest(const BucketMembers& members) {
  if (!settings_.verify) return std::make_unique<UnverifiedTest>(*store_);
  std::vector<bool> wanted(documents_->numbers.documents());
  TRAINYARD_RETURN_IF_ERROR(
      members.ForEachDocument([&wanted](uint64_t document, const std::vector<uint64_t>&) {
        wanted[document] = true;
        return absl::OkStatus();
      }));
  TRAINYARD_ASSIGN_OR_RETURN(shingles_, ShingleStore::Create(scratch_ + "/shingles"));
  if (members.buckets() > 0) {
    start_("reading candidates", BytesOf(inputs_.plans));
    TRAINYARD_RETURN_IF_ERROR(
        StoreShingles(inputs_, settings_, documents_->numbers, wanted, shingles_.get()));
  }
  return std::make_unique<VerifyingTest>(*store_, *shingles_, settings_.threshold);
}

}  // namespace trainyard::data
