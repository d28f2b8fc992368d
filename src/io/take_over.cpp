#include "io/take_over.hpp"

#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "io/create.hpp"

namespace xorder::io {
namespace {

constexpr const char* posix_acl = "system.posix_acl_access";

bool is_acl(std::string_view name) { return name == posix_acl || name == "system.nfs4_acl"; }

bool is_kept(std::string_view name) {
  constexpr std::array vouching = {"security.capability", "security.ima", "security.evm"};
  return name.starts_with("user.") ||
         (name.starts_with("security.") && std::ranges::find(vouching, name) == vouching.end());
}

// The names of a file's attributes, each with a null behind it; nothing if they cannot be known.
std::optional<std::string> attributes(const std::string& path) {
  std::string names(XATTR_LIST_MAX, '\0');
  const ssize_t bytes = listxattr(path.c_str(), names.data(), names.size());
  if (bytes < 0 && errno != EOPNOTSUPP) return std::nullopt;
  names.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return names;
}

bool copy_attribute(const std::string& from, int to, const char* name) {
  std::string value(XATTR_SIZE_MAX, '\0');
  const ssize_t bytes = getxattr(from.c_str(), name, value.data(), value.size());
  return bytes >= 0 && fsetxattr(to, name, value.data(), static_cast<std::size_t>(bytes), 0) == 0;
}

}  // namespace

void take_over(int made, int old) {
  struct stat status;
  if (fstat(old, &status) != 0 || !S_ISREG(status.st_mode)) return;
  mode_t mode = status.st_mode & 0777;
  const bool same_group = fchown(made, status.st_uid, status.st_gid) == 0 ||
                          fchown(made, static_cast<uid_t>(-1), status.st_gid) == 0;
  // What the old group may do is not for another group, except what all may do.
  if (!same_group) mode &= 0707 | (mode & 07) << 3;
  fremovexattr(made, posix_acl);  // a directory's default list would let others in that the old one did not
  const std::string path = proc_path(old);  // because a descriptor of O_PATH does not give them
  const std::optional<std::string> names = attributes(path);
  // With a list, the group's bits are what the list allows at most: given to the group they would be more.
  bool list_kept = names.has_value();
  const char* const end = names ? names->data() + names->size() : nullptr;
  for (const char* name = names ? names->data() : nullptr; name != end; name += std::strlen(name) + 1) {
    if (is_acl(name)) {
      list_kept = same_group && copy_attribute(path, made, name) && list_kept;
    } else if (is_kept(name)) {
      copy_attribute(path, made, name);
    }
  }
  if (!list_kept) mode &= 0707;
  // A failure here is no reason to lose the file. Its permissions are only narrower than wanted then.
  [[maybe_unused]] const int ignored = fchmod(made, mode);
}

}  // namespace xorder::io
