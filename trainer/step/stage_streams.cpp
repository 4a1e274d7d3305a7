#include "trainer/step/stage_streams.h"

#include <utility>

namespace trainyard::trainer {
namespace {

int64_t Peer(const Communicator& link) { return 1 - link.rank(); }

}  // namespace

StageReceiver::StageReceiver(Communicator* link, std::vector<ChunkPass> arrivals, MakeTensor make)
    : link_(link), arrivals_(arrivals.begin(), arrivals.end()), make_(std::move(make)) {
  if (link_ == nullptr) arrivals_.clear();
  BeginNext();
}

void StageReceiver::BeginNext() {
  arriving_.reset();
  if (arrivals_.empty()) return;
  const ChunkPass pass = arrivals_.front();
  arrivals_.pop_front();
  torch::Tensor tensor = make_(pass);
  Work work = link_->Exchange({{Transfer::Direction::kReceive, Peer(*link_), tensor}});
  arriving_ = {pass, std::move(tensor), std::move(work)};
}

torch::Tensor StageReceiver::Receive(const ChunkPass& pass) {
  while (arrived_.count(pass) == 0) {
    TORCH_CHECK(arriving_.has_value(), "a pass that nobody sends");
    arriving_->work.Wait();
    arrived_[arriving_->pass] = std::move(arriving_->tensor);
    BeginNext();
  }
  torch::Tensor tensor = std::move(arrived_.at(pass));
  arrived_.erase(pass);
  return tensor;
}

void StageSender::Send(torch::Tensor tensor) {
  while (!under_way_.empty() && under_way_.front().IsDone()) under_way_.pop_front();
  under_way_.push_back(
      link_->Exchange({{Transfer::Direction::kSend, Peer(*link_), std::move(tensor)}}));
}

void StageSender::Join() {
  for (Work& work : under_way_) work.Wait();
  under_way_.clear();
}

}  // namespace trainyard::trainer
