// Chooses layouts for jobs with `layout: auto` on a reader thread: the loop has no time for it.
#ifndef TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_
#define TRAINYARD_CONTROLLER_LAYOUT_CHOOSER_H_

#include "controller/api/cluster_loop.h"
#include "controller/api/reader_pool.h"
#include "controller/core/schedule/layout_choice.h"

namespace trainyard::controller {

// One search runs at a time, so that many such jobs leave the readers to queries.
class LayoutChooser {
 public:
  // Both outlive the loop's last tick.
  LayoutChooser(ClusterLoop& loop, ReaderPool& readers) : loop_(loop), readers_(readers) {}

  // Looks for questions after each tick from now on. Any thread.
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
