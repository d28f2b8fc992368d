// How many threads there are: what a user may ask for, what that means, and what the system allows.
#pragma once

namespace xorder::task {

/// The most threads that a user may ask for. The C interface and the command line check it.
inline constexpr int max_threads = 1024;

/// How many threads are meant: 0 means one for each processor that this process may use.
unsigned thread_count(unsigned asked);

/// How many of `wanted` threads the system lets us start. TBB must never fail to start one: it would wait for
/// it forever, or end the program. Costs the start of so many threads.
int startable_threads(int wanted);

}  // namespace xorder::task
