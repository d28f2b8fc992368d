// What a new file takes over from the one that it replaces.
#pragma once

namespace xorder::io {

/// Gives `made` the owner, the group, the permissions, the access control list and the extended attributes
/// (user.*, security.*) of `old`, as far as this process may. Both are descriptors; O_PATH suffices for
/// `old`. Nobody gains access: if the list or the group cannot be kept, the group gets what all others get,
/// or nothing. What vouches for the old content is dropped: set-id bits, capabilities and signatures.
/// Failures leave the permissions narrower. Does nothing unless `old` is a regular file.
void take_over(int made, int old);

}  // namespace xorder::io
