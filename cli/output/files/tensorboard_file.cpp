#include "cli/output/files/tensorboard_file.h"

#include <algorithm>

#include "proto/parsers/tf_record.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard::cli {

std::string TensorboardFileStart(double unix_seconds) {
  v1::TensorboardEvent event;
  event.set_wall_time(unix_seconds);
  event.set_file_version("brain.Event:2");
  return TfRecord(event.SerializeAsString());
}

std::string TensorboardSeries(const v1::Series& series) {
  std::string records;
  const int size = std::min(series.steps_size(), series.last_size());
  for (int i = 0; i < size; ++i) {
    v1::TensorboardEvent event;
    event.set_step(series.steps(i));
    if (i < series.times_ms_size()) {
      event.set_wall_time(static_cast<double>(series.times_ms(i)) / 1e3);
    }
    v1::TensorboardValue& value = *event.mutable_summary()->add_value();
    value.set_tag(series.key());
    value.set_simple_value(static_cast<float>(series.last(i)));
    records += TfRecord(event.SerializeAsString());
  }
  return records;
}

}  // namespace trainyard::cli
