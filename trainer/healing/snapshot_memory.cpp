#include "trainer/healing/snapshot_memory.h"

#include <algorithm>

namespace trainyard::trainer {
namespace {

std::vector<torch::Tensor> TensorsOf(const HostCopy& copy) {
  std::vector<torch::Tensor> tensors;
  for (const TensorChunk& chunk : copy.chunks()) tensors.push_back(chunk.tensor);
  return tensors;
}

}  // namespace

std::vector<torch::Tensor> Snapshot::OwnPieces() const { return TensorsOf(own); }

std::vector<torch::Tensor> Snapshot::WardPieces() const {
  return ward_received.empty() ? TensorsOf(ward_copy) : ward_received;
}

void SnapshotMemory::BelongTo(int64_t rank) {
  if (rank_ == rank) return;
  rank_ = rank;
  for (const auto& snapshot : snapshots_) snapshot->step = -1;
}

void SnapshotMemory::Resize(size_t count) {
  while (snapshots_.size() < count) snapshots_.push_back(std::make_unique<Snapshot>());
}

Snapshot* SnapshotMemory::Find(int64_t step) {
  for (const auto& snapshot : snapshots_) {
    if (snapshot->step == step && snapshot->is_confirmed) return snapshot.get();
  }
  return nullptr;
}

Snapshot& SnapshotMemory::Oldest(int64_t kept) {
  Snapshot* oldest = nullptr;
  for (const auto& snapshot : snapshots_) {
    if (snapshot->step >= 0 && snapshot->step == kept) continue;
    if (oldest == nullptr || snapshot->step < oldest->step) oldest = snapshot.get();
  }
  return oldest == nullptr ? *snapshots_.back() : *oldest;
}

void SnapshotMemory::DropUnconfirmed() {
  for (const auto& snapshot : snapshots_) {
    snapshot->own.Wait();
    snapshot->ward_copy.Wait();
    if (!snapshot->is_confirmed) snapshot->step = -1;
  }
}

HeldSteps SnapshotMemory::Held() const {
  HeldSteps held;
  for (const auto& snapshot : snapshots_) {
    if (snapshot->step < 0 || !snapshot->is_confirmed) continue;
    held.own.push_back(snapshot->step);
    if (snapshot->has_ward) held.ward.push_back(snapshot->step);
  }
  return held;
}

}  // namespace trainyard::trainer
