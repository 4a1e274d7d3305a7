// A pool of connections to PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_POOL_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_POOL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

// Opens connections as needed, up to a limit. A few unused ones stay open. Lost connections are
// replaced. Thread-safe. Must outlive its leases.
class PostgresPool {
 public:
  // Limit on the connections that are in use at the same time.
  static constexpr int kLeasesMax = 8;

  class Lease {
   public:
    Lease(PostgresPool& pool, std::unique_ptr<PostgresDatabase> database)
        : pool_(&pool), database_(std::move(database)) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), database_(std::move(other.database_)) {}
    // Replaces the connection of a lease.
    Lease(Lease&& other, std::unique_ptr<PostgresDatabase> database)
        : pool_(std::exchange(other.pool_, nullptr)), database_(std::move(database)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    PostgresDatabase& operator*() { return *database_; }
    PostgresDatabase* operator->() { return database_.get(); }

   private:
    PostgresPool* pool_;
    std::unique_ptr<PostgresDatabase> database_;
  };

  explicit PostgresPool(std::string settings) : settings_(std::move(settings)) {}

  // Waits up to 5 s for an unused connection. RESOURCE_EXHAUSTED: kLeasesMax connections are in
  // use.
  absl::StatusOr<Lease> Acquire();

 private:
  // Returns an unused open connection; null if the caller must open one.
  absl::StatusOr<std::unique_ptr<PostgresDatabase>> TakeIdle();
  // `database` may be null.
  void Return(std::unique_ptr<PostgresDatabase> database);

  const std::string settings_;
  std::mutex mutex_;
  std::condition_variable returned_;
  int leases_ = 0;                                       // Guarded by mutex_.
  std::vector<std::unique_ptr<PostgresDatabase>> idle_;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_POOL_H_
