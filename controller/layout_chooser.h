// Chooses layouts for jobs with `layout: auto` on a reader thread, because a search would block the
// loop.
#ifndef TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_
#define TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_

#include "controller/api/cluster_loop.h"
#include "controller/api/reader_pool.h"
#include "controller/core/schedule/layout_choice.h"

namespace trainyard::controller {

// Runs one search at a time, which leaves the other readers free for queries.
class LayoutChooser {
 public:
  // Both must outlive the loop's last tick.
  LayoutChooser(ClusterLoop& loop, ReaderPool& readers) : loop_(loop), readers_(readers) {}

  // From now on checks after each tick for jobs that need a layout. Any thread.
  void Start();

 private:
  void AskNext(const ClusterView& view);
  void Choose(const v1::JobSpec& spec, const LayoutQuestion& question);

  ClusterLoop& loop_;
  ReaderPool& readers_;
  // Loop thread only.
  bool busy_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_
