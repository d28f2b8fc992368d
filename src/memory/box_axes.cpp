#include "memory/box_axes.hpp"

namespace xorder::memory {

Box::Box(const Reordering& r) : element_bytes(r.element_bytes) {
  const int rank = static_cast<int>(r.extents.size());
  std::vector<std::uint64_t> strides(r.extents.size());
  std::uint64_t stride = r.element_bytes;
  for (int axis = rank; axis-- > 0; stride *= r.extents[axis]) strides[axis] = stride;
  int fastest = rank - 1;
  std::size_t end = r.order.size();
  if (r.order.back() == fastest) {  // canonical() does not merge an axis into elements that get too large
    element_bytes *= r.extents[fastest];
    --fastest;
    --end;
  }
  bool in_run = true;
  for (std::size_t i = end; i-- > 0;) {
    const int axis = r.order[i];
    TargetAxis a{r.extents[axis], strides[axis], r.mapped && *r.mapped == axis, {}};
    if (a.mapped) a.to_source = r.map.inverse();
    if (axis == fastest) {
      columns = a;
      in_run = false;
    } else if (in_run) {
      run_length *= a.extent;
      run.push_back(a);
    } else {
      outer_count *= a.extent;
      outer.push_back(a);
    }
  }
}

bool Box::rows_adjacent() const {
  return run.size() == 1 && !run[0].mapped && run[0].source_stride == columns.extent * element_bytes;
}

}  // namespace xorder::memory
