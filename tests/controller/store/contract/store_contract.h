// Contract tests of the interfaces of controller/store. They run on every implementation and use
// only the interface.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_CONTRACT_STORE_CONTRACT_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_CONTRACT_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/store/events/event_log.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "tests/controller/store/postgres/postgres_contract.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {

// The data of kMemory is lost with the object. Reopen therefore keeps the object. All other kinds
// are durable. kSimulated is the event log of tests/simulation/store.
enum class StoreKind { kMemory, kSqlite, kPostgres, kSimulated };

// Opens or creates the store of an interface in the directory.
template <typename Interface>
absl::StatusOr<std::unique_ptr<Interface>> OpenStore(StoreKind kind, const std::string& directory);
template <>
absl::StatusOr<std::unique_ptr<EventLog>> OpenStore(StoreKind kind, const std::string& directory);
template <>
absl::StatusOr<std::unique_ptr<MetricStore>> OpenStore(StoreKind kind,
                                                       const std::string& directory);
template <>
absl::StatusOr<std::unique_ptr<LogStore>> OpenStore(StoreKind kind, const std::string& directory);

// The base class of the contract tests of one interface.
template <typename Interface>
class StoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::kPostgres && !PostgresSkipReason().empty()) {
      GTEST_SKIP() << PostgresSkipReason();
    }
    Reopen();
  }

  // Opens the store again, as a restarted controller does.
  void Reopen() {
    if (GetParam() == StoreKind::kMemory && store_ != nullptr) return;
    store_.reset();
    auto opened = OpenStore<Interface>(GetParam(), directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Interface> store_;
};

inline auto EveryStore() {
  return testing::Values(StoreKind::kMemory, StoreKind::kSqlite, StoreKind::kPostgres);
}

inline auto EveryEventLog() {
  return testing::Values(StoreKind::kMemory, StoreKind::kSqlite, StoreKind::kPostgres,
                         StoreKind::kSimulated);
}

inline auto DurableStores() { return testing::Values(StoreKind::kSqlite, StoreKind::kPostgres); }

inline std::string StoreName(const testing::TestParamInfo<StoreKind>& info) {
  switch (info.param) {
    case StoreKind::kMemory:
      return "Memory";
    case StoreKind::kSqlite:
      return "Sqlite";
    case StoreKind::kSimulated:
      return "Simulated";
    default:
      return "Postgres";
  }
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_CONTRACT_STORE_CONTRACT_H_
