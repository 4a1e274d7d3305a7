#include "controller/api/context/reader_pool.h"

#include <utility>

#include "proto/support/asio.h"

namespace trainyard::controller {

ReaderPool::ReaderPool(int threads, int queue_limit)
    : queue_limit_(queue_limit),
      pool_(std::make_unique<boost::asio::thread_pool>(static_cast<std::size_t>(threads))) {}

ReaderPool::~ReaderPool() { Join(); }

void ReaderPool::Join() { pool_->join(); }

bool ReaderPool::TryPost(std::function<void()> work) {
  if (queued_.load() >= queue_limit_) return false;
  Post(std::move(work));
  return true;
}

void ReaderPool::Post(std::function<void()> work) {
  ++queued_;
  boost::asio::post(*pool_, [this, work = std::move(work)] {
    --queued_;
    work();
  });
}

}  // namespace trainyard::controller
