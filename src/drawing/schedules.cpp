#include "drawing/schedules.hpp"

#include <fmt/format.h>

#include "drawing/canvas.hpp"
#include "schedule/path.hpp"
#include "text/count_text.hpp"

namespace xorder::drawing {

SchedulePicture picture_of(const schedule::Schedule& schedule, std::string title, bool has_task) {
  const schedule::Network& network = schedule.network();
  SchedulePicture picture;
  picture.title = std::move(title);
  picture.summary = fmt::format("{} between {} of a {}", count_text(schedule.total().messages, "message"),
                                count_text(network.nodes(), "node"), name_of(network.kind()));
  picture.length = count_text(schedule.steps(), "step") +
                   (has_task ? fmt::format(", at least {}", schedule.lower_bound()) : "");
  picture.colours = {{colour::navy, "to a node with a lower number"},
                     {colour::orange, "to one with a higher number"}};
  if (!network.has_rows()) picture.colours.push_back({colour::grey, "stays"});
  picture.label_meaning = "the slot that is sent";
  picture.mark = [](std::uint64_t, const schedule::Message& m) {
    return Mark{schedule::stays(m) ? 2u : m.from.node > m.to.node ? 0u : 1u, std::to_string(m.from.slot)};
  };
  return picture;
}

std::string draw(const schedule::Schedule& schedule, const SchedulePicture& picture) {
  return schedule.network().has_rows() ? draw_paths(schedule, picture) : draw_steps(schedule, picture);
}

}  // namespace xorder::drawing
