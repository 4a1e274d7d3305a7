// Chooses layouts for jobs with `layout: auto`. The search runs on a reader thread, because a
// search would block the loop thread.
#ifndef TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_
#define TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_

#include "controller/api/context/cluster_loop.h"
#include "controller/api/context/reader_pool.h"
#include "controller/core/schedule/layout_choice.h"

namespace trainyard::controller {

// Runs one search at a time, so that the other readers stay free for queries.
class LayoutChooser {
 public:
  // Both arguments must outlive the loop's last tick.
  LayoutChooser(ClusterLoop& loop, ReaderPool& readers) : loop_(loop), readers_(readers) {}

  // From now on, checks after each tick whether a job needs a layout. May be called on any thread.
  void Start();

 private:
  void AskNext(const ClusterView& view);
  void Choose(const v1::JobSpec& spec, const LayoutQuestion& question, const LayoutNodes& nodes);

  ClusterLoop& loop_;
  ReaderPool& readers_;
  // Used only on the loop thread.
  bool busy_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_
