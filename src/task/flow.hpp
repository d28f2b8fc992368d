// TBB flow graphs, with hand-over for the thread sanitizer.
#pragma once

#include <oneapi/tbb/flow_graph.h>

#include <memory>
#include <utility>

#include "task/handover.hpp"

namespace xorder::task {

/// Tells a node that there is something to do. It carries no data, because TBB's task would read the data
/// before received() is called.
struct Wake {};

/// A node that does something for each wake-up, one at a time.
using FlowNode = oneapi::tbb::flow::function_node<Wake, oneapi::tbb::flow::continue_msg>;

template <typename Body>
std::unique_ptr<FlowNode> flow_node(oneapi::tbb::flow::graph& graph, Body body) {
  return std::make_unique<FlowNode>(graph, oneapi::tbb::flow::serial, [body = std::move(body)](const Wake&) {
    const InTask task;
    body();
    return oneapi::tbb::flow::continue_msg();
  });
}

/// An entry to a node. It is itself a node, with an edge to the other one.
class FlowLink {
 public:
  /// May be called while the graph is running.
  FlowLink(oneapi::tbb::flow::graph& graph, FlowNode& end) : node_(graph) {
    oneapi::tbb::flow::make_edge(node_, end);
  }
  /// Calls arrive(message), which takes the message at once, in this thread: a task for each message would
  /// cost more than most messages. If it returns true, sends a wake-up over the edge. Otherwise the link's
  /// memory is not touched.
  template <typename Message, typename Arrive>
  void put(Message& message, const Arrive& arrive) {
    if (arrive(message)) node_.try_put(Wake());
  }

 private:
  oneapi::tbb::flow::broadcast_node<Wake> node_;
};

/// Calls start(), which puts the first messages in, and waits until nothing is left to do. Throws what the
/// nodes throw.
template <typename Start>
void flow(oneapi::tbb::flow::graph& graph, const Start& start) {
  const AroundTasks around;
  start();
  graph.wait_for_all();
}

}  // namespace xorder::task
