// Type, inode and mount of a file.
#ifndef TRAINYARD_PROTO_FILES_FILE_PLACE_H_
#define TRAINYARD_PROTO_FILES_FILE_PLACE_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>

namespace trainyard {

// Identifies a file: two paths lead to the same file if their device and inode numbers are equal.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct FilePlace {
  FileIdentity identity;
  mode_t mode = 0;
  uint64_t mount = 0;  // 0 if unknown (before Linux 5.8).

  bool IsDirectory() const { return S_ISDIR(mode); }
  bool IsLink() const { return S_ISLNK(mode); }
  // False if the two files are on different file systems or on different mounts, such as a bind
  // mount.
  bool IsOnMountOf(const FilePlace& other) const {
    return identity.device == other.identity.device && mount == other.mount;
  }
};

// Returns the place of the entry `name` in the open directory `parent`. If `name` is empty, returns
// the place of `parent`. Does not follow links. Uses cached attributes, so that a hung network file
// system does not block the call. On failure returns nullopt and sets errno.
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

#endif  // TRAINYARD_PROTO_FILES_FILE_PLACE_H_
