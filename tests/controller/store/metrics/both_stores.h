// Runs each test of metric_store.h on the SQLite store and on the in-memory store.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_BOTH_STORES_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_BOTH_STORES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "controller/store/metrics/memory_metric_store.h"
#include "controller/store/metrics/sqlite_metric_store.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {

// The parameter is true for SQLite.
class BothStores : public testing::TestWithParam<bool> {
 protected:
  BothStores() { Reopen(); }

  // Opens the SQLite store again, as after a restart. The in-memory store keeps its content.
  void Reopen() {
    if (!GetParam()) {
      if (store_ == nullptr) store_ = std::make_unique<MemoryMetricStore>();
      return;
    }
    store_.reset();
    auto opened = SqliteMetricStore::Open(temporary_.File("metrics.db"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<MetricStore> store_;
};

inline std::string StoreName(const testing::TestParamInfo<bool>& info) {
  return info.param ? "Sqlite" : "Memory";
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_BOTH_STORES_H_
