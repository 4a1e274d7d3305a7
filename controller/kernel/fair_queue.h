// A queue in which sources take turns.
#ifndef TRAINYARD_CONTROLLER_KERNEL_FAIR_QUEUE_H_
#define TRAINYARD_CONTROLLER_KERNEL_FAIR_QUEUE_H_

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

namespace trainyard::controller {

// Items of one source keep their order. Sources take turns: between two items of one source, each
// other source gets at most one turn.
template <typename Source, typename Item>
class FairQueue {
 public:
  void Push(Source source, Item item) {
    std::deque<Item>& items = items_[source];
    if (items.empty()) turns_.push_back(source);
    items.push_back(std::move(item));
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Removes and returns the next item. The queue must not be empty.
  Item Pop() {
    const Source source = turns_.front();
    turns_.pop_front();
    const auto found = items_.find(source);
    Item item = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) {
      items_.erase(found);
    } else {
      turns_.push_back(source);
    }
    --size_;
    return item;
  }

 private:
  std::unordered_map<Source, std::deque<Item>> items_;  // Has no empty entries.
  std::deque<Source> turns_;                            // Contains each source in items_ once.
  std::size_t size_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_FAIR_QUEUE_H_
