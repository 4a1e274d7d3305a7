#include "worker/directory_maker.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/detached_thread.h"

namespace trainyard::worker {

DirectoryMaker::DirectoryMaker(boost::asio::io_context& loop, Make make)
    : loop_(loop), make_(std::move(make)), link_(std::make_shared<Link>()) {
  link_->maker = this;
}

DirectoryMaker::~DirectoryMaker() {
  const std::lock_guard lock(link_->mutex);
  link_->maker = nullptr;
}

void DirectoryMaker::MakeDirectory(const std::string& path, Done done) {
  if (const auto found = waiting_.find(path); found != waiting_.end()) {
    found->second.push_back(std::move(done));
    return;
  }
  if (waiting_.size() >= kMostAtOnce) {
    return done(absl::ResourceExhaustedError(absl::StrCat(
        "cannot create ", path, ": ", waiting_.size(),
        " earlier requests to create directories have no answer yet. The first request is for ",
        waiting_.begin()->first, "; check the file servers of this node")));
  }
  waiting_[path].push_back(std::move(done));
  const absl::Status started = RunDetached("make " + path, [link = link_, make = make_, path] {
    const absl::Status status = make(path);
    // Hold the lock until post returns. The maker's destructor waits for the lock, so the maker
    // still exists. The loop outlives the maker.
    const std::lock_guard lock(link->mutex);
    if (link->maker == nullptr) return;
    boost::asio::post(link->maker->loop_, [link, path, status] {
      if (link->maker != nullptr) link->maker->Made(path, status);
    });
  });
  if (!started.ok()) Made(path, started);
}

void DirectoryMaker::Made(const std::string& path, const absl::Status& status) {
  const auto found = waiting_.find(path);
  const std::vector<Done> waiting = std::move(found->second);
  waiting_.erase(found);
  for (const Done& done : waiting) done(status);
}

}  // namespace trainyard::worker
