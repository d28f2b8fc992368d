// Several processes that make one output together, as one of them sees the others.
//
// Every member makes the same Work with the same arguments and runs it. The first member (rank 0) decides
// what depends on the machine, makes the output under a temporary name and gives it its own in the end; the
// others open it. Engines divide their work by rank.
//
// A collective call is one that all members make, in the same order. It throws on all of them if one has
// failed. So whoever runs a Work in a team sees to it that a member that fails says so in place of its next
// collective call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace xorder::work {

/// Used by one thread at a time.
class Team {
 public:
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_first() const { return rank() == 0; }
  /// How many members share this machine's memory and processors, and how many of its processors are this
  /// member's.
  virtual unsigned neighbours() const = 0;
  virtual unsigned processors() const = 0;

  // Collective.

  /// What each member gives, by rank, for all.
  virtual std::vector<std::string> share(std::string mine) = 0;
  /// Member r gets to_each[r] of every member, by rank of the sender.
  virtual std::vector<std::string> exchange(std::vector<std::string> to_each) = 0;
  /// Returns when all have come.
  void meet() { share({}); }
  /// What the first member gives.
  std::string from_first(std::string mine) { return share(std::move(mine)).front(); }
  /// Sums and other reductions of numbers, one by one.
  std::vector<std::uint64_t> sums(const std::vector<std::uint64_t>& mine);
  std::uint64_t least(std::uint64_t mine);
  std::uint64_t most(std::uint64_t mine);

  // Not collective.

  /// Tells the first member how much this one has moved; returns what all have, as far as it is known here.
  virtual std::uint64_t progress(std::uint64_t bytes) = 0;
  /// Whether a member has failed, so that the others had better stop.
  virtual bool stopping() = 0;
  /// To be called now and then while this member waits for others; empty: nothing.
  virtual void when_idle(std::function<void()> call) = 0;

  /// These files have names only until the output is complete. If this process is told to end, they go first.
  virtual void temporary(const std::vector<std::filesystem::path>& files) = 0;
};

/// lg of the number of members, where each has a part of an array. Throws InputError unless that number is a
/// power of two.
int lg_parts(const Team& team);

}  // namespace xorder::work
