#include "c/permutation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <memory>

#include "c/arguments.hpp"
#include "c/border.hpp"
#include "drawing/map_facts.hpp"
#include "text/json_text.hpp"
#include "xorder/drawing/draw.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

xorder_permutation::xorder_permutation(xorder::ArrayShape of, std::vector<int> order)
    : shape(std::move(of)), axes(std::move(order)), what(applied_to(shape)) {}

xorder_permutation::xorder_permutation(xorder::ArrayShape of, xorder::gf2::AffineMap by,
                                       std::optional<int> along)
    : shape(std::move(of)), map(std::move(by)), axis(along), what(applied_to(shape)) {}

xorder::Reordering xorder_permutation::applied_to(const xorder::ArrayShape& array) const {
  if (!map) return transposition(array, axes);
  return axis ? mapping_along(array, *axis, *map) : mapping_of_all(array, *map);
}

xorder::Reordering xorder_permutation::applied_to(const xorder::work::Joined& array) const {
  if (!map) return array.transposition(axes);
  return axis ? array.mapping_along(*axis, *map) : mapping_of_all(array.shape, *map);
}

void xorder_permutation::check_fits(const std::string& name, const xorder::ArrayShape& array) const {
  const bool any_shape = map && !axis;
  const bool same = any_shape ? checked_bytes(array) == checked_bytes(shape) : array.extents == shape.extents;
  if (!same || array.element_bytes != shape.element_bytes) {
    throw xorder::InputError(fmt::format(
        "{}: has the shape ({}) of {}-byte elements, but the permutation is for ({}) of {}-byte elements",
        name, fmt::join(array.extents, ", "), array.element_bytes, fmt::join(shape.extents, ", "),
        shape.element_bytes));
  }
  if (!expression.empty()) xorder::parse_expression(expression, map->bits(), array.extents);
}

std::vector<std::uint64_t> xorder_permutation::result(const xorder::ArrayShape& array) const {
  return map ? array.extents : transposed_extents(array, axes);
}

namespace xorder::c {
namespace {

ArrayShape array(int rank, const std::uint64_t* shape, std::uint64_t element_bytes) {
  if (checked_rank(rank) != 0) require(shape, "shape");
  return {{shape, shape + rank}, element_bytes, Order::c};
}

auto of_all(gf2::AffineMap map, std::uint64_t element_bytes) {
  ArrayShape shape{{std::uint64_t{1} << map.bits()}, element_bytes, Order::c};
  return std::make_unique<xorder_permutation>(std::move(shape), std::move(map), std::nullopt);
}

const gf2::AffineMap& map_of_all(const xorder_permutation* permutation) {
  require(permutation, "permutation");
  if (!permutation->map || permutation->axis)
    throw InputError("only a map of all indices has a matrix: a BMMC permutation or an expression");
  return *permutation->map;
}

}  // namespace
}  // namespace xorder::c

using namespace xorder::c;

int xorder_permutation_axes(xorder_permutation** out, int rank, const uint64_t* shape, const int* axes,
                            uint64_t element_bytes) {
  return made(out, [&] {
    std::vector<int> order;
    xorder::ArrayShape source = array(rank, shape, element_bytes);
    if (axes != nullptr) order.assign(axes, axes + rank);
    return std::make_unique<xorder_permutation>(std::move(source), std::move(order));
  });
}

int xorder_permutation_bmmc(xorder_permutation** out, int n, const uint64_t* columns, uint64_t complement,
                            uint64_t element_bytes) {
  return made(out, [&] {
    if (checked_bits(n) != 0) require(columns, "columns");
    const xorder::gf2::BitMatrix matrix(n, {columns, columns + n});
    return of_all({matrix, checked_complement(complement, n)}, element_bytes);
  });
}

int xorder_permutation_expression(xorder_permutation** out, const char* text, int n, uint64_t element_bytes) {
  return made(out, [&] {
    require(text, "text");
    auto permutation = of_all(xorder::parse_expression(text, checked_bits(n)), element_bytes);
    permutation->expression = text;
    return permutation;
  });
}

int xorder_permutation_along_axis(xorder_permutation** out, const xorder_permutation* map, int rank,
                                  const uint64_t* shape, int axis) {
  return made(out, [&] {
    require(map, "map");
    if (!map->map || map->axis) throw ArgumentError("the map is not a BMMC permutation of all indices");
    return std::make_unique<xorder_permutation>(array(rank, shape, map->shape.element_bytes), *map->map,
                                                axis);
  });
}

uint64_t xorder_permutation_bytes(const xorder_permutation* permutation) {
  return permutation == nullptr ? 0 : permutation->what.bytes();
}

uint64_t xorder_permutation_target(const xorder_permutation* permutation, uint64_t source) {
  if (permutation == nullptr || source >= permutation->what.elements())
    return std::numeric_limits<uint64_t>::max();
  uint64_t target = 0;
  const int status = guarded([&] { target = permutation->what.target_index(source); });
  return status == XORDER_OK ? target : std::numeric_limits<uint64_t>::max();
}

int xorder_permutation_json(const xorder_permutation* permutation, uint64_t block, uint64_t memory,
                            char* text, size_t room, size_t* length) {
  return told(text, room, length, [&] {
    const xorder::gf2::AffineMap& map = map_of_all(permutation);
    if (memory != 0 && block == 0) throw xorder::InputError("memory needs block");
    std::optional<xorder::drawing::Passes> passes;
    if (block != 0)
      passes = xorder::drawing::passes_of(map, block, memory == 0 ? std::nullopt : std::optional(memory), "");
    return xorder::json_text(xorder::drawing::map_json(map, passes));
  });
}

int xorder_permutation_svg(const xorder_permutation* permutation, const char* title, uint64_t block,
                           char* text, size_t room, size_t* length) {
  return told(text, room, length, [&] {
    const xorder::gf2::AffineMap& map = map_of_all(permutation);
    require(title, "title");
    std::optional<int> lg_block;
    if (block != 0) lg_block = xorder::drawing::lg_of_elements(block, "block", map.bits());
    return xorder::drawing::draw(map, title, lg_block);
  });
}

void xorder_permutation_free(xorder_permutation* permutation) { delete permutation; }
