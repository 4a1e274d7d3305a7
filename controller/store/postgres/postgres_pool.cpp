#include "controller/store/postgres/postgres_pool.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kIdleConnectionsMax = 4;
constexpr std::chrono::seconds kWaitMax{5};

}  // namespace

PostgresPool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->Return(std::move(database_));
}

absl::StatusOr<PostgresPool::Lease> PostgresPool::Acquire() {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<PostgresDatabase> database, TakeIdle());
  Lease lease(*this, std::move(database));
  if (lease.operator->() != nullptr) return lease;
  TRAINYARD_ASSIGN_OR_RETURN(auto opened, PostgresDatabase::Connect(settings_));
  return Lease(std::move(lease), std::move(opened));
}

absl::StatusOr<std::unique_ptr<PostgresDatabase>> PostgresPool::TakeIdle() {
  std::unique_lock lock(mutex_);
  if (!returned_.wait_for(lock, kWaitMax, [this] { return leases_ < kLeasesMax; })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("all ", kLeasesMax, " connections of this store to PostgreSQL are in use for ",
                     kWaitMax.count(), " s; the database server is slow or overloaded"));
  }
  ++leases_;
  while (!idle_.empty()) {
    std::unique_ptr<PostgresDatabase> database = std::move(idle_.back());
    idle_.pop_back();
    if (database->IsUsable()) return database;
  }
  return nullptr;
}

void PostgresPool::Return(std::unique_ptr<PostgresDatabase> database) {
  const std::lock_guard lock(mutex_);
  --leases_;
  returned_.notify_one();
  if (database != nullptr && database->IsAlive() && database->IsIdle() &&
      idle_.size() < kIdleConnectionsMax) {
    idle_.push_back(std::move(database));
  }
}

}  // namespace trainyard::controller
