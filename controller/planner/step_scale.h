// Factors, obtained from measurements, that correct predicted step times.
#ifndef TRAINYARD_CONTROLLER_PLANNER_STEP_SCALE_H_
#define TRAINYARD_CONTROLLER_PLANNER_STEP_SCALE_H_

namespace trainyard::planner {

// The ratio of measured to predicted seconds for each part of a step (StepTime). 1 means an exact
// prediction.
struct StepScale {
  double compute = 1;
  double optimizer = 1;
  double tensor_wait = 1;
  double context_wait = 1;
  double expert_wait = 1;
  double pipeline_wait = 1;
  double data_wait = 1;
  double world_wait = 1;

  bool operator==(const StepScale&) const = default;
};

// Calls visit(name, value) for each part of a step.
template <typename Scale, typename Visit>
void VisitScale(Scale& scale, Visit&& visit) {
  visit("compute", scale.compute);
  visit("optimizer", scale.optimizer);
  visit("tensor_wait", scale.tensor_wait);
  visit("context_wait", scale.context_wait);
  visit("expert_wait", scale.expert_wait);
  visit("pipeline_wait", scale.pipeline_wait);
  visit("data_wait", scale.data_wait);
  visit("world_wait", scale.world_wait);
}

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_STEP_SCALE_H_
