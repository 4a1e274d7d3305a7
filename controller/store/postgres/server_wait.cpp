#include "controller/store/postgres/server_wait.h"

#include <thread>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::milliseconds kPollEvery{100};
constexpr std::chrono::seconds kReportEvery{5};

// True for a server that may accept the next connection.
bool MayRecover(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

absl::Status WithLimit(const absl::Status& status, std::chrono::milliseconds limit) {
  return absl::Status(status.code(), absl::StrCat(status.message(), " (waited ",
                                                  limit.count() / 1000, " s for the database)"));
}

}  // namespace

bool ServerWait::Pause(const std::string& reason) {
  const auto now = Steady::now();
  if (now - begin_ >= limit_) return false;
  if (on_wait_ != nullptr &&
      (reported_ == Steady::time_point() || now - reported_ >= kReportEvery)) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(limit_ - (now - begin_));
    on_wait_(absl::StrCat(reason, "; waiting up to ", left.count() + 1, " s"));
    reported_ = now;
  }
  std::this_thread::sleep_for(kPollEvery);
  return true;
}

absl::StatusOr<std::unique_ptr<PostgresDatabase>> ServerWait::Connect(const std::string& settings) {
  while (true) {
    auto database = PostgresDatabase::Connect(settings);
    if (database.ok() || !MayRecover(database.status())) return database;
    if (!Pause(std::string(database.status().message()))) {
      return WithLimit(database.status(), limit_);
    }
  }
}

absl::StatusOr<std::unique_ptr<Leadership>> ServerWait::Lead(const std::string& settings,
                                                             const std::string& holder) {
  std::unique_ptr<Leadership> leadership;
  while (true) {
    absl::Status status;
    if (leadership == nullptr) {
      auto opened = Leadership::Open(settings, holder, "", LeaderKind::kCommand);
      status = opened.status();
      if (opened.ok()) leadership = *std::move(opened);
    }
    if (status.ok()) status = leadership->Step();
    if (!status.ok() && !MayRecover(status)) return status;
    if (status.ok() && leadership->term() != 0) return leadership;
    if (status.ok()) {
      status = absl::FailedPreconditionError(absl::StrCat(
          "the controller ", leadership->leader(),
          " leads on this schema. Stop it first; two clusters need two schemas or two databases"));
    }
    if (!Pause(std::string(status.message()))) return WithLimit(status, limit_);
  }
}

}  // namespace trainyard::controller
