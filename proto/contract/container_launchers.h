// The programs that start containers, and the check with which a worker reports those of its node.
#ifndef TRAINYARD_PROTO_CONTRACT_CONTAINER_LAUNCHERS_H_
#define TRAINYARD_PROTO_CONTRACT_CONTAINER_LAUNCHERS_H_

#include <array>
#include <string_view>

namespace trainyard {

inline constexpr std::array<std::string_view, 3> kContainerLaunchers = {"podman", "apptainer",
                                                                        "enroot"};

// The name of the check. Its finding has the installed launchers, separated by kLauncherSeparator,
// or kNoLauncher.
inline constexpr char kLaunchersCheck[] = "launchers";
inline constexpr char kLauncherSeparator[] = ", ";
inline constexpr char kNoLauncher[] = "none";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_CONTAINER_LAUNCHERS_H_
