#include "cli/convert/config_readers.h"

#include "proto/support/status_macros.h"

namespace trainyard::cli {

absl::StatusOr<SourceTree> SameTree(const SourceTree& tree) { return tree; }

absl::StatusOr<KeyCounts> ReadConfigTree(const ConfigReader& reader, const SourceTree& tree,
                                         JobDraft& draft) {
  TRAINYARD_ASSIGN_OR_RETURN(const SourceTree prepared, reader.prepare(tree));
  const KeyCounts counts = Translate(prepared, reader.table(), draft);
  draft.FollowReads(&prepared);
  const absl::Status read = reader.read(prepared, draft);
  draft.FollowReads(nullptr);
  TRAINYARD_RETURN_IF_ERROR(read);
  NameLeftOut(prepared, reader.table(), draft);
  return counts;
}

}  // namespace trainyard::cli
