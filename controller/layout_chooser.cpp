#include "controller/layout_chooser.h"

#include <vector>

#include "controller/core/reconcile.h"

namespace trainyard::controller {

void LayoutChooser::Start() {
  loop_.Read([this](const ClusterView&) {
    loop_.Listen([this](const ClusterView& view, const TickSummary&) {
      if (!busy_) AskNext(view);
      return true;
    });
  });
}

void LayoutChooser::AskNext(const ClusterView& view) {
  const std::vector<LayoutQuestion> due = LayoutQuestionsDue(view.state, view.options, view.now);
  if (due.empty()) return;
  const LayoutQuestion& question = due.front();
  const v1::JobSpec& spec = view.state.jobs.at(question.job_id).job.spec();
  // If the readers are busy, the next tick tries again.
  busy_ = readers_.TryPost([this, spec, question] { Choose(spec, question); });
}

// If the answer is refused, for example because the disk is full, the next tick asks again.
void LayoutChooser::Choose(const v1::JobSpec& spec, const LayoutQuestion& question) {
  loop_.Submit(ChooseLayout{question.job_id, ChooseLayoutFor(spec, question)},
               [this](const RequestOutcome&, const ClusterView&) { busy_ = false; });
}

}  // namespace trainyard::controller
