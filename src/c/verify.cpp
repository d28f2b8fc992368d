#include "xorder/verify/verify.hpp"

#include <algorithm>

#include "c/border.hpp"
#include "c/layout.hpp"
#include "c/options.hpp"
#include "c/permutation.hpp"
#include "c/teller.hpp"
#include "xorder/verify/checksum.hpp"

using namespace xorder::c;

namespace {

// Stores how many places were found, and as many of them as there is room for, each through `convert`.
template <typename Places, typename Convert>
void tell(const Places& found, const Convert& convert, xorder_difference* differences, size_t room,
          size_t* count) {
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(room, found.size()));
  std::transform(found.begin(), end, differences, convert);
  *count = found.size();
}

}  // namespace

int xorder_verify(const xorder_permutation* permutation, const xorder_layout* source,
                  const xorder_layout* result, const xorder_options* options,
                  xorder_progress_function progress, void* user, xorder_difference* differences, size_t room,
                  size_t* count) {
  return guarded([&] {
    require(permutation, "permutation");
    require(source, "source");
    require(result, "result");
    require(count, "count");
    if (room != 0) require(differences, "differences");
    const xorder::work::Options settings = job_options(options);
    const xorder::io::ArrayDescription& array = source->array.description;
    permutation->check_fits(source->array.path.string(), array.shape());
    const auto extents = permutation->result(array.shape());
    const xorder::Order order = result->array.description.order();
    xorder::verify::check_result(result->array, array.dtype, extents, order);
    Teller teller(progress, user);
    const auto found = xorder::verify::compare(
        {source->array}, stored_in(order, permutation->applied_to(array.shape()), extents), result->array,
        {.memory = settings.memory, .threads = settings.threads}, teller.callback(), teller.token());
    const auto convert = [](const xorder::verify::Difference& d) {
      return xorder_difference{d.first_byte, d.end_byte, d.first_element, d.end_element};
    };
    tell(found, convert, differences, room, count);
  });
}

int xorder_checksum(const char* path, const xorder_options* options, xorder_progress_function progress,
                    void* user, char* text, size_t room, size_t* length) {
  return told(text, room, length, [&] {
    require(path, "path");
    const xorder::work::Options settings = job_options(options);
    Teller teller(progress, user);
    return xorder::verify::checksum(path, {.memory = settings.memory, .threads = settings.threads},
                                    teller.callback(), teller.token())
        .text();
  });
}

int xorder_checksum_compare(const char* path, const char* checksum, const char* name,
                            const xorder_options* options, xorder_progress_function progress, void* user,
                            xorder_difference* differences, size_t room, size_t* count) {
  return guarded([&] {
    require(path, "path");
    require(checksum, "checksum");
    require(name, "name");
    require(count, "count");
    if (room != 0) require(differences, "differences");
    const xorder::verify::Checksum then = xorder::verify::parse_checksum(checksum, name);
    const xorder::work::Options settings = job_options(options);
    Teller teller(progress, user);
    const auto found = then.differences(xorder::verify::checksum(
        path, {.memory = settings.memory, .threads = settings.threads}, teller.callback(), teller.token()));
    const auto convert = [](const auto& range) { return xorder_difference{range.first, range.second, 0, 0}; };
    tell(found, convert, differences, room, count);
  });
}
