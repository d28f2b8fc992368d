// Several processes that make one output together, as each of them sees the others.
//
// Every member makes the same Work with the same arguments and runs it. The first member (rank 0) decides
// what depends on the machine. It makes the output under a temporary name and gives it its final name at the
// end; the others open it. Engines divide their work by rank.
//
// All members make the same collective calls in the same order. A collective call throws on all members if
// one has failed. So the code that runs a Work in a team must make a failing member report this in place of
// its next collective call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::work {

/// For one thread at a time.
class Team {
 public:
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_first() const { return rank() == 0; }
  /// How many members share this machine, including this one, and how many of its processors this member has.
  virtual unsigned neighbours() const = 0;
  virtual unsigned processors() const = 0;

  // Collective calls.

  /// Returns what each member gave, by rank.
  virtual std::vector<std::string> share(std::string mine) = 0;
  /// Sends to_each[r] to member r. Returns what this member was sent, by rank of the sender.
  virtual std::vector<std::string> exchange(std::vector<std::string> to_each) = 0;
  /// Returns when all members have called it.
  void meet() { share({}); }
  /// Returns what the first member gave.
  std::string from_first(std::string mine) { return share(std::move(mine)).front(); }
  /// Element-wise sums, the minimum and the maximum over all members.
  std::vector<std::uint64_t> sums(const std::vector<std::uint64_t>& mine);
  std::uint64_t least(std::uint64_t mine);
  std::uint64_t most(std::uint64_t mine);

  // Calls that are not collective.

  /// Tells the first member how many bytes this one has moved. Returns the sum of all members, as far as
  /// known here.
  virtual std::uint64_t progress(std::uint64_t bytes) = 0;
  /// Whether a member has failed, so that this one should stop.
  virtual bool stopping() = 0;
  /// `call` is called now and then while this member waits for others. An empty function turns that off.
  virtual void when_idle(std::function<void()> call) = 0;

  /// Files that have names only until the output is complete. If this process ends suddenly (a signal,
  /// std::terminate), they are removed first.
  virtual void temporary(const std::vector<std::filesystem::path>& files) = 0;
};

/// lg of the number of members, where each has a part of an array. Throws InputError if the number is not a
/// power of two.
int lg_parts(const Team& team);

/// Throws InputError on a member whose reordering is not the first member's. Collective.
void check_same(const Reordering& mine, Team& team);

}  // namespace xorder::work
