#include "data/stages/run_pass.h"

#include <memory>
#include <utility>
#include <vector>

#include "data/stages/record.h"
#include "data/stages/run_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

int64_t BytesLeft(const Plan& plan, const RunTotals& totals) {
  int64_t bytes = 0;
  for (size_t block = 0; block < plan.blocks().size(); ++block) {
    if (!totals.Has(block)) bytes += plan.BytesOf(plan.blocks()[block]);
  }
  return bytes;
}

// Processes the blocks without a record.
absl::Status RunUnfinished(const BlockPass& pass, const RunSettings& settings,
                           const RunObserver& observer, const std::atomic<bool>& cancelled,
                           const PartNames& names, BlockQueue* queue, size_t blocks) {
  LocalBlocks source(queue, cancelled);
  const BlockWork work = [&](const BlockLease& lease, const Advance& advance) {
    return pass.work(lease, names, advance);
  };
  const auto advance = [&](int64_t bytes) { observer.advance(bytes + queue->TakeForeignBytes()); };
  const int threads = ThreadsFor(settings.threads, settings.memory_bytes, blocks);
  const absl::Status status = RunBlocks(&source, work, threads, advance, cancelled);
  if (!status.ok()) queue->End(status);
  if (cancelled) queue->End(absl::CancelledError("interrupted; repeat the command to continue"));
  return queue->Wait();
}

}  // namespace

absl::StatusOr<RunTotals> RunPass(const BlockPass& pass, const RunSettings& settings,
                                  const RunObserver& observer, const std::atomic<bool>& cancelled,
                                  PassHelpers* helpers) {
  std::vector<BlockRecord> records;
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::unique_ptr<RunDirectory> directory,
      RunDirectory::Open(settings.out, pass.plan, settings.replace, &records));
  RunTotals totals(pass.plan, settings.bad_lines);
  for (BlockRecord& record : records) TRAINYARD_RETURN_IF_ERROR(totals.Add(std::move(record)));
  const size_t recorded = totals.blocks();
  observer.start(pass.plan.blocks().size(), recorded, BytesLeft(pass.plan, totals));
  if (const size_t left = pass.plan.blocks().size() - recorded; left > 0) {
    BlockQueue queue(pass.plan, directory.get(), &totals);
    if (helpers != nullptr) helpers->Offer(&queue);
    const absl::Status status =
        RunUnfinished(pass, settings, observer, cancelled, directory->names(), &queue, left);
    if (helpers != nullptr) helpers->Withdraw();
    TRAINYARD_RETURN_IF_ERROR(status);
  }
  TRAINYARD_RETURN_IF_ERROR(totals.Finish());
  const BadLineLog& lines = totals.bad_lines();
  TRAINYARD_RETURN_IF_ERROR(
      directory->Complete(pass.report(totals), lines.bad() > 0 ? lines.ToJsonLines() : ""));
  return totals;
}

}  // namespace trainyard::data
