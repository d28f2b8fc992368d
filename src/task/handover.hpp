// Tells the thread sanitizer that TBB hands work over from one thread to another. TBB does so in code that
// the sanitizer does not see; without these it reports every task. They do nothing in other builds.
#pragma once

namespace xorder::task {

/// What this thread has done is seen by whoever calls received() after it. To be called when everything that
/// a task looks at has been made, its closure too.
void hand_over();
/// The first line of a task, before it looks at anything it captured, and of what follows a wait for tasks.
void received();

/// hand_over() and received() at the right ends, also where something throws: of what a task does, and of
/// what starts tasks and waits for them.
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
