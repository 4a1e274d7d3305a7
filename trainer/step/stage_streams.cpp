#include "trainer/step/stage_streams.h"

#include <utility>

namespace trainyard::trainer {
namespace {

int64_t Peer(const Communicator& link) { return 1 - link.rank(); }

}  // namespace

StageReceiver::StageReceiver(Communicator* link, std::vector<ChunkPass> arrivals, MakeTensor make)
    : link_(link), arrivals_(arrivals.begin(), arrivals.end()), make_(std::move(make)) {
  if (link_ == nullptr) arrivals_.clear();
}

void StageReceiver::Begin(const ChunkPass& pass) {
  while (arriving_.count(pass) == 0) {
    TORCH_CHECK(!arrivals_.empty(), "no peer sends the tensor of this pass");
    torch::Tensor tensor = make_(arrivals_.front());
    Work work = link_->Exchange({{Transfer::Direction::kReceive, Peer(*link_), tensor}});
    arriving_[arrivals_.front()] = {std::move(tensor), std::move(work)};
    arrivals_.pop_front();
  }
}

torch::Tensor StageReceiver::Receive(const ChunkPass& pass) {
  Begin(pass);
  Arriving arriving = std::move(arriving_.at(pass));
  arriving_.erase(pass);
  arriving.work.Wait();
  return arriving.tensor;
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
