// PostgreSQL as a kind of store for the contract tests.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_CONTRACT_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_CONTRACT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/store/events/event_log.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"

namespace trainyard::controller {

// Returns the reason why tests on PostgreSQL are skipped; empty if they run.
std::string PostgresSkipReason();

// Opens a store in the schema that belongs to the test's directory, and begins the next term
// of the leader, as a started controller does.
absl::StatusOr<std::unique_ptr<EventLog>> OpenPostgresEvents(const std::string& directory);
absl::StatusOr<std::unique_ptr<MetricStore>> OpenPostgresMetrics(const std::string& directory);
absl::StatusOr<std::unique_ptr<LogStore>> OpenPostgresLogs(const std::string& directory);

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_CONTRACT_H_
