// Which program this is, and with whom it runs: set by main() before it makes the commands.
#pragma once

#include <string>

#include "work/team.hpp"

namespace xorder::cli {

struct Session {
  std::string program = "xorder";
  work::Team* team = nullptr;  ///< null: alone

  /// Whether this process is the one that talks to the user.
  bool speaks() const { return team == nullptr || team->is_first(); }
};
Session& session();

}  // namespace xorder::cli
