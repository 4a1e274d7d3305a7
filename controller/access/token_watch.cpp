#include "controller/access/token_watch.h"

#include <chrono>
#include <utility>

#include "proto/access/token_file.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::seconds kCheckEvery{5};

}  // namespace

TokenWatch::TokenWatch(std::string path, std::string token, OnNewToken on_new_token)
    : path_(std::move(path)), on_new_token_(std::move(on_new_token)), token_(std::move(token)) {}

TokenWatch::~TokenWatch() { Stop(); }

void TokenWatch::Start() {
  if (!path_.empty()) thread_ = std::thread([this] { Run(); });
}

void TokenWatch::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TokenWatch::Check() {
  const absl::StatusOr<std::string> read = ReadToken(path_);
  const std::string problem(read.status().message());
  if (problem != std::exchange(problem_, problem) && !problem.empty()) {
    spdlog::warn("{}; the controller keeps using the previous token", problem);
  }
  if (!read.ok() || *read == token_) return;
  token_ = *read;
  spdlog::info(
      "{} was replaced. Clients and workers now need the new token, and all dashboard sessions "
      "have ended",
      path_);
  on_new_token_(token_);
}

void TokenWatch::Run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kCheckEvery, [this] { return stopping_; })) {
    lock.unlock();
    Check();
    lock.lock();
  }
}

}  // namespace trainyard::controller
