// Place of a file: its type, its inode and the mount through which it is seen.
#ifndef TRAINYARD_PROTO_CONTRACT_FILE_PLACE_H_
#define TRAINYARD_PROTO_CONTRACT_FILE_PLACE_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>

namespace trainyard {

// Two paths lead to one file when device and inode are equal.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct FilePlace {
  FileIdentity identity;
  mode_t mode = 0;
  uint64_t mount = 0;  // 0: the kernel does not say (before Linux 5.8).

  bool IsDirectory() const { return S_ISDIR(mode); }
  bool IsLink() const { return S_ISLNK(mode); }
  // False for a file of another disk, and for one behind a bind mount of the same disk.
  bool IsOnMountOf(const FilePlace& other) const {
    return identity.device == other.identity.device && mount == other.mount;
  }
};

// Place of `name` in the open directory `parent`, or of `parent` itself for an empty name. Follows
// no link. Uses what the kernel knows already: a file system that hangs is not asked. nullopt with
// errno when there is none.
inline std::optional<FilePlace> PlaceOf(int parent, const char* name) {
  struct statx found {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  const unsigned wanted = STATX_TYPE | STATX_MODE | STATX_INO | STATX_MNT_ID;
  if (statx(parent, name, flags, wanted, &found) != 0) return std::nullopt;
  FilePlace place;
  place.identity = {uint64_t{found.stx_dev_major} << 32 | found.stx_dev_minor, found.stx_ino};
  place.mode = found.stx_mode;
  if ((found.stx_mask & STATX_MNT_ID) != 0) place.mount = found.stx_mnt_id;
  return place;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_FILE_PLACE_H_
