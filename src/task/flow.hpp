// TBB's flow graphs, with their work handed over.
#pragma once

#include <oneapi/tbb/flow_graph.h>

#include <memory>
#include <utility>

#include "task/handover.hpp"

namespace xorder::task {

/// Of a graph: does something with each message, one at a time.
template <typename Message>
using FlowNode = oneapi::tbb::flow::function_node<Message, oneapi::tbb::flow::continue_msg>;

template <typename Message, typename Body>
std::unique_ptr<FlowNode<Message>> flow_node(oneapi::tbb::flow::graph& graph, Body body) {
  return std::make_unique<FlowNode<Message>>(graph, oneapi::tbb::flow::serial,
                                             [body = std::move(body)](const Message& message) {
                                               const InTask task;
                                               body(message);
                                               return oneapi::tbb::flow::continue_msg();
                                             });
}

/// A way into a node: itself a node, with an edge to that one.
template <typename Signal>
class FlowLink {
 public:
  /// May be made while the graph is at work.
  FlowLink(oneapi::tbb::flow::graph& graph, FlowNode<Signal>& end) : node_(graph) {
    oneapi::tbb::flow::make_edge(node_, end);
  }
  /// arrive(message) takes the message at once, in this thread: a task for each would cost 0.3 µs. Only if it
  /// says so, `signal` goes over the edge; until then the link's memory is not touched.
  template <typename Message, typename Arrive>
  void put(Message& message, const Signal& signal, const Arrive& arrive) {
    if (arrive(message)) node_.try_put(signal);
  }

 private:
  oneapi::tbb::flow::broadcast_node<Signal> node_;
};

/// start(), which puts the first messages in, and then until nothing is left to do. Throws what the nodes
/// throw.
template <typename Start>
void flow(oneapi::tbb::flow::graph& graph, const Start& start) {
  const AroundTasks around;
  start();
  graph.wait_for_all();
}

}  // namespace xorder::task
