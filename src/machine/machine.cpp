#include "xorder/machine/machine.hpp"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/flow_graph.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "machine/steps.hpp"
#include "task/handover.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

namespace flow = oneapi::tbb::flow;
using schedule::Message;
using schedule::Node;

// A message on its way.
struct Envelope {
  Message message;
  std::uint64_t step = 0;
  Node next = 0;            // the processor that it reaches next
  std::uint32_t links = 0;  // that it has crossed
  Payload payload;
};

// Envelopes are made as they are needed and used again.
class Envelopes {
 public:
  Envelope* take() {
    Envelope* envelope = nullptr;
    if (free_.try_pop(envelope)) return envelope;
    const std::lock_guard lock(mutex_);
    return &all_.emplace_back();
  }
  void give_back(Envelope* envelope) { free_.push(envelope); }

 private:
  oneapi::tbb::concurrent_queue<Envelope*> free_;
  std::mutex mutex_;
  std::deque<Envelope> all_;
};

}  // namespace

class Machine::Graph {
 public:
  explicit Graph(const schedule::Schedule& schedule);
  work::Traffic run(Program& program, const std::stop_token& stop);

 private:
  // What wakes a processor: the beginning, or an envelope.
  using Event = Envelope*;
  using ProcessorNode = flow::function_node<Event, flow::continue_msg>;
  // A link carries one message after the other. Handing on a pointer is not worth a task of its own, and so a
  // message goes from link to link in one, past the processors between, as wormhole switching has it (on a
  // 32 × 32 mesh, 21 links a message, 2.3 µs each; a task at every processor made it 5.4).
  using LinkNode = flow::function_node<Envelope*, flow::continue_msg, flow::lightweight>;

  struct Processor {
    std::uint64_t step = 0;
    bool sent = false;               // what this step has it send
    std::vector<Envelope*> waiting;  // of this step and later ones
    std::uint64_t messages = 0;      // received from others
    std::uint64_t bytes = 0;
    std::unique_ptr<ProcessorNode> node;
  };
  struct Link {
    std::uint64_t crossings = 0;
    std::unique_ptr<LinkNode> node;
  };

  void wake(Node self, Event event);
  bool advance(Node self);
  void send_all(Node self, const Step& step);
  void receive_all(Node self, const Step& step);
  void forward(Node self, Envelope* envelope);
  void arrive(Node self, Envelope* envelope);
  Node next_on_path(Node self, const Message& message) const;

  const schedule::Schedule& schedule_;
  const schedule::Network& network_;
  Program* program_ = nullptr;
  std::stop_token stop_;
  Steps steps_;
  Envelopes envelopes_;
  flow::graph graph_;
  std::vector<Processor> processors_;
  std::vector<Link> links_;
};

Machine::Graph::Graph(const schedule::Schedule& schedule)
    : schedule_(schedule),
      network_(schedule.network()),
      steps_(schedule),
      processors_(network_.nodes()),
      links_(network_.link_numbers()) {
  for (Node k = 0; k < network_.nodes(); ++k) {
    processors_[k].node =
        std::make_unique<ProcessorNode>(graph_, flow::serial, [this, k](const Event& event) {
          task::received();
          wake(k, event);
          task::hand_over();
          return flow::continue_msg();
        });
  }
  for (Link& link : links_) {
    // The edge to the processor at its end is chosen by the envelope: a crossbar's link leads to all of them.
    link.node =
        std::make_unique<LinkNode>(graph_, flow::serial, [this, &link](Envelope* const& envelope) noexcept {
          task::received();
          ++link.crossings;
          arrive(envelope->next, envelope);
          return flow::continue_msg();
        });
  }
}

// A path's two legs are straight, so that the next processor is one link closer to the end of the leg.
Node Machine::Graph::next_on_path(Node self, const Message& message) const {
  if (network_.kind() != schedule::Network::Kind::mesh) return message.to.node;
  // The corner lies ahead as long as it is on a shortest path to the receiver.
  const bool first_leg = self != message.via &&
                         network_.distance(message.from.node, self) + network_.distance(self, message.via) ==
                             network_.distance(message.from.node, message.via);
  const Node aim = first_leg ? message.via : message.to.node;
  const std::uint64_t side = network_.side();
  if (self / side != aim / side) return self / side < aim / side ? self + side : self - side;
  return self < aim ? self + 1 : self - 1;
}

void Machine::Graph::forward(Node self, Envelope* envelope) {
  envelope->next = next_on_path(self, envelope->message);
  task::hand_over();
  links_[network_.link(self, envelope->next).value()].node->try_put(envelope);
}

// At the end of a link.
void Machine::Graph::arrive(Node self, Envelope* envelope) {
  // Each link on the way is a call within the last one's, which the stack should not have to hold without end.
  const bool rests = ++envelope->links % 32 == 0;
  if (!rests && envelope->message.to.node != self) return forward(self, envelope);
  task::hand_over();
  processors_[self].node->try_put(envelope);
}

void Machine::Graph::wake(Node self, Event event) {
  if (stop_.stop_requested()) return;
  if (event != nullptr) {
    if (event->message.to.node != self) return forward(self, event);
    processors_[self].waiting.push_back(event);
  }
  while (advance(self)) {
  }
}

// One step, if all that it needs is there.
bool Machine::Graph::advance(Node self) {
  Processor& me = processors_[self];
  if (me.step == schedule_.steps() || stop_.stop_requested()) return false;
  const auto step = steps_.at(me.step);
  if (!me.sent) {
    send_all(self, *step);
    me.sent = true;
  }
  std::size_t here = 0;
  for (const Envelope* envelope : me.waiting) here += envelope->step == me.step;
  if (here < step->expected_by(self)) return false;
  receive_all(self, *step);
  steps_.leave(me.step);
  ++me.step;
  me.sent = false;
  return true;
}

void Machine::Graph::send_all(Node self, const Step& step) {
  Processor& me = processors_[self];
  for (const Message& message : step.sent_by(self)) {
    Envelope* const envelope = envelopes_.take();
    envelope->message = message;
    envelope->step = me.step;
    envelope->links = 0;
    program_->send(message.from, me.step, envelope->payload);
    if (message.to.node == self) {
      me.waiting.push_back(envelope);
    } else {
      forward(self, envelope);
    }
  }
}

void Machine::Graph::receive_all(Node self, const Step& step) {
  Processor& me = processors_[self];
  const std::uint64_t now = me.step;
  std::erase_if(me.waiting, [&](Envelope* envelope) {
    if (envelope->step != now) return false;
    if (envelope->message.from.node != self) {
      ++me.messages;
      me.bytes += envelope->payload.size();
    }
    program_->receive(envelope->message, now, envelope->payload);
    envelopes_.give_back(envelope);
    return true;
  });
  if (const auto updates = step.updates_of(self); !updates.empty()) program_->update(updates);
}

work::Traffic Machine::Graph::run(Program& program, const std::stop_token& stop) {
  program_ = &program;
  stop_ = stop;
  task::hand_over();
  for (Processor& processor : processors_) processor.node->try_put(nullptr);
  graph_.wait_for_all();
  task::received();
  if (stop_.stop_requested()) throw Cancelled();
  work::Traffic traffic{.schedule = {}, .processors = network_.nodes(), .steps = schedule_.steps()};
  for (Processor& processor : processors_) {
    traffic.messages += std::exchange(processor.messages, 0);
    traffic.bytes_moved += std::exchange(processor.bytes, 0);
    processor.step = 0;
  }
  for (Link& link : links_) traffic.crossings += std::exchange(link.crossings, 0);
  return traffic;
}

std::uint64_t Machine::memory(const schedule::Network& network) {
  constexpr std::uint64_t each = 3 << 10;
  return (network.nodes() + network.link_numbers()) * each;
}

Machine::Machine(const schedule::Schedule& schedule) : graph_(std::make_unique<Graph>(schedule)) {}
Machine::~Machine() = default;
work::Traffic Machine::run(Program& program, const std::stop_token& stop) {
  return graph_->run(program, stop);
}

// Large buffers come from the system and go back to it: the heap would keep freed ones of other sizes.
constexpr std::size_t line = 64, page = 4096, large = std::size_t{128} << 10;

void Payload::Free::operator()(std::byte* buffer) const {
  if (mapped != 0) {
    munmap(buffer, mapped);
  } else {
    std::free(buffer);
  }
}

std::byte* Payload::reset(std::size_t bytes) {
  if (bytes > capacity_ || !buffer_) {  // data() is never null, also of no bytes
    buffer_.reset();
    bytes_ = capacity_ = 0;
    const std::size_t unit = bytes < page ? line : page;
    const std::size_t size = std::max<std::size_t>((bytes + unit - 1) / unit, 1) * unit;
    void* const got = size >= large
                          ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                          : std::aligned_alloc(unit, size);
    if (got == nullptr || got == MAP_FAILED) throw std::bad_alloc();
    buffer_ = {static_cast<std::byte*>(got), Free{size >= large ? size : 0}};
    capacity_ = size;
  }
  bytes_ = bytes;
  return buffer_.get();
}

void Program::update(std::span<const schedule::Update>) {}

}  // namespace xorder::machine
