// Calls C's progress function, which requests a stop by its return value.
#pragma once

#include <stop_token>

#include "xorder.h"
#include "xorder/work/work.hpp"

namespace xorder::c {

class Teller {
 public:
  /// `function` may be null.
  Teller(xorder_progress_function function, void* user) : function_(function), user_(user) {}

  std::stop_token token() const { return stop_.get_token(); }
  /// For as long as this object lives.
  work::ProgressCallback callback() {
    if (function_ == nullptr) return {};
    return [this](const work::Progress& p) {
      const xorder_progress progress{.bytes_done = p.bytes_done,
                                     .bytes_total = p.bytes_total,
                                     .pass = static_cast<int>(p.pass),
                                     .passes = static_cast<int>(p.passes)};
      if (function_(&progress, user_) != 0) stop_.request_stop();
    };
  }

 private:
  xorder_progress_function function_;
  void* user_;
  std::stop_source stop_;
};

}  // namespace xorder::c
