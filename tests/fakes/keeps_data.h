// Stores for tests that do not concern retention. These stores never remove data.
#ifndef TRAINYARD_TESTS_FAKES_KEEPS_DATA_H_
#define TRAINYARD_TESTS_FAKES_KEEPS_DATA_H_

#include <cstdint>

#include "controller/store/support/pruning.h"
#include "controller/store/support/store_mark.h"

namespace trainyard::controller {

// `Store` is MetricStore or LogStore.
template <typename Store>
class KeepsData : public WithMemoryMark<Store> {
 public:
  absl::StatusOr<StoreUsage> Usage() override { return StoreUsage(); }
  absl::StatusOr<int64_t> NextJob(int64_t) override { return 0; }
  absl::StatusOr<int64_t> JobBytes(int64_t) override { return 0; }
  absl::StatusOr<bool> Reclaim() override { return false; }
  absl::Status DropJob(int64_t) override { return absl::OkStatus(); }
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_FAKES_KEEPS_DATA_H_
