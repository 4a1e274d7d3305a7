#include "tests/simulation/store/links.h"

#include <vector>

namespace trainyard::simulation {
namespace {

constexpr int64_t kSlowestLinkMs = 20;
constexpr int64_t kRetryLinkMs = 50;

}  // namespace

int64_t Links::Open(int node, int member) {
  Link& link = links_[++last_link_];
  link.node = node;
  link.member = member;
  return last_link_;
}

void Links::ToMember(int64_t link, v1::WorkerMessage message) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  Send(link, &Link::to_member,
       [this, link, member = found->second.member, node = found->second.node,
        message = std::move(message)] { receivers_.member(member, link, node, message); });
}

void Links::ToNode(int64_t link, v1::ControllerMessage message) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  Send(link, &Link::to_node, [this, link, node = found->second.node, message = std::move(message)] {
    receivers_.node(node, link, message);
  });
}

void Links::Send(int64_t link, Queue queue, std::function<void()> deliver) {
  (links_.at(link).*queue).push_back(std::move(deliver));
  Deliver(link, queue, world_.random.Between(1, kSlowestLinkMs));
}

// Each message is delivered by a call of its own, so the first one in the queue is always due.
void Links::Deliver(int64_t link, Queue queue, int64_t ms) {
  world_.agenda.After(ms, [this, link, queue] {
    const auto found = links_.find(link);
    if (found == links_.end()) return;
    if (world_.IsCut(found->second.member, Side::kWorkers)) {
      return Deliver(link, queue, kRetryLinkMs);
    }
    const std::function<void()> deliver = std::move((found->second.*queue).front());
    (found->second.*queue).pop_front();
    deliver();
  });
}

void Links::Close(int64_t link) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  const int member = found->second.member;
  const int node = found->second.node;
  links_.erase(found);
  NotifyClosed(member, [this, member, link] { receivers_.member_closed(member, link); });
  NotifyClosed(member, [this, node, link] { receivers_.node_closed(node, link); });
}

void Links::CloseAllOf(int member) {
  std::vector<int64_t> closed;
  for (const auto& [number, link] : links_) {
    if (link.member == member) closed.push_back(number);
  }
  for (const int64_t link : closed) Close(link);
}

void Links::NotifyClosed(int member, std::function<void()> notify) {
  world_.agenda.After(world_.random.Between(1, kSlowestLinkMs),
                      [this, member, notify = std::move(notify)]() mutable {
                        if (!world_.IsCut(member, Side::kWorkers)) return notify();
                        NotifyClosed(member, std::move(notify));
                      });
}

}  // namespace trainyard::simulation
