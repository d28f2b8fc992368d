// The layout object of the C interface.
#pragma once

#include <string>

#include "xorder.h"
#include "xorder/io/array_file.hpp"

struct xorder_layout {
  explicit xorder_layout(xorder::io::ArrayFile of);

  xorder::io::ArrayFile array;
  std::string json, path;
};
