// TBB's flow graphs, with their work handed over.
#pragma once

#include <oneapi/tbb/flow_graph.h>

#include <memory>
#include <new>
#include <tuple>
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

/// A way into a node: itself a node, with an edge to that one. What is put in, arrive(message) takes at once, in the thread that
/// puts it: a task for each message would cost 0.3 µs. Only if it says so, `signal` goes over the edge.
template <typename Message, typename Signal>
class FlowLink {
 public:
  /// `arrive` must not throw. May be made while the graph is at work.
  template <typename Arrive>
  FlowLink(oneapi::tbb::flow::graph& graph, FlowNode<Signal>& end, const Signal& signal, Arrive arrive)
      : node_(graph, oneapi::tbb::flow::unlimited,
              [&graph, signal, arrive = std::move(arrive)](Message message, Ports& ports) noexcept {
                if (!arrive(message)) return;
                try {
                  std::get<0>(ports).try_put(signal);
                } catch (...) {  // no memory for a task; a node that may throw is not run at once
                  graph.cancel();
                }
              }) {
    oneapi::tbb::flow::make_edge(oneapi::tbb::flow::output_port<0>(node_), end);
  }
  void put(Message message) { node_.try_put(message); }

 private:
  using Node = oneapi::tbb::flow::multifunction_node<Message, std::tuple<Signal>,
                                                     oneapi::tbb::flow::rejecting_lightweight>;
  using Ports = typename Node::output_ports_type;
  Node node_;
};

/// start(), which puts the first messages in, and then until nothing is left to do. Throws what the nodes throw, and
/// std::bad_alloc for a link that could not signal.
template <typename Start>
void flow(oneapi::tbb::flow::graph& graph, const Start& start) {
  const AroundTasks around;
  start();
  graph.wait_for_all();
  if (graph.is_cancelled()) throw std::bad_alloc();
}

}  // namespace xorder::task
