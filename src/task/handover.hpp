// Tells the thread sanitizer that TBB hands work over from one thread to another. TBB does so in code that
// the sanitizer does not see. Without these functions it reports every task. They do nothing in other builds.
#pragma once

namespace xorder::task {

/// Makes what this thread has done visible to whoever calls received() later. Call it when everything that a
/// task reads exists, its closure too.
void hand_over();
/// Call it first in a task, before the task reads anything it captured, and first after a wait for tasks.
void received();

/// Call hand_over() and received() at the right ends of a scope, also when something throws. InTask is for
/// the body of a task; AroundTasks is for code that starts tasks and waits for them.
struct InTask {
  InTask() { received(); }
  ~InTask() { hand_over(); }
  InTask(const InTask&) = delete;
  InTask& operator=(const InTask&) = delete;
};
struct AroundTasks {
  AroundTasks() { hand_over(); }
  ~AroundTasks() { received(); }
  AroundTasks(const AroundTasks&) = delete;
  AroundTasks& operator=(const AroundTasks&) = delete;
};

}  // namespace xorder::task
